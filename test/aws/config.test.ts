import assert from "node:assert/strict";
import { test } from "node:test";
import { isArm } from "../../infra/config/sites/aws-check.ts";
import { shippedConfig } from "../clouds/stand-ins.ts";
import { configOf, problemsOf } from "../infra/config/config.ts";

const SITE = { name: "a", kind: "aws", nodes: 1, region: "us-east-1" };
const OPERATOR = "203.0.113.7/32";
const site = (more: object): Record<string, unknown> => ({ operatorCidr: OPERATOR, sites: [{ ...SITE, ...more }] });

/** One problem, in which all of these words stand. */
function refused(raw: Record<string, unknown>, ...words: string[]): void {
  const problems = problemsOf(raw);
  assert.equal(problems.length, 1, problems.join("\n"));
  for (const word of words) assert.ok(problems[0]!.includes(word), `"${word}" in: ${problems[0]}`);
}

test("a site of kind aws needs a name, nodes and a region; the rest has defaults", () => {
  const [aws] = configOf(site({})).sites;
  assert.deepEqual(aws, {
    ...SITE,
    segment: 0,
    zones: ["a"],
    instanceType: "t3.medium",
    instanceTypes: {},
    disk: { sizeGb: 32, iops: 3000, throughputMiBs: 125 },
    credits: "unlimited",
    placementGroup: false,
    spot: false,
    replaceNodes: false,
    rolling: false,
    readyTimeoutSeconds: 300,
    debian: 12,
  });
});

test("each mistake is one sentence with the key, what was given and what is allowed", () => {
  refused(site({ region: "us-middle-1" }), "meshbench:sites[0].region", '"us-middle-1"', "us-east-1", "eu-central-1");
  refused(
    { operatorCidr: OPERATOR, sites: [{ name: "a", kind: "aws", nodes: 1 }] },
    "meshbench:sites[0].region: missing",
    "us-east-1",
  );
  refused(
    site({ instanceType: "t4g.medium", instanceTypes: { driver: "t3.medium" }, ami: "ami-0123456789abcdef0" }),
    "meshbench:sites[0].ami: one image for x86-64 and arm64 types (t4g.medium, t3.medium)",
  );
  refused(site({ placementGroup: true }), "meshbench:sites[0].placementGroup", "t3.medium", "m6i.large");
  refused(
    site({ instanceType: "m6i.large", placementGroup: true, zones: ["a", "b"] }),
    "with 2 zones in meshbench:sites[0].zones",
  );
  refused(site({ zones: ["a", "a"] }), "meshbench:sites[0].zones");
  refused(site({ zones: ["us-east-1a"] }), "meshbench:sites[0].zones[0]", "letter");
  refused(site({ network: "10.0.0.0/28" }), "meshbench:sites[0].network: 10.0.0.0/28", "/16 to /22");
  refused(site({ network: "10.0.0.7/16" }), "meshbench:sites[0].network", "without host bits");
  refused(site({ disk: { iops: 20_000 } }), "meshbench:sites[0].disk.iops: 20000", "16000");
  refused(site({ disk: { throughputMiBs: 1000 } }), "meshbench:sites[0].disk.throughputMiBs: 1000", "750");
  refused({ ...site({}), operatorCidr: "203.0.113.7" }, "meshbench:operatorCidr", "203.0.113.7/32");
});

test("SSH is open to nobody who was not named, and to everybody only by that exact spelling", () => {
  refused({ sites: [SITE] }, "meshbench:operatorCidr: missing", "203.0.113.7/32", "0.0.0.0/0");
  assert.deepEqual(configOf({ ...site({}), operatorCidr: "0.0.0.0/0" }).operatorCidr, ["0.0.0.0/0"]);
  assert.deepEqual(configOf({ sites: [{ ...SITE, operatorCidr: [OPERATOR, "198.51.100.0/24"] }] }).sites[0], {
    ...configOf(site({})).sites[0],
    operatorCidr: [OPERATOR, "198.51.100.0/24"],
  });
});

test("a disk that the data does not fit on: 8 GB for 12 GB", () => {
  const profile = { data: { tables: 10, tableSize: 4_800_000 }, steps: [{ workload: "oltp_read_only", threads: 1 }] };
  refused({ ...site({ disk: { sizeGb: 8 } }), profile }, "meshbench:sites[0].disk.sizeGb: 8", "12.5 GB", "29");
  assert.deepEqual(problemsOf({ ...site({}), profile }), []);
});

