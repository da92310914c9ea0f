/** Every resource of an AWS site with its inputs, parents and tags, by Pulumi's runtime mocks: nothing is created. */

import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { after, before, test } from "node:test";
import * as pulumi from "@pulumi/pulumi";
import { shippedConfig } from "../clouds/stand-ins.ts";
import { configOf } from "../infra/config/config.ts";
import { golden } from "../infra/golden.ts";
import { keyPair } from "../proxmox/lab.ts";

interface Seen {
  type: string;
  name: string;
  inputs: Record<string, any>;
}

const seen: Seen[] = [];
const calls: { token: string; inputs: Record<string, any> }[] = [];

const TAGGED = /^aws:(?!ec2\/(route:|routeTableAssociation:|eipAssociation:))/;

before(async () => {
  await pulumi.runtime.setMocks(
    {
      newResource: ({ type, name, inputs, id }) => {
        const address = `198.51.100.${seen.filter((s) => s.type === "aws:ec2/eip:Eip").length + 1}`;
        seen.push({ type, name, inputs });
        const more =
          type === "aws:ec2/eip:Eip"
            ? { publicIp: address, allocationId: `${name}-allocation` }
            : type === "aws:ec2/keyPair:KeyPair"
              ? { keyName: `${name}-name` }
              : type === "aws:ec2/placementGroup:PlacementGroup"
                ? { name: `${name}-name` }
                : type === "aws:ec2/instance:Instance"
                  ? { privateIp: "10.64.0.4" }
                  : type === "aws:ec2/eipAssociation:EipAssociation"
                    ? { publicIp: "198.51.100.200" }
                    : type === "command:local:Command"
                      ? { stdout: standardOutput(name) }
                      : {};
        return { id: id || `${name}-id`, state: { ...inputs, ...more } };
      },
      call: ({ token, inputs }) => {
        calls.push({ token, inputs });
        return token === "aws:ec2/getAmi:getAmi" ? { ...inputs, id: "ami-0debbd6e120260210" } : inputs;
      },
    },
    "meshbench",
    "t",
  );
});
after(() => pulumi.runtime.disconnect());

function standardOutput(name: string): string {
  if (name.startsWith("local-"))
    return JSON.stringify({
      address: "10.64.16.10",
      publicAddress: "10.64.0.2",
      hostKey: "ssh-ed25519 LOCAL",
      behindNat: true,
    });
  if (name.endsWith("-key"))
    return JSON.stringify({
      private: "-----BEGIN OPENSSH PRIVATE KEY-----\nSECRET\n-----END OPENSSH PRIVATE KEY-----\n",
      public: `ssh-ed25519 PUBLIC${name} comment`,
    });
  if (name.endsWith("-ready"))
    return JSON.stringify({
      virtualization: "amazon",
      os: "Debian GNU/Linux 12 (bookworm)",
      kernel: "6.1",
      cpus: 2,
      memoryMb: 3900,
    });
  return "2026-01-02T00:00:00Z";
}

/** Makes the sites of a configuration and waits until every resource is registered. */
async function make(raw: Record<string, unknown>): Promise<{ nodes: Record<string, any>[]; resources: Seen[] }> {
  seen.length = calls.length = 0;
  const { createSites } = await import("../../infra/sites/index.ts");
  const { planNodes } = await import("../../infra/topology.ts");
  const { operatorKey } = await import("../../infra/identity/identity.ts");
  const config = configOf({ operatorCidr: "203.0.113.7/32", owner: "ada", ...raw });
  const key = operatorKey("operator-key", "t");
  const labels = {
    project: "meshbench",
    stack: "t",
    "stack-id": pulumi.output("0123456789ab"),
    owner: config.owner,
    expires: pulumi.output("2026-01-02T00:00:00Z"),
  };
  const nodes = await createSites(config, planNodes(config), {
    lab: "t",
    key,
    owned: { id: "0123456789ab", name: "t" },
    labels,
  });
  const plain = await Promise.all(
    nodes.map(
      (node) =>
        new Promise<Record<string, any>>((resolve) => {
          pulumi
            .all([node.lanAddress, node.publicAddress, node.facts, node.connection])
            .apply(([lanAddress, publicAddress, facts, connection]) =>
              resolve({ ...node, lanAddress, publicAddress, facts, connection }),
            );
        }),
    ),
  );
  // Not in the declarations: resolves when every registration so far has been answered.
  await (pulumi.runtime as unknown as { waitForRPCs(): Promise<void> }).waitForRPCs();
  return { nodes: plain, resources: [...seen] };
}

