/** What a killed run was making in AWS and no state knows: found by all of its tags, and taken away. */
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
import type { Lost, LostInput, Say } from "./lost-item.ts";

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

export async function recover({ root, stack }: LostInput, one: Lost, say: Say): Promise<void> {
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
