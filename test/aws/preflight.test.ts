/**
 * What AWS answers, and what is made of it. The answers are made up here; against moto it runs in the stacks' own
 * tests.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import { type Account, checkAwsSites } from "../../infra/preflight/aws.ts";
import { AwsAccount } from "../../infra/preflight/aws-account.ts";
import { planNodes } from "../../infra/topology.ts";
import { configOf } from "../infra/config.ts";

const OWNED = { project: "meshbench", stack: "t" };
const named = (name: string, message = ""): Error => Object.assign(new Error(message), { name });

const GOOD: Account = {
  identity: async () => "123456789012",
  offerings: async () => ["us-east-1a", "us-east-1b"],
  virtualCpus: async (types) => new Map(types.map((type) => [type, 2])),
  running: async () => 0,
  addresses: async () => 0,
  quota: async (_service, code) => (code === "L-0263D0A3" ? 5 : 32),
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
  assert.equal(checks.length, 5);
  assert.ok(
    checks.every((c) => c.ok && !c.skipped),
    JSON.stringify(checks),
  );
});

test("credentials: missing, expired, refused - and nothing else is asked then", async () => {
  for (const [error, word] of [
    [named("CredentialsProviderError"), "no AWS credentials were found"],
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
  await fails({ offerings: async () => [] }, {}, "meshbench:sites[0].instanceType is t3.medium", "us-east-1");
  await fails({}, { zones: ["a", "e"] }, "meshbench:sites[0].zones has e", "allowed are a, b");
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

test("images: none, or for another processor", async () => {
  await fails({ images: async () => [] }, {}, "no Debian 12 image", "meshbench:sites[0].ami");
  await fails(
    { images: async () => [] },
    { ami: "ami-0123456789abcdef0" },
    "meshbench:sites[0].ami is ami-0123456789abcdef0",
  );
  await fails(
    { images: async () => [{ id: "ami-2", name: "x", architecture: "arm64" }] },
    { ami: "ami-0123456789abcdef0" },
    "arm64",
  );
});

test("what the credentials may not ask is said and stops nobody; a region to opt in to does", async () => {
  const checks = await ask({
    quota: async () => {
      throw named("AccessDeniedException");
    },
  });
  assert.equal(checks.filter((c) => c.skipped).length, 2);
  assert.ok(checks.every((c) => c.ok));
  await fails(
    {
      offerings: async () => {
        throw named("OptInRequired");
      },
    },
    {},
    "meshbench:sites[0].region has to be enabled",
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
    const account = new AwsAccount("us-east-1", undefined);
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