test("networks of sites and mesh must not overlap; by default they do not", () => {
  const two = (a: object, b: object): Record<string, unknown> => ({
    operatorCidr: OPERATOR,
    sites: [
      { ...SITE, ...a },
      { ...SITE, name: "b", region: "eu-west-1", nodes: 2, ...b },
    ],
  });
  assert.deepEqual(problemsOf(two({}, {})), []);
  refused(
    two({ network: "10.1.0.0/16" }, { network: "10.1.16.0/20" }),
    "meshbench:sites[1]",
    "10.1.16.0/20",
    "meshbench:sites[0]",
    "10.1.0.0/16",
  );
  refused(site({ network: "10.99.0.0/16" }), "meshbench:mesh.network", "10.99.0.0/24", "meshbench:sites[0]");
  refused(
    { ...site({ meshSlot: 3 }), mesh: { network: "10.67.1.0/24" } },
    "meshbench:sites[0].network: missing, and its default 10.67.0.0/16",
    "10.67.1.0/24 of meshbench:mesh.network",
  );
});

const VPC = "vpc-0123456789abcdef0",
  SUBNET = "subnet-0123456789abcdef0",
  GROUP = "sg-0123456789abcdef0";

test("a VPC that is there already: with a subnet for each zone, and maybe security groups", () => {
  const { vpcId, subnetIds, securityGroupIds } = configOf(
    site({ vpcId: VPC, zones: ["a", "b"], subnetIds: { a: SUBNET, b: "subnet-0b000000000000000" } }),
  ).sites[0] as Record<string, any>;
  assert.deepEqual(
    [vpcId, subnetIds, securityGroupIds],
    [VPC, { a: SUBNET, b: "subnet-0b000000000000000" }, undefined],
  );
  const grouped = { ...SITE, vpcId: VPC, subnetIds: { a: SUBNET }, securityGroupIds: [GROUP] };
  assert.deepEqual(problemsOf({ sites: [grouped] }), [], "rules of one's own need no operatorCidr");
  refused({ sites: [{ ...grouped, securityGroupIds: undefined }] }, "meshbench:operatorCidr: missing");
});

test("keys of an existing network that contradict each other, or lack one another", () => {
  refused(
    site({ subnetIds: { a: SUBNET } }),
    `meshbench:sites[0].subnetIds: ${SUBNET}; expected with meshbench:sites[0].vpcId`,
  );
  refused(
    site({ securityGroupIds: [GROUP] }),
    `meshbench:sites[0].securityGroupIds: ${GROUP}; expected with meshbench:sites[0].vpcId`,
  );
  refused(
    site({ vpcId: VPC }),
    "meshbench:sites[0].subnetIds: missing; expected with meshbench:sites[0].vpcId a subnet for each of meshbench:sites[0].zones (a)",
  );
  refused(
    site({ vpcId: VPC, subnetIds: { a: SUBNET }, zones: ["a", "b", "c"] }),
    "meshbench:sites[0].subnetIds: none for b, c; expected",
    "(a, b, c)",
  );
  refused(
    site({ vpcId: VPC, subnetIds: { a: SUBNET, b: SUBNET } }),
    `meshbench:sites[0].subnetIds.b: ${SUBNET}; expected one of meshbench:sites[0].zones (a)`,
  );
  refused(
    site({ vpcId: VPC, subnetIds: { a: SUBNET }, network: "10.1.0.0/16" }),
    "meshbench:sites[0].network: 10.1.0.0/16; expected no such key with meshbench:sites[0].vpcId",
  );
  for (const name of ["operatorCidr", "peerCidrs"])
    refused(
      { sites: [{ ...SITE, vpcId: VPC, subnetIds: { a: SUBNET }, securityGroupIds: [GROUP], [name]: OPERATOR }] },
      `meshbench:sites[0].${name}: ${OPERATOR}; expected no such key with meshbench:sites[0].securityGroupIds`,
    );
});

test("ids of an existing network are what AWS calls them", () => {
  refused(site({ vpcId: "my-vpc", subnetIds: { a: SUBNET } }), 'meshbench:sites[0].vpcId: "my-vpc"; expected', "vpc-0");
  refused(
    site({ vpcId: VPC, subnetIds: { a: VPC } }),
    `meshbench:sites[0].subnetIds.a: "${VPC}"; expected a subnet's id`,
  );
  refused(
    site({ vpcId: VPC, subnetIds: { "us-east-1a": SUBNET } }),
    "meshbench:sites[0].subnetIds.us-east-1a",
    "letter of an availability zone",
  );
  refused(
    site({ vpcId: VPC, subnetIds: { a: SUBNET }, securityGroupIds: ["default"] }),
    'meshbench:sites[0].securityGroupIds[0]: "default"; expected',
  );
  refused(
    site({ vpcId: VPC, subnetIds: { a: SUBNET }, securityGroupIds: [] }),
    "meshbench:sites[0].securityGroupIds: []; expected at least 1",
  );
});

