/**
 * What AWS answers, and what is made of it. The answers are made up here; against moto it runs in the stacks' own
 * tests.
 */

import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { type Account, checkAwsSites } from "../../infra/preflight/aws.ts";
import { AwsAccount, isOwn, type Routes } from "../../infra/preflight/aws-account.ts";
import { accessOf } from "../../infra/sites/aws/access.ts";
import { planNodes } from "../../infra/topology.ts";
import { configOf } from "../infra/config/config.ts";

const OWNED = { id: "0123456789ab", name: "t" };
const named = (name: string, message = ""): Error => Object.assign(new Error(message), { name });

test("a stack's own is what carries its id; a namesake's is not", () => {
  const tagged = (tags: Record<string, string>) => ({
    Tags: Object.entries(tags).map(([Key, Value]) => ({ Key, Value })),
  });
  const own = { id: "1d", name: "hybrid" };
  const mine = { project: "meshbench", stack: "hybrid", "stack-id": "1d" };
  assert.ok(isOwn(own)(tagged(mine)));
  assert.ok(isOwn(own)(tagged({ ...mine, stack: "renamed" })));
  assert.ok(!isOwn(own)(tagged({ ...mine, "stack-id": "2e" })));
  assert.ok(!isOwn(own)(tagged({ project: "meshbench", stack: "hybrid" })));
  assert.ok(!isOwn({ ...own, id: undefined })(tagged(mine)), "a stack that is not there yet owns nothing");
});

const VPC = "vpc-0123456789abcdef0",
  SUBNET = "subnet-0123456789abcdef0",
  GROUP = "sg-0123456789abcdef0";

const GOOD: Account = {
  identity: async () => "123456789012",
  offerings: async () => ["us-east-1a", "us-east-1b"],
  virtualCpus: async (types) => new Map(types.map((type) => [type, 2])),
  running: async () => 0,
  addresses: async () => 0,
  networks: async () => 1,
  regionStatus: async () => "opt-in-not-required",
  quota: async (_service, code) => (["L-0263D0A3", "L-F678F1CE"].includes(code) ? 5 : 32),
  vpc: async () => ["10.1.0.0/16"],
  subnets: async (ids) => ids.map((id) => ({ id, vpc: VPC, zone: "us-east-1a" })),
  routes: async () => [{ main: true, subnets: [], out: "igw-1" }],
  securityGroups: async (ids) => ids.map((id) => ({ id, vpc: VPC })),
  images: async () => [{ id: "ami-1", name: "debian-12-amd64-20260101", architecture: "x86_64" }],
};

async function ask(
  account: Partial<Account>,
  site: object = {},
): Promise<{ ok: boolean; skipped: boolean; message: string }[]> {
  const config = configOf({
    operatorCidr: "203.0.113.7/32",
    sites: [{ name: "a", kind: "aws", nodes: 3, region: "us-east-1", ...site }],
  });
  const checks = await checkAwsSites(config, planNodes(config), OWNED, () => ({ ...GOOD, ...account }));
  return checks.map(({ ok, skipped = false, message }) => ({ ok, skipped, message }));
}

/** Exactly one check fails, with these words in its sentence. */
async function fails(account: Partial<Account>, site: object, ...words: string[]): Promise<void> {
  const failures = (await ask(account, site)).filter((c) => !c.ok);
  assert.equal(failures.length, 1, JSON.stringify(failures));
  for (const word of words) assert.ok(failures[0]!.message.includes(word), `"${word}" in: ${failures[0]!.message}`);
}

test("an account that can do it passes every check", async () => {
  const checks = await ask({});
  assert.equal(checks.length, 6);
  assert.ok(
    checks.every((c) => c.ok && !c.skipped),
    JSON.stringify(checks),
  );
});