const ofType = (resources: Seen[], type: string): Seen[] => resources.filter((r) => r.type === type);

/** One line per resource with its inputs, in the order of type and name; secrets never get here. */
function listing(resources: Seen[]): string {
  return resources
    .filter((r) => r.type.startsWith("aws:") || r.type.startsWith("meshbench:"))
    .sort((a, b) => (a.type + a.name < b.type + b.name ? -1 : 1))
    .map(
      (r) =>
        `${r.type} ${r.name}\n${Object.entries(r.inputs)
          .sort(([a], [b]) => (a < b ? -1 : 1))
          .map(([k, v]) => `  ${k}: ${k === "userData" ? "(user data)" : JSON.stringify(v)}`)
          .join("\n")}`,
    )
    .join("\n");
}

test("aws-only: every resource and its inputs", async () => {
  golden("aws-only-resources.txt", listing((await make(shippedConfig("aws-only"))).resources));
});

test("every resource has its place in the tree", async () => {
  await make(shippedConfig("aws-only"));
  const monitor = pulumi.runtime.getMonitor() as unknown as { getRegisteredResources(): Map<string, { urn: string }> };
  const places = new Set([...monitor.getRegisteredResources().values()].map(({ urn }) => urn.split("::")[2]!));
  // Mocks know of the parent's type, not of the whole chain.
  for (const place of [
    "meshbench:sites:Aws$meshbench:sites:AwsNetwork",
    "meshbench:sites:Aws$meshbench:sites:AwsSecurity",
    "meshbench:sites:Aws$meshbench:sites:AwsInstance",
    "meshbench:sites:AwsNetwork$pulumi:providers:aws",
    "meshbench:sites:AwsNetwork$aws:ec2/vpc:Vpc",
    "meshbench:sites:AwsNetwork$aws:ec2/eip:Eip",
    "meshbench:sites:AwsNetwork$aws:ec2/keyPair:KeyPair",
    "meshbench:sites:AwsSecurity$aws:ec2/securityGroup:SecurityGroup",
    "meshbench:sites:AwsSecurity$aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule",
    "meshbench:sites:AwsInstance$aws:ec2/instance:Instance",
    "meshbench:sites:AwsInstance$aws:ec2/eipAssociation:EipAssociation",
    "meshbench:sites:AwsInstance$command:local:Command",
  ])
    assert.ok(places.has(place), `${place} in ${[...places].join("\n")}`);
  assert.deepEqual(
    [...places].filter((place) => place.startsWith("aws:")),
    [],
    "nothing of AWS stands beside the component",
  );
});

test("tags: project, stack, site, owner, expiry and, when named, the run, on everything that can carry them", async () => {
  const { resources } = await make({ ...shippedConfig("aws-only"), runId: "third" });
  const own = resources.filter((r) => TAGGED.test(r.type));
  assert.ok(own.length >= 17, `${own.length} resources with tags`);
  const tags = {
    project: "meshbench",
    stack: "t",
    site: "aws",
    owner: "ada",
    expires: "2026-01-02T00:00:00Z",
    run: "third",
  };
  for (const { name, type, inputs } of own) {
    for (const [key, value] of Object.entries(tags))
      assert.equal(inputs["tags"]?.[key], value, `${key} of ${type} ${name}`);
    assert.ok(inputs["tags"]["Name"], `Name of ${type} ${name}`);
  }
  for (const { inputs } of ofType(resources, "aws:ec2/instance:Instance"))
    assert.equal(inputs["volumeTags"].owner, "ada", "a volume left over says whose it is, from the call that makes it");
});