const JUMP = { host: "gate.example.org", hostKey: "ssh-ed25519 AAAA" };
const PRIVATE = { vpcId: VPC, subnetIds: { a: SUBNET }, private: true, jump: JUMP, operatorCidr: "10.1.0.9/32" };

test("private subnets with a jump host", () => {
  const { jump, ...aws } = configOf({ sites: [{ ...SITE, ...PRIVATE }] }).sites[0] as Record<string, any>;
  assert.equal(aws["private"], true);
  assert.deepEqual(jump, { ...JUMP, port: 22, user: "root", privateKeyFile: "~/.ssh/id_ed25519" });
  assert.deepEqual(
    problemsOf(site({ jump: JUMP, operatorCidr: "10.1.0.9/32" })),
    [],
    "a jump host to public addresses",
  );
  const grouped = { ...SITE, ...PRIVATE, operatorCidr: undefined, securityGroupIds: [GROUP] };
  assert.deepEqual(problemsOf({ sites: [grouped] }), []);
});

test("private without a jump host, or without a way out, and a jump host that nobody lets in", () => {
  refused(
    site({ ...PRIVATE, jump: undefined }),
    "meshbench:sites[0].private: true; expected with meshbench:sites[0].jump",
  );
  refused(
    site({ ...PRIVATE, vpcId: undefined, subnetIds: undefined }),
    "meshbench:sites[0].private: true; expected with meshbench:sites[0].vpcId and meshbench:sites[0].subnetIds",
  );
  for (const operatorCidr of [OPERATOR, undefined])
    refused(
      { operatorCidr, sites: [{ ...SITE, ...PRIVATE, operatorCidr: undefined }] },
      "meshbench:sites[0].operatorCidr: missing; expected with meshbench:sites[0].jump the address that the jump host",
    );
  refused(
    site({ ...PRIVATE, peerCidrs: OPERATOR }),
    `meshbench:sites[0].peerCidrs: ${OPERATOR}; expected no such key with meshbench:sites[0].private true`,
  );
  refused(site({ ...PRIVATE, jump: { host: "gate" } }), "meshbench:sites[0].jump.hostKey: missing");
});

test("a private site cannot be called from others: somebody else has to be reachable", () => {
  const own = { ...SITE, ...PRIVATE };
  const other = { ...own, name: "b", nodes: 2 };
  const home = { name: "home", kind: "local", nodes: 2 };
  refused(
    { sites: [own, other] },
    'sites "a" and "b" are both behind NAT',
    "one of them needs private false and an address",
  );
  refused({ sites: [own, { ...home, nat: true }] }, "one of them needs nat false or private false and an address");
  assert.deepEqual(problemsOf({ sites: [own, home] }), []);
  assert.deepEqual(problemsOf({ operatorCidr: OPERATOR, sites: [own, { ...SITE, name: "b", nodes: 2 }] }), []);
});

test("the default network of a site counts only where a VPC is made", () => {
  const mesh = { network: "10.67.1.0/24" };
  refused({ ...site({ meshSlot: 3 }), mesh }, "its default 10.67.0.0/16");
  assert.deepEqual(problemsOf({ ...site({ meshSlot: 3, vpcId: VPC, subnetIds: { a: SUBNET } }), mesh }), []);
});

test("which processor a type has is in its name", () => {
  for (const type of [
    "t4g.medium",
    "a1.large",
    "m6g.large",
    "c6gn.xlarge",
    "im4gn.large",
    "x2gd.medium",
    "g5g.xlarge",
    "r8gd.large",
  ])
    assert.equal(isArm(type), true, type);
  for (const type of [
    "t3.medium",
    "t3a.small",
    "m6i.large",
    "g5.xlarge",
    "g4dn.xlarge",
    "c5n.large",
    "i3en.large",
    "r6idn.large",
    "u-6tb1.metal",
  ])
    assert.equal(isArm(type), false, type);
});

test("the shipped stacks say everything that a user has to set, all at once", () => {
  assert.deepEqual(
    problemsOf(shippedConfig("aws-only")).map((p) => p.split(": missing")[0]),
    ["meshbench:operatorCidr"],
  );
  assert.deepEqual(
    new Set(problemsOf(shippedConfig("hybrid")).map((p) => p.split(": missing")[0])),
    new Set([
      "meshbench:operatorCidr",
      "meshbench:proxmoxToken",
      "meshbench:sites[1].endpoint",
      "meshbench:sites[1].address",
      "meshbench:sites[1].gateway",
    ]),
  );
});