test("credentials: missing, expired, refused - and nothing else is asked then", async () => {
  for (const [error, word] of [
    [
      named("CredentialsProviderError", "Could not load credentials from any providers"),
      "no AWS credentials were found",
    ],
    [named("ExpiredTokenException"), "have expired"],
    [named("InvalidClientTokenId"), "does not accept"],
  ] as const) {
    const checks = await ask({
      identity: async () => {
        throw error;
      },
      offerings: async () => {
        throw new Error("must not be asked");
      },
    });
    assert.equal(checks.length, 1);
    assert.ok(
      !checks[0]!.ok && checks[0]!.message.includes(word) && checks[0]!.message.includes("meshbench:sites[0].profile"),
      checks[0]!.message,
    );
  }
});

test("no network: skipped, and said so", async () => {
  const checks = await ask({
    identity: async () => {
      throw Object.assign(new Error("getaddrinfo"), { code: "ENOTFOUND" });
    },
  });
  assert.deepEqual(
    checks.map((c) => [c.ok, c.skipped]),
    [[true, true]],
  );
  assert.match(checks[0]!.message, /cannot be reached.*nothing was checked/);
});

test("a type that the region or a zone does not have", async () => {
  await fails({ offerings: async () => [] }, {}, "meshbench:sites[0].instanceType: t3.medium", "us-east-1");
  await fails({}, { zones: ["a", "e"] }, "meshbench:sites[0].zones: e", "expected a, b");
});

test("quotas: own instances and addresses are not counted, others are", async () => {
  await fails({ running: async () => 26 }, {}, "need 8 vCPUs", "6 of the account's 32", "L-1216C47A");
  await fails({ running: async (_owned, spot) => (spot ? 30 : 0) }, { spot: true }, "L-34B43A08");
  await fails(
    { addresses: async () => 2 },
    {},
    "need 4 Elastic IPs",
    "3 of the account's 5",
    "meshbench:driver.placement proxy",
  );
});

