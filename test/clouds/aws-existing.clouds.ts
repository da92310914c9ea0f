/**
 * A stack in networks that are there already, on the real engine with a stand-in for AWS: one site in the public subnet
 * of a VPC with a security group of its own, one in a private subnet whose nodes SSH reaches through a jump host alone,
 * and whose way out is a NAT gateway's. It proves the program and its order of things, not AWS: moto's security groups
 * filter nothing.
 */

import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { connect } from "node:net";
import { after, before, test } from "node:test";
import {
  AssociateRouteTableCommand,
  AttachInternetGatewayCommand,
  CreateInternetGatewayCommand,
  CreateNatGatewayCommand,
  CreateRouteCommand,
  CreateRouteTableCommand,
  CreateSecurityGroupCommand,
  CreateSubnetCommand,
  CreateVpcCommand,
  DescribeSubnetsCommand,
  DescribeVpcsCommand,
  EC2Client,
} from "@aws-sdk/client-ec2";
import { TestStack, touched } from "../../harness/stack.ts";
import type { ConfigInput } from "../../infra/config/schema.ts";
import { keyPair, makeHost } from "../proxmox/lab.ts";
import { MotoLook } from "./moto-look.ts";
import { CloudStack, withoutRuns } from "./stand-ins.ts";

const REGION = "eu-central-1";
const PROFILE = "smoke";
let clouds: CloudStack, aws: MotoLook, ec2: EC2Client, config: ConfigInput, jumpAddress: string;
const key = keyPair();
const stack = new TestStack("aws-existing", { sites: [{ name: "east", kind: "local", nodes: 1 }], profile: PROFILE });

/** A VPC with a public subnet and a private one that goes out by a NAT gateway. */
async function makeVpc(): Promise<{ vpcId: string; open: string; closed: string; group: string }> {
  const send: EC2Client["send"] = ec2.send.bind(ec2);
  const vpcId = (await send(new CreateVpcCommand({ CidrBlock: "10.200.0.0/16" }))).Vpc!.VpcId!;
  const subnet = async (CidrBlock: string): Promise<string> =>
    (await send(new CreateSubnetCommand({ VpcId: vpcId, CidrBlock, AvailabilityZone: `${REGION}a` }))).Subnet!
      .SubnetId!;
  const open = await subnet("10.200.0.0/24");
  const closed = await subnet("10.200.1.0/24");
  const out = async (id: string, way: { GatewayId: string } | { NatGatewayId: string }): Promise<void> => {
    const table = (await send(new CreateRouteTableCommand({ VpcId: vpcId }))).RouteTable!.RouteTableId!;
    await send(new CreateRouteCommand({ RouteTableId: table, DestinationCidrBlock: "0.0.0.0/0", ...way }));
    await send(new AssociateRouteTableCommand({ RouteTableId: table, SubnetId: id }));
  };
  const gateway = (await send(new CreateInternetGatewayCommand({}))).InternetGateway!.InternetGatewayId!;
  await send(new AttachInternetGatewayCommand({ InternetGatewayId: gateway, VpcId: vpcId }));
  await out(open, { GatewayId: gateway });
  const nat = (await send(new CreateNatGatewayCommand({ SubnetId: open, ConnectivityType: "private" }))).NatGateway!;
  await out(closed, { NatGatewayId: nat.NatGatewayId! });
  const group = await send(
    new CreateSecurityGroupCommand({ VpcId: vpcId, GroupName: "bench", Description: "the operator's own" }),
  );
  return { vpcId, open, closed, group: group.GroupId! };
}