test("nothing but SSH from the operator and the mesh is let in", async () => {
  const { resources } = await make({
    ...shippedConfig("aws-only"),
    operatorCidr: ["203.0.113.7/32", "198.51.100.0/24"],
  });
  const rules = ofType(resources, "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule").map(({ inputs: i }) => [
    i["ipProtocol"],
    i["fromPort"],
    i["toPort"],
    i["cidrIpv4"] ?? i["referencedSecurityGroupId"],
  ]);
  assert.deepEqual(rules.sort(), [
    ["tcp", 22, 22, "198.51.100.0/24"],
    ["tcp", 22, 22, "203.0.113.7/32"],
    ["udp", 51820, 51820, "aws-nodes-id"],
  ]);
  const [group] = ofType(resources, "aws:ec2/securityGroup:SecurityGroup");
  assert.equal(group!.inputs["ingress"], undefined, "no rule inside the group, which would fight the rules beside it");
});

test("the mesh's port is open to the fixed addresses of other regions, and to anybody only where a peer's address cannot be known", async () => {
  const two = [
    { name: "east", kind: "aws", nodes: 2, region: "us-east-1" },
    { name: "west", kind: "aws", nodes: 1, region: "us-west-2" },
  ];
  const sources = (resources: Seen[], site: string): string[] =>
    ofType(resources, "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule")
      .filter((r) => r.name.startsWith(`${site}-mesh-`) && r.inputs["cidrIpv4"])
      .map((r) => r.inputs["cidrIpv4"])
      .sort();
  const regions = (await make({ sites: two })).resources;
  assert.equal(sources(regions, "east").length, 1, "the one node of west");
  assert.equal(sources(regions, "west").length, 3, "two database nodes and the driver of east");
  assert.ok(
    [...sources(regions, "east"), ...sources(regions, "west")].every((cidr) => /^198\.51\.100\.\d+\/32$/.test(cidr)),
  );
  assert.deepEqual(
    ofType(regions, "pulumi:providers:aws")
      .map((r) => r.inputs["region"])
      .sort(),
    ["us-east-1", "us-west-2"],
    "each region by a provider of its own",
  );

  const home = { name: "home", kind: "local", nodes: 1, nat: true };
  assert.deepEqual(sources((await make({ sites: [two[0], home] })).resources, "east"), ["0.0.0.0/0"]);
  assert.deepEqual(
    sources((await make({ sites: [{ ...two[0], peerCidrs: ["192.0.2.9/32"] }, home] })).resources, "east"),
    ["192.0.2.9/32"],
  );
});

test("options of a site reach the instance", async () => {
  const { resources } = await make({
    sites: [
      {
        name: "a",
        kind: "aws",
        nodes: 2,
        region: "eu-central-1",
        zones: ["a", "b"],
        instanceType: "m6i.large",
        instanceTypes: { driver: "c6i.xlarge" },
        disk: { sizeGb: 100, iops: 6000, throughputMiBs: 500 },
        ami: "ami-0123456789abcdef0",
        spot: { maxPrice: 0.05 },
      },
    ],
  });
  const [first, second, driver] = ["a-1", "a-2", "driver"].map(
    (name) => ofType(resources, "aws:ec2/instance:Instance").find((r) => r.name === name)!.inputs,
  );
  assert.deepEqual([first!["instanceType"], driver!["instanceType"]], ["m6i.large", "c6i.xlarge"]);
  assert.deepEqual([first!["subnetId"], second!["subnetId"], driver!["subnetId"]], ["a-a-id", "a-b-id", "a-a-id"]);
  const { volumeType, volumeSize, iops, throughput, encrypted } = first!["rootBlockDevice"];
  assert.deepEqual([volumeType, volumeSize, iops, throughput, encrypted], ["gp3", 100, 6000, 500, true]);
  assert.equal(first!["ami"], "ami-0123456789abcdef0");
  assert.equal(calls.filter((c) => c.token === "aws:ec2/getAmi:getAmi").length, 0, "a given image is not looked up");
  assert.equal(first!["creditSpecification"], undefined, "only burstable types have credits");
  assert.equal(first!["instanceMarketOptions"].spotOptions.maxPrice, "0.050000");

  const grouped = (
    await make({
      sites: [
        { name: "a", kind: "aws", nodes: 1, region: "eu-central-1", instanceType: "m6i.large", placementGroup: true },
      ],
    })
  ).resources;
  assert.equal(ofType(grouped, "aws:ec2/placementGroup:PlacementGroup")[0]!.inputs["strategy"], "cluster");
  assert.ok(ofType(grouped, "aws:ec2/instance:Instance").every((r) => r.inputs["placementGroup"]));
});