test("sites of one account in one region share its quotas; VPCs count too", async () => {
  const two = (region: string): object => ({
    sites: [
      { name: "a", kind: "aws", nodes: 2, region: "us-east-1" },
      { name: "b", kind: "aws", nodes: 2, region },
    ],
  });
  const failuresOf = async (account: Partial<Account>, raw: object): Promise<string[]> => {
    const config = configOf({ operatorCidr: "203.0.113.7/32", ...raw });
    const checks = await checkAwsSites(config, planNodes(config), OWNED, () => ({ ...GOOD, ...account }), {});
    return checks.filter((c) => !c.ok).map((c) => c.message);
  };
  // Two nodes and the driver, and two nodes: each site alone has room in a quota of 8 vCPUs, or of 4 addresses.
  const [cpus, ...more] = await failuresOf(
    { quota: async (_s, code) => (code === "L-1216C47A" ? 8 : 32) },
    two("us-east-1"),
  );
  assert.equal(more.length, 0);
  assert.match(cpus!, /the nodes of "a" and the nodes of "b" need 10 vCPUs, but 8 of the account's 8 in us-east-1/);
  const tight = { quota: async (_s: string, code: string) => (code === "L-0263D0A3" ? 4 : 32) };
  assert.match((await failuresOf(tight, two("us-east-1"))).join(), /need 5 Elastic IPs, but 4/);
  const elsewhere = { ...tight, offerings: async () => ["us-east-1a", "us-west-2a"] };
  assert.deepEqual(await failuresOf(elsewhere, two("us-west-2")), [], "another region has quotas of its own");
  assert.match(
    (await failuresOf({ networks: async () => 4 }, two("us-east-1"))).join(),
    /need 2 VPCs, but 1 of the account's 5 in us-east-1 are free; ask AWS for a higher quota \(L-F678F1CE\)/,
  );
});

test("a VPC that is there already, its subnets and security groups: asked for, and no VPC of the quota is taken", async () => {
  const own = { operatorCidr: "203.0.113.7/32" };
  const there = { vpcId: VPC, subnetIds: { a: SUBNET } };
  const full = { networks: async () => 5 };
  await fails(full, {}, "need 1 VPCs, but 0");
  const checks = await ask(full, { ...there, ...own });
  assert.ok(
    checks.every((c) => c.ok && !c.skipped),
    JSON.stringify(checks),
  );
  assert.equal(checks.length, 8, "without the VPCs' quota, with VPC, subnet and its way out");
  await fails({ vpc: async () => undefined }, there, `meshbench:sites[0].vpcId: ${VPC}, which`, "us-east-1");
  await fails(
    { vpc: async () => ["10.1.0.0/16", "10.99.0.0/17"] },
    there,
    `meshbench:mesh.network: 10.99.0.0/24, which overlaps 10.99.0.0/17 of ${VPC} (meshbench:sites[0].vpcId); expected`,
  );
  const key = `meshbench:sites[0].subnetIds.a: ${SUBNET}`;
  await fails(
    { subnets: async () => [] },
    there,
    `${key}, which the account does not have in us-east-1; expected`,
    VPC,
  );
  await fails(
    { subnets: async () => [{ id: SUBNET, vpc: "vpc-0f", zone: "us-east-1a" }] },
    there,
    `${key}, a subnet of vpc-0f; expected one of ${VPC}`,
  );
  await fails(
    { subnets: async () => [{ id: SUBNET, vpc: VPC, zone: "us-east-1c" }] },
    there,
    `${key}, a subnet in us-east-1c; expected one in us-east-1a`,
  );
});

const PRIVATE = {
  vpcId: VPC,
  subnetIds: { a: SUBNET },
  private: true,
  jump: { host: "gate.example.org", hostKey: "ssh-ed25519 AAAA" },
  operatorCidr: "10.1.0.9/32",
};
const BY_NAT = async (): Promise<Routes[]> => [{ main: true, subnets: [], out: "nat-1" }];

test("the way out of a subnet: an internet gateway for public addresses, another for nodes without", async () => {
  const there = { vpcId: VPC, subnetIds: { a: SUBNET } };
  const key = `meshbench:sites[0].subnetIds.a: ${SUBNET}`;
  const tables =
    (...all: Routes[]) =>
    async () =>
      all;
  const main = { main: true, subnets: [] };
  await fails(
    { routes: tables(main) },
    there,
    `${key}, from which no route leads out; expected a route of 0.0.0.0/0 to an internet gateway`,
  );
  await fails(
    { routes: BY_NAT },
    there,
    `${key}, whose way out is nat-1; expected`,
    "or meshbench:sites[0].private true",
  );
  const own = { main: false, subnets: [SUBNET], out: "igw-2" };
  assert.ok(
    (await ask({ routes: tables(main, own) }, there)).every((c) => c.ok),
    "its own table, not the main one",
  );
  await fails({ routes: tables({ ...main, out: "igw-1" }, { ...own, subnets: ["subnet-0f"] }, own) }, PRIVATE, "igw-2");
  await fails({}, PRIVATE, `${key}, whose way out is igw-1; expected a route of 0.0.0.0/0 to a NAT gateway`);
  await fails({ routes: tables(main) }, PRIVATE, `${key}, from which no route leads out; expected`, "NAT gateway");
  for (const site of [there, PRIVATE])
    assert.ok((await ask({ routes: tables({ ...main, out: "another way" }) }, site)).every((c) => c.ok));
});

test("private nodes take nothing of the quota of Elastic IPs", async () => {
  const full = { addresses: async () => 5 };
  await fails(full, { ...PRIVATE, private: false }, "need 4 Elastic IPs, but 0");
  assert.ok((await ask({ ...full, routes: BY_NAT }, PRIVATE)).every((c) => c.ok && !c.skipped));
});

test("security groups that are there already have to be in the VPC", async () => {
  const site = { vpcId: VPC, subnetIds: { a: SUBNET }, securityGroupIds: [GROUP] };
  assert.ok((await ask({}, site)).every((c) => c.ok && !c.skipped));
  const key = `meshbench:sites[0].securityGroupIds[0]: ${GROUP}`;
  await fails({ securityGroups: async () => [] }, site, `${key}, which the account does not have in us-east-1`);
  await fails(
    { securityGroups: async () => [{ id: GROUP, vpc: "vpc-0f" }] },
    site,
    `${key}, a group of vpc-0f; expected one of ${VPC}`,
  );
  const denied = await ask(
    {
      securityGroups: async () => {
        throw named("UnauthorizedOperation");
      },
    },
    site,
  );
  assert.deepEqual(
    denied.filter((c) => c.skipped).map((c) => c.ok),
    [true],
    "what may not be asked stops nobody",
  );
});

test("the real client's questions about VPC, subnets and groups, and what it makes of EC2's answers", async () => {
  const asked: string[] = [];
  const answers: Record<string, string> = {
    DescribeVpcs: `<vpcSet><item><vpcId>${VPC}</vpcId><cidrBlock>10.1.0.0/16</cidrBlock><cidrBlockAssociationSet>
      <item><cidrBlock>10.1.0.0/16</cidrBlock><cidrBlockState><state>associated</state></cidrBlockState></item>
      <item><cidrBlock>10.2.0.0/16</cidrBlock><cidrBlockState><state>associated</state></cidrBlockState></item>
      <item><cidrBlock>10.3.0.0/16</cidrBlock><cidrBlockState><state>disassociated</state></cidrBlockState></item>
      </cidrBlockAssociationSet></item></vpcSet>`,
    DescribeSubnets: `<subnetSet><item><subnetId>${SUBNET}</subnetId><vpcId>${VPC}</vpcId><availabilityZone>us-east-1a</availabilityZone></item></subnetSet>`,
    DescribeRouteTables: `<routeTableSet>
      <item><associationSet><item><main>true</main></item></associationSet><routeSet>
      <item><destinationCidrBlock>10.1.0.0/16</destinationCidrBlock><gatewayId>local</gatewayId><state>active</state></item></routeSet></item>
      <item><associationSet><item><main>false</main><subnetId>${SUBNET}</subnetId></item></associationSet><routeSet>
      <item><destinationCidrBlock>0.0.0.0/0</destinationCidrBlock><natGatewayId>nat-1</natGatewayId><state>active</state></item></routeSet></item>
      <item><associationSet/><routeSet>
      <item><destinationCidrBlock>0.0.0.0/0</destinationCidrBlock><gatewayId>igw-1</gatewayId><state>blackhole</state></item></routeSet></item>
      <item><associationSet/><routeSet>
      <item><destinationCidrBlock>0.0.0.0/0</destinationCidrBlock><vpcEndpointId>vpce-1</vpcEndpointId><state>active</state></item></routeSet></item>
      </routeTableSet>`,
    DescribeSecurityGroups: `<securityGroupInfo><item><groupId>${GROUP}</groupId><vpcId>${VPC}</vpcId></item></securityGroupInfo>`,
  };
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => {
      const fields = new URLSearchParams(body);
      const action = fields.get("Action")!;
      asked.push(`${action} ${fields.get("Filter.1.Name")} ${fields.get("Filter.1.Value.1")}`);
      response.setHeader("content-type", "text/xml");
      const found = fields.get("Filter.1.Value.1")!.endsWith("f") ? "" : answers[action];
      response.end(`<${action}Response><requestId>r</requestId>${found}</${action}Response>`);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    const { port } = server.address() as AddressInfo;
    const settings = { accessKey: "x", secretKey: "x", endpoints: [{ ec2: `http://127.0.0.1:${port}` }] };
    const account = new AwsAccount(accessOf({ region: "us-east-1" }, settings, {}));
    assert.deepEqual(await account.vpc(VPC), ["10.1.0.0/16", "10.2.0.0/16"]);
    assert.deepEqual(await account.subnets([SUBNET]), [{ id: SUBNET, vpc: VPC, zone: "us-east-1a" }]);
    assert.deepEqual(await account.securityGroups([GROUP]), [{ id: GROUP, vpc: VPC }]);
    assert.deepEqual(await account.routes(VPC), [
      { main: true, subnets: [] },
      { main: false, subnets: [SUBNET], out: "nat-1" },
      { main: false, subnets: [] },
      { main: false, subnets: [], out: "another way" },
    ]);
    assert.equal(await account.vpc("vpc-0f"), undefined);
    assert.deepEqual(await account.subnets(["subnet-0f"]), []);
    assert.deepEqual(asked.slice(0, 3), [
      `DescribeVpcs vpc-id ${VPC}`,
      `DescribeSubnets subnet-id ${SUBNET}`,
      `DescribeSecurityGroups group-id ${GROUP}`,
    ]);
  } finally {
    server.close();
    server.closeAllConnections();
  }
});

test("a region that was never enabled is named, though AWS speaks of bad credentials", async () => {
  const refusing = {
    identity: async () => {
      throw named("InvalidClientTokenId");
    },
  };
  await fails(
    { ...refusing, regionStatus: async () => "not-opted-in" },
    {},
    "meshbench:sites[0].region: us-east-1, which is not enabled for the account",
    "aws account enable-region --region-name us-east-1",
  );
  await fails(
    {
      ...refusing,
      regionStatus: async () => {
        throw named("InvalidClientTokenId");
      },
    },
    {},
    "AWS does not accept the credentials",
  );
});

test("images: none, or for another processor", async () => {
  await fails({ images: async () => [] }, {}, "no Debian 12 image", "meshbench:sites[0].ami");
  await fails(
    { images: async () => [] },
    { ami: "ami-0123456789abcdef0" },
    "meshbench:sites[0].ami: ami-0123456789abcdef0",
  );
  await fails(
    { images: async () => [{ id: "ami-2", name: "x", architecture: "arm64" }] },
    { ami: "ami-0123456789abcdef0" },
    "arm64",
  );
});

test("arm64: the image of each architecture that the nodes have", async () => {
  const asked: string[] = [];
  const images = async (_id: string | undefined, release: number, architecture: string) => {
    asked.push(`${release} ${architecture}`);
    return [{ id: "ami-3", name: `debian-${release}-${architecture}`, architecture }];
  };
  const site = { instanceType: "t4g.medium", instanceTypes: { driver: "c7i.large" } };
  assert.ok((await ask({ images }, site)).every((c) => c.ok));
  assert.deepEqual(asked.splice(0).sort(), ["12 arm64", "12 x86_64"]);
  assert.ok((await ask({ images }, { ...site, debian: 13 })).every((c) => c.ok));
  assert.deepEqual(asked.sort(), ["13 arm64", "13 x86_64"]);
  await fails(
    { images: async () => [{ id: "ami-2", name: "x", architecture: "x86_64" }] },
    { instanceType: "t4g.medium", ami: "ami-0123456789abcdef0" },
    "meshbench:sites[0].ami: ami-2, an image for x86_64; expected one for arm64",
  );
});

test("what the credentials may not ask is said and stops nobody; a region to opt in to does", async () => {
  const checks = await ask({
    quota: async () => {
      throw named("AccessDeniedException");
    },
  });
  assert.equal(checks.filter((c) => c.skipped).length, 3);
  assert.ok(checks.every((c) => c.ok));
  await fails(
    {
      offerings: async () => {
        throw named("OptInRequired");
      },
    },
    {},
    "meshbench:sites[0].region: not enabled",
  );
});

test("the real client says nothing was reached where nothing listens", async () => {
  const before = { ...process.env };
  Object.assign(process.env, {
    AWS_ENDPOINT_URL: "http://127.0.0.1:9",
    AWS_ACCESS_KEY_ID: "x",
    AWS_SECRET_ACCESS_KEY: "x",
  });
  try {
    const account = new AwsAccount(accessOf({ region: "us-east-1" }, {}, process.env));
    const checks = await ask({ identity: () => account.identity() });
    assert.deepEqual(
      checks.map((c) => c.skipped),
      [true],
      JSON.stringify(checks),
    );
  } finally {
    for (const key of ["AWS_ENDPOINT_URL", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"])
      if (before[key] === undefined) delete process.env[key];
      else process.env[key] = before[key];
  }
});