before(async () => {
  // Other sites cannot call the nodes of a private subnet: as little as those behind a router that translates.
  clouds = await CloudStack.start({ stack, sites: [{ name: "east" }, { name: "inner", nat: true }] });
  const { url } = clouds.moto;
  aws = new MotoLook(url, REGION);
  ec2 = new EC2Client({
    region: REGION,
    endpoint: url,
    credentials: { accessKeyId: "stand-in", secretAccessKey: "stand-in" },
  });
  const jump = makeHost(stack.lab, "inner", "gate", key.publicKey);
  jumpAddress = jump.address;
  const { vpcId, open, closed, group } = await makeVpc();
  const common = { kind: "aws", region: REGION, vpcId } as const;
  config = {
    operatorCidr: "203.0.113.7/32",
    profile: PROFILE,
    proxy: { kind: "haproxy" },
    driver: { site: "east" },
    sites: [
      { ...common, name: "east", nodes: 1, subnetIds: { a: open }, securityGroupIds: [group] },
      {
        ...common,
        name: "inner",
        nodes: 2,
        subnetIds: { a: closed },
        private: true,
        operatorCidr: `${jump.address}/32`,
        jump: { host: jump.address, user: "root", privateKeyFile: key.privateKeyFile, hostKey: jump.hostKey },
      },
    ],
  };
  stack.configure(config);
});
after(async () => {
  await stack.run("destroy", "--yes");
  await clouds?.stop();
  rmSync(key.directory, { recursive: true });
});

async function up(): Promise<string> {
  const { code, output } = await stack.up();
  assert.equal(code, 0, output.slice(-5000));
  return output;
}
const answers = (host: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ host, port: 22, timeout: 3000 });
    const end = (answer: boolean) => {
      socket.destroy();
      resolve(answer);
    };
    socket
      .once("connect", () => end(true))
      .once("error", () => end(false))
      .once("timeout", () => end(false));
  });

test("up: from nothing to results; no network is made, a security group for the site without one of its own", async () => {
  const output = await up();
  assert.deepEqual(
    touched(output).filter((name) => /-(vpc|gateway|routes|out|a)$/.test(name)),
    [],
    "neither VPC, gateway, routes nor subnets",
  );
  const out = await stack.outputs();
  assert.equal(out["database"].facts.size, 3);
  assert.ok(
    out["results"].length === 3 && out["results"].every((r: { tps: number }) => r.tps > 0),
    JSON.stringify(out["results"]),
  );
  assert.deepEqual(Object.keys(await aws.instances()).sort(), ["driver", "east-1", "inner-1", "inner-2"]);
  assert.deepEqual(
    (await aws.leftovers()).sort().slice(0, 2),
    ["address", "address"],
    "of the public site's two nodes",
  );
  assert.equal((await aws.leftovers()).filter((what) => what === "security group").length, 1);
});

test("nodes of the private subnet are reached through the jump host alone", async () => {
  const address = (node: string): string => stack.onNode(node, "hostname", "-I").trim().split(" ")[0]!;
  assert.equal(await answers(address("east-1")), true, "an Elastic IP opens the public ones");
  assert.equal(await answers(jumpAddress), true);
  for (const node of ["inner-1", "inner-2"]) assert.equal(await answers(address(node)), false, node);
  assert.match(stack.onNode("inner-1", "cat", "/etc/wireguard/wg0.conf"), /Endpoint = .*\nPersistentKeepalive = 25/);
});

test("a second up changes nothing, and neither does one after a refresh", async () => {
  assert.deepEqual(withoutRuns(touched(await up())), []);
  const { code, output } = await stack.run("refresh", "--yes");
  assert.equal(code, 0, output.slice(-3000));
  assert.deepEqual(touched(output), []);
  assert.deepEqual(withoutRuns(touched(await up())), []);
});

test("destroy takes what the stack made, and leaves the network and the jump host", async () => {
  const { code, output } = await stack.run("destroy", "--yes");
  assert.equal(code, 0, output.slice(-3000));
  assert.deepEqual(await aws.leftovers(), []);
  assert.deepEqual(clouds.labNodes(), ["gate"]);
  const { vpcId } = config.sites![0] as { vpcId: string };
  assert.equal((await ec2.send(new DescribeVpcsCommand({ VpcIds: [vpcId] }))).Vpcs?.length, 1);
  const { Subnets } = await ec2.send(new DescribeSubnetsCommand({ Filters: [{ Name: "vpc-id", Values: [vpcId] }] }));
  assert.equal(Subnets?.length, 2);
});