test("arm64 types get Debian's image of theirs, beside x86-64 ones", async () => {
  await make({
    sites: [
      {
        name: "a",
        kind: "aws",
        nodes: 1,
        region: "eu-central-1",
        instanceType: "m7g.large",
        instanceTypes: { driver: "t3.medium" },
      },
    ],
  });
  const filters = calls
    .filter((c) => c.token === "aws:ec2/getAmi:getAmi")
    .map((c) => c.inputs["filters"].map((f: { values: string[] }) => f.values[0]).slice(0, 2));
  assert.deepEqual(filters.sort(), [
    ["debian-12-amd64-*", "x86_64"],
    ["debian-12-arm64-*", "arm64"],
  ]);
});

test("debian 13: its image is looked up, and the change of a standing stack is guarded and makes the instance anew", async () => {
  const site = { name: "a", kind: "aws", nodes: 1, region: "eu-central-1" };
  const guardOf = (resources: Seen[]): unknown =>
    resources.find((r) => r.name === "a-1-guard")!.inputs["environment"]["REPLACED"];
  const before = guardOf((await make({ sites: [site] })).resources);
  calls.length = 0;
  const after = (await make({ debian: 13, sites: [site] })).resources;
  assert.deepEqual(
    [...new Set(calls.filter((c) => c.token === "aws:ec2/getAmi:getAmi").map((c) => c.inputs["filters"][0].values[0]))],
    ["debian-13-amd64-*"],
  );
  assert.notEqual(guardOf(after), before);
  assert.match(String(guardOf(after)), /replaced image = Debian's of 13/);
});

test("spot: another type makes an instance anew, since a one-time request cannot be stopped; the price as EC2 gives it back", async () => {
  const site = { name: "a", kind: "aws", nodes: 3, region: "eu-central-1" };
  const guardOf = (resources: Seen[]): Record<string, string> =>
    ofType(resources, "command:local:Command").find((r) => r.name === "a-1-guard")!.inputs["environment"];
  const spot = guardOf((await make({ sites: [{ ...site, spot: true, rolling: true }] })).resources);
  assert.match(spot["REPLACED"]!, /^replaced instanceType = t3\.medium$/m);
  assert.equal(spot["RESTARTED"], "");
  const onDemand = guardOf((await make({ sites: [{ ...site, rolling: true }] })).resources);
  assert.match(onDemand["RESTARTED"]!, /^restarted instanceType = t3\.medium$/m);
  assert.doesNotMatch(onDemand["REPLACED"]!, /instanceType/);
  // The provider compares TrimRight(state, "0") with TrimRight(configuration, "0"), and EC2 answers with six decimals.
  const { spotPrice } = await import("../../infra/sites/aws/instance.ts");
  for (const [given, kept] of [
    [1, "1.000000"],
    [10, "10.000000"],
    [0.05, "0.050000"],
    [0.0123456, "0.012346"],
  ] as const)
    assert.equal(spotPrice(given), kept);
});

const THERE = {
  name: "a",
  kind: "aws",
  nodes: 2,
  region: "us-east-1",
  zones: ["a", "b"],
  vpcId: "vpc-0123456789abcdef0",
  subnetIds: { a: "subnet-0aaaaaaaaaaaaaaaa", b: "subnet-0bbbbbbbbbbbbbbbb" },
};
const typesIn = (resources: Seen[]): Record<string, number> =>
  Object.fromEntries(
    [...Map.groupBy(resources, (r) => r.type)]
      .filter(([type]) => type.startsWith("aws:"))
      .map(([type, some]): [string, number] => [type.split(":").at(-1)!, some.length])
      .sort(),
  );

test("a VPC that is there already: instances in its subnets, a security group in it, and no network is made", async () => {
  const { resources } = await make({ sites: [THERE] });
  assert.deepEqual(typesIn(resources), {
    Eip: 3,
    EipAssociation: 3,
    Instance: 3,
    KeyPair: 1,
    SecurityGroup: 1,
    SecurityGroupEgressRule: 1,
    SecurityGroupIngressRule: 2,
  });
  const instances = ofType(resources, "aws:ec2/instance:Instance");
  const subnetOf = (name: string): unknown => instances.find((r) => r.name === name)!.inputs["subnetId"];
  assert.deepEqual(["a-1", "a-2", "driver"].map(subnetOf), [THERE.subnetIds.a, THERE.subnetIds.b, THERE.subnetIds.a]);
  const [group] = ofType(resources, "aws:ec2/securityGroup:SecurityGroup");
  assert.equal(group!.inputs["vpcId"], THERE.vpcId);
  assert.ok(instances.every((r) => r.inputs["vpcSecurityGroupIds"].join() === "a-nodes-id"));
});

test("security groups that are there already: the instances' own, and neither group nor rule is made", async () => {
  const securityGroupIds = ["sg-0123456789abcdef0", "sg-0123456789abcdef1"];
  const { resources } = await make({ sites: [{ ...THERE, securityGroupIds }] });
  assert.deepEqual(typesIn(resources), { Eip: 3, EipAssociation: 3, Instance: 3, KeyPair: 1 });
  for (const { inputs } of ofType(resources, "aws:ec2/instance:Instance"))
    assert.deepEqual(inputs["vpcSecurityGroupIds"], securityGroupIds);
});

test("another VPC or subnet makes a database node anew, which its guard sees; other security groups do not", async () => {
  const networkIn = async (site: object): Promise<string> => {
    const { resources } = await make({ sites: [site] });
    const { REPLACED } = resources.find((r) => r.name === "a-2-guard")!.inputs["environment"];
    return /^replaced network = (.*)$/m.exec(REPLACED)![1]!;
  };
  const { vpcId, subnetIds: _, ...made } = THERE;
  assert.equal(await networkIn(made), "default");
  assert.equal(await networkIn(THERE), `${vpcId} ${THERE.subnetIds.b}`);
  const moved = { ...THERE.subnetIds, b: "subnet-0cccccccccccccccc" };
  assert.equal(await networkIn({ ...THERE, subnetIds: moved }), `${vpcId} ${moved.b}`);
  assert.equal(
    await networkIn({ ...THERE, securityGroupIds: ["sg-0123456789abcdef0"] }),
    `${vpcId} ${THERE.subnetIds.b}`,
  );
});

const jumpKeys = keyPair();
after(() => rmSync(jumpKeys.directory, { recursive: true, force: true }));
const JUMP = {
  host: "gate.example.org",
  user: "ops",
  privateKeyFile: jumpKeys.privateKeyFile,
  hostKey: "ssh-ed25519 AAAA",
};
const PRIVATE = { ...THERE, private: true, jump: JUMP, operatorCidr: "10.1.0.9/32" };

test("private subnets: no public address anywhere, SSH through the jump host, and the mesh as behind NAT", async () => {
  const { nodes, resources } = await make({ sites: [PRIVATE] });
  assert.deepEqual(typesIn(resources), {
    Instance: 3,
    KeyPair: 1,
    SecurityGroup: 1,
    SecurityGroupEgressRule: 1,
    SecurityGroupIngressRule: 2,
  });
  for (const { inputs } of ofType(resources, "aws:ec2/instance:Instance"))
    assert.equal(inputs["associatePublicIpAddress"], false, "whatever the subnet gives by itself");
  assert.deepEqual(
    ofType(resources, "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule")
      .map(({ inputs: i }) => `${i["fromPort"]} ${i["cidrIpv4"] ?? i["referencedSecurityGroupId"]}`)
      .sort(),
    ["22 10.1.0.9/32", "51820 a-nodes-id"],
  );
  for (const node of nodes) {
    assert.deepEqual([node["lanAddress"], node["behindNat"]], ["10.64.0.4", true]);
    const { host, user, hostKey, proxy } = node["connection"];
    assert.deepEqual(
      [host, user, hostKey],
      ["10.64.0.4", "admin", `ssh-ed25519 PUBLIC${node["name"]}-host-key ${node["name"]}-id`],
    );
    assert.deepEqual([proxy.host, proxy.port, proxy.user, proxy.hostKey], [JUMP.host, 22, "ops", JUMP.hostKey]);
    assert.match(proxy.privateKey, /PRIVATE KEY-----/);
  }
  const waits = resources.find((r) => r.name === "a-1-ready")!;
  assert.equal(JSON.parse(waits.inputs["stdin"].value ?? waits.inputs["stdin"]).connection.proxy.host, JUMP.host);
});

test("a jump host before public addresses: they stay, and SSH goes through it", async () => {
  const { nodes, resources } = await make({ sites: [{ ...PRIVATE, private: false }] });
  assert.equal(typesIn(resources)["Eip"], 3);
  assert.ok(ofType(resources, "aws:ec2/instance:Instance").every((r) => !("associatePublicIpAddress" in r.inputs)));
  const { connection, behindNat } = nodes[0]!;
  assert.deepEqual([connection.host, connection.proxy.host, behindNat], ["198.51.100.200", JUMP.host, false]);
});

test("without a jump host a connection has no word of one", async () => {
  const { nodes } = await make({ sites: [THERE] });
  assert.ok(nodes.every((node) => !("proxy" in node["connection"])));
});

test("peers of a private site let it call from anywhere, unless its gateway's address is given; its own port is closed", async () => {
  const west = { name: "west", kind: "aws", nodes: 1, region: "us-west-2" };
  const sources = async (more: object): Promise<string[]> =>
    ofType(
      (await make({ sites: [PRIVATE, { ...west, ...more }] })).resources,
      "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule",
    )
      .filter((r) => r.inputs["fromPort"] === 51820 && r.inputs["cidrIpv4"])
      .map((r) => `${r.name} ${r.inputs["cidrIpv4"]}`);
  assert.deepEqual(await sources({}), ["west-mesh-anywhere 0.0.0.0/0"]);
  assert.deepEqual(await sources({ peerCidrs: "192.0.2.9/32" }), ["west-mesh-192-0-2-9-32 192.0.2.9/32"]);
});

test("a database node that becomes private is made anew, which its guard sees", async () => {
  const { resources } = await make({ sites: [PRIVATE] });
  assert.match(
    resources.find((r) => r.name === "a-2-guard")!.inputs["environment"]["REPLACED"],
    /^replaced network = vpc-0123456789abcdef0 subnet-0bbbbbbbbbbbbbbbb private$/m,
  );
});

test("IMDSv2, an explicit credit mode, a pinned host key, and a node that stands for its instance", async () => {
  const { nodes, resources } = await make(shippedConfig("aws-only"));
  for (const { inputs } of ofType(resources, "aws:ec2/instance:Instance")) {
    assert.deepEqual(inputs["metadataOptions"], {
      httpEndpoint: "enabled",
      httpTokens: "required",
      httpPutResponseHopLimit: 1,
    });
    assert.deepEqual(inputs["creditSpecification"], { cpuCredits: "unlimited" });
    assert.match(inputs["userData"].value ?? inputs["userData"], /^#cloud-config\nhostname: /);
  }
  const [node] = nodes;
  assert.deepEqual(
    [node!["lanAddress"], node!["publicAddress"], node!["behindNat"], node!["sudo"]],
    ["10.64.0.4", "198.51.100.200", false, true],
  );
  assert.equal(node!["connection"].user, "admin");
  assert.equal(
    node!["connection"].hostKey,
    "ssh-ed25519 PUBLICaws-1-host-key aws-1-id",
    "a new instance is another connection",
  );
  assert.deepEqual(
    [node!["facts"].instanceType, node!["facts"].cpuCredits, node!["facts"].ami, node!["facts"].virtualization],
    ["t3.medium", "unlimited", "ami-0debbd6e120260210", "amazon"],
  );
});

test("a node's names and addresses do not depend on the others", async () => {
  const base = { name: "a", kind: "aws", region: "us-east-1" };
  const few = (await make({ sites: [{ ...base, nodes: 2 }] })).resources,
    more = (
      await make({
        sites: [
          { ...base, nodes: 3 },
          { name: "b", kind: "aws", region: "us-west-2", nodes: 1 },
        ],
      })
    ).resources;
  const key = (r: Seen): string => `${r.type} ${r.name}`;
  const later = new Map(more.map((r) => [key(r), r]));
  for (const resource of few) {
    assert.ok(later.has(key(resource)), key(resource));
    if (resource.type === "aws:ec2/instance:Instance" || resource.type.includes("subnet"))
      assert.deepEqual(later.get(key(resource))!.inputs, resource.inputs, key(resource));
  }
});
