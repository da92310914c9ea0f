/**
 * A program: takes away what a killed run was creating in a cloud and no state knows. stdin: LostInput. stderr: what is
 * done. Exit 1 with one sentence per resource about which nothing can be found out, or which stays.
 */
import { text } from "node:stream/consumers";
import {
  DeleteRouteCommand,
  DescribeInstancesCommand,
  DescribeRouteTablesCommand,
  DescribeTagsCommand,
  DisassociateRouteTableCommand,
  EC2Client,
} from "@aws-sdk/client-ec2";
import type { AwsSite } from "../../infra/config/sites/aws.ts";
import { awsSettings } from "../../infra/config/sites/aws-settings.ts";
import { clientSettings, credentialsProblem, errorName } from "../../infra/preflight/aws-clients.ts";
import { accessOf } from "../../infra/sites/aws/access.ts";
import { readSettings } from "../doctor/settings.ts";
import { removeFromRegion } from "./aws-remove.ts";
import { isOnHost, recoverProxmox } from "./lost-proxmox.ts";
import { hostsOf } from "./proxmox.ts";

export interface Lost {
  name: string;
  type: string;
  inputs: Record<string, unknown>;
  /** Of its provider, as in the state; secrets are encrypted there. */
  provider: Record<string, unknown>;
}

export interface LostInput {
  root: string;
  stack: string;
  lost: Lost[];
}

type Say = (line: string) => void;
type Tags = Record<string, string>;

/** Ids of AWS's resources that carry every one of these tags; instances that are gone keep theirs for an hour. */
export async function taggedWith(ec2: EC2Client, tags: Tags): Promise<string[]> {
  const { Tags: found = [] } = await ec2.send(
    new DescribeTagsCommand({
      Filters: [
        { Name: "key", Values: ["Name"] },
        { Name: "value", Values: [tags["Name"] ?? ""] },
      ],
    }),
  );
  const ids = [...new Set(found.flatMap(({ ResourceId: id }) => id ?? []))];
  const matching: string[] = [];
  for (const id of ids) {
    const { Tags: all = [] } = await ec2.send(
      new DescribeTagsCommand({ Filters: [{ Name: "resource-id", Values: [id] }] }),
    );
    const own = new Map(all.map(({ Key, Value }) => [Key, Value]));
    if (Object.entries(tags).every(([key, value]) => own.get(key) === value)) matching.push(id);
  }
  return matching;
}

/** The first part of an id, by the type of the resource in the state. */
const PREFIX: Record<string, string> = {
  "aws:ec2/instance:Instance": "i",
  "aws:ec2/eip:Eip": "eipalloc",
  "aws:ec2/vpc:Vpc": "vpc",
  "aws:ec2/subnet:Subnet": "subnet",
  "aws:ec2/internetGateway:InternetGateway": "igw",
  "aws:ec2/routeTable:RouteTable": "rtb",
  "aws:ec2/keyPair:KeyPair": "key",
  "aws:ec2/securityGroup:SecurityGroup": "sg",
  "aws:ec2/placementGroup:PlacementGroup": "pg",
  "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule": "sgr",
  "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule": "sgr",
};

async function recoverAws(ec2: EC2Client, { name, type, inputs }: Lost, say: Say): Promise<void> {
  const { routeTableId, destinationCidrBlock, subnetId } = inputs as Record<string, string>;
  if (type === "aws:ec2/route:Route") {
    await ec2
      .send(new DeleteRouteCommand({ RouteTableId: routeTableId, DestinationCidrBlock: destinationCidrBlock }))
      .then(() => say(`${name}: a route of ${routeTableId}, removed`))
      .catch(accept);
    return;
  }
  if (type === "aws:ec2/routeTableAssociation:RouteTableAssociation") {
    const { RouteTables: [table] = [] } = await ec2.send(
      new DescribeRouteTablesCommand({ RouteTableIds: [routeTableId ?? ""] }),
    );
    for (const { RouteTableAssociationId: id, SubnetId } of table?.Associations ?? [])
      if (SubnetId === subnetId && id !== undefined) {
        await ec2.send(new DisassociateRouteTableCommand({ AssociationId: id }));
        say(`${name}: ${id}, removed`);
      }
    return;
  }
  const prefix = PREFIX[type];
  const tags = inputs["tags"] as Tags | undefined;
  // An association of an address is made again over the old one; a provider is nothing in AWS.
  if (prefix === undefined || tags === undefined) return;
  const ids = (await taggedWith(ec2, tags)).filter((id) => id.startsWith(`${prefix}-`));
  const there = prefix === "i" ? await running(ec2, ids) : ids;
  if (there.length === 0) return;
  await removeFromRegion(ec2, there, (line) => say(`${name}: ${line}`));
}

async function running(ec2: EC2Client, ids: string[]): Promise<string[]> {
  if (ids.length === 0) return [];
  const { Reservations = [] } = await ec2.send(new DescribeInstancesCommand({ InstanceIds: ids }));
  return Reservations.flatMap(({ Instances = [] }) => Instances).flatMap(({ InstanceId: id, State }) =>
    id !== undefined && !["terminated", "shutting-down"].includes(State?.Name ?? "") ? [id] : [],
  );
}

function accept(error: unknown): void {
  if (!/NotFound/.test(errorName(error))) throw error;
}

async function aws({ root, stack }: LostInput, one: Lost, say: Say): Promise<void> {
  const settings = awsSettings.safeParse((await readSettings(root, stack)).aws).data ?? {};
  const { region, profile } = one.provider as { region: AwsSite["region"]; profile?: string };
  const access = accessOf({ region, ...(profile === undefined ? {} : { profile }) }, settings, process.env);
  try {
    await recoverAws(new EC2Client(clientSettings(access, "ec2")), one, say);
  } catch (error) {
    throw new Error(
      `${region}: ${credentialsProblem(error, access) ?? `${errorName(error)}: ${(error as Error).message.split("\n")[0]}`}`,
    );
  }
}

async function proxmox({ root, stack }: LostInput, one: Lost, say: Say): Promise<void> {
  if (!isOnHost(one.type)) return;
  const { hosts, skipped } = hostsOf([{ stack, ...(await readSettings(root, stack)) }]);
  const api = hosts.get(String(one.provider["endpoint"]));
  if (api === undefined)
    throw new Error(skipped.join("; ") || `${String(one.provider["endpoint"])} is in no site any more`);
  await recoverProxmox(api, one, say);
}

if (import.meta.main) {
  const input = JSON.parse(await text(process.stdin)) as LostInput;
  const say: Say = (line) => console.error(line);
  let stays = false;
  for (const one of input.lost) {
    try {
      if (one.type.startsWith("aws:")) await aws(input, one, say);
      else if (one.type.startsWith("proxmoxve:")) await proxmox(input, one, say);
    } catch (error) {
      stays = true;
      console.error(
        `stack ${input.stack}: an earlier run was killed while it made ${one.name} (${one.type}), and whether it exists could not be found out, or it stays (${(error as Error).message}); put that right and run this again; npm run meshbench -- leftovers --all ${input.stack} shows what is there, npm run pulumi -- refresh --clear-pending-creates -s ${input.stack} forgets it`,
      );
    }
  }
  process.exitCode = stays ? 1 : 0;
}
