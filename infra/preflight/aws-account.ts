/** Questions to AWS through its own SDK. Every answer is a plain value; errors are the SDK's. */
import {
  type _InstanceType,
  DescribeAddressesCommand,
  DescribeImagesCommand,
  DescribeInstanceTypeOfferingsCommand,
  DescribeInstanceTypesCommand,
  DescribeRegionsCommand,
  DescribeSecurityGroupsCommand,
  DescribeSubnetsCommand,
  DescribeVpcsCommand,
  EC2Client,
  paginateDescribeInstances,
  paginateDescribeRouteTables,
  paginateDescribeVpcs,
} from "@aws-sdk/client-ec2";
import { GetServiceQuotaCommand, ServiceQuotasClient } from "@aws-sdk/client-service-quotas";
import { GetCallerIdentityCommand, STSClient } from "@aws-sdk/client-sts";
import type { Architecture } from "../config/sites/aws-check.ts";
import type { DebianRelease } from "../config/sites/common.ts";
import type { AwsAccess } from "../sites/aws/access.ts";
import { DEBIAN_OWNER, debianName } from "../sites/aws/image.ts";
import { STANDARD } from "../sites/aws/types.ts";
import { clientSettings, errorName } from "./aws-clients.ts";
import type { Owned } from "./owned.ts";

export { errorName } from "./aws-clients.ts";

/** A route table: subnets without one of their own have the main one. `out`: id of a gateway; undefined: nowhere. */
export interface Routes {
  main: boolean;
  subnets: string[];
  out?: string;
}

type Tagged = { Tags?: { Key?: string | undefined; Value?: string | undefined }[] | undefined };

/** By the stack's id alone: colleagues in the same account call their stacks the same. */
export const isOwn =
  (owned: Owned) =>
  ({ Tags = [] }: Tagged): boolean =>
    owned.id !== undefined && Tags.some(({ Key, Value }) => Key === "stack-id" && Value === owned.id);

export class AwsAccount {
  private readonly ec2: EC2Client;
  private readonly quotas: ServiceQuotasClient;
  private readonly sts: STSClient;

  private readonly access: AwsAccess;

  constructor(access: AwsAccess) {
    this.access = access;
    this.ec2 = new EC2Client(clientSettings(access, "ec2"));
    this.quotas = new ServiceQuotasClient(clientSettings(access, "servicequotas"));
    this.sts = new STSClient(clientSettings(access, "sts"));
  }

  /** The account's number. */
  async identity(): Promise<string> {
    return (await this.sts.send(new GetCallerIdentityCommand({}))).Account ?? "";
  }

  /**
   * "opt-in-not-required", "opted-in" or "not-opted-in", told by a region that every account has: one that is not
   * enabled accepts nobody.
   */
  async regionStatus(): Promise<string | undefined> {
    const { region } = this.access;
    const always = region.startsWith("cn-")
      ? "cn-north-1"
      : region.startsWith("us-gov-")
        ? "us-gov-west-1"
        : "us-east-1";
    const { Regions = [] } = await new EC2Client(clientSettings(this.access, "ec2", always)).send(
      new DescribeRegionsCommand({ AllRegions: true, RegionNames: [region] }),
    );
    return Regions[0]?.OptInStatus;
  }

  /** Zones that offer the type. */
  async offerings(type: string): Promise<string[]> {
    const found = await this.ec2.send(
      new DescribeInstanceTypeOfferingsCommand({
        LocationType: "availability-zone",
        Filters: [{ Name: "instance-type", Values: [type] }],
      }),
    );
    return (found.InstanceTypeOfferings ?? []).flatMap(({ Location }) => (Location === undefined ? [] : [Location]));
  }

  async virtualCpus(types: string[]): Promise<Map<string, number>> {
    const found = await this.ec2.send(new DescribeInstanceTypesCommand({ InstanceTypes: types as _InstanceType[] }));
    return new Map(
      (found.InstanceTypes ?? []).map((type) => [type.InstanceType ?? "", type.VCpuInfo?.DefaultVCpus ?? 0]),
    );
  }

  /** vCPUs of running instances of the standard families that are not the stack's own. */
  async running(owned: Owned, spot: boolean): Promise<number> {
    let sum = 0;
    const question = { Filters: [{ Name: "instance-state-name", Values: ["pending", "running"] }] };
    for await (const { Reservations = [] } of paginateDescribeInstances({ client: this.ec2 }, question))
      for (const one of Reservations.flatMap(({ Instances = [] }) => Instances))
        if (!isOwn(owned)(one) && (one.InstanceLifecycle === "spot") === spot && STANDARD.test(one.InstanceType ?? ""))
          sum += (one.CpuOptions?.CoreCount ?? 1) * (one.CpuOptions?.ThreadsPerCore ?? 1);
    return sum;
  }

  /** VPCs that are not the stack's own, the default one among them. */
  async networks(owned: Owned): Promise<number> {
    let count = 0;
    for await (const { Vpcs = [] } of paginateDescribeVpcs({ client: this.ec2 }, {}))
      count += Vpcs.filter((vpc) => !isOwn(owned)(vpc)).length;
    return count;
  }

  /** The VPC's networks in CIDR form; undefined when the region has no such VPC. Filters find nothing where ids fail. */
  async vpc(id: string): Promise<string[] | undefined> {
    const found = await this.ec2.send(new DescribeVpcsCommand({ Filters: [{ Name: "vpc-id", Values: [id] }] }));
    const vpc = found.Vpcs?.[0];
    if (vpc === undefined) return undefined;
    const more = (vpc.CidrBlockAssociationSet ?? [])
      .filter(({ CidrBlockState }) => CidrBlockState?.State === "associated")
      .map(({ CidrBlock }) => CidrBlock);
    return [...new Set([vpc.CidrBlock, ...more])].filter((cidr) => cidr !== undefined);
  }

  /** Those of the ids that the region has: each with its VPC and the name of its zone. */
  async subnets(ids: string[]): Promise<{ id: string; vpc: string; zone: string }[]> {
    const found = await this.ec2.send(new DescribeSubnetsCommand({ Filters: [{ Name: "subnet-id", Values: ids }] }));
    return (found.Subnets ?? []).map(({ SubnetId = "", VpcId = "", AvailabilityZone = "" }) => ({
      id: SubnetId,
      vpc: VpcId,
      zone: AvailabilityZone,
    }));
  }

  /** The VPC's route tables: whose they are, and where they send what has no route of its own. */
  async routes(vpc: string): Promise<Routes[]> {
    const all: Routes[] = [];
    const question = { Filters: [{ Name: "vpc-id", Values: [vpc] }] };
    for await (const { RouteTables = [] } of paginateDescribeRouteTables({ client: this.ec2 }, question))
      for (const { Associations = [], Routes = [] } of RouteTables) {
        const out = Routes.find((r) => r.DestinationCidrBlock === "0.0.0.0/0" && r.State !== "blackhole");
        all.push({
          main: Associations.some(({ Main }) => Main === true),
          subnets: Associations.flatMap(({ SubnetId }) => SubnetId ?? []),
          ...(out === undefined ? {} : { out: out.GatewayId ?? out.NatGatewayId ?? "another way" }),
        });
      }
    return all;
  }

  /** Those of the ids that the region has, each with its VPC. */
  async securityGroups(ids: string[]): Promise<{ id: string; vpc: string }[]> {
    const found = await this.ec2.send(
      new DescribeSecurityGroupsCommand({ Filters: [{ Name: "group-id", Values: ids }] }),
    );
    return (found.SecurityGroups ?? []).map(({ GroupId = "", VpcId = "" }) => ({ id: GroupId, vpc: VpcId }));
  }

  /** Elastic IPs that are not the stack's own. */
  async addresses(owned: Owned): Promise<number> {
    return ((await this.ec2.send(new DescribeAddressesCommand({}))).Addresses ?? []).filter(
      (address) => !isOwn(owned)(address),
    ).length;
  }

  async quota(service: string, code: string): Promise<number> {
    const found = await this.quotas.send(new GetServiceQuotaCommand({ ServiceCode: service, QuotaCode: code }));
    return found.Quota?.Value ?? Infinity;
  }

  /** The image of that id, or Debian's own, the newest last. */
  async images(
    id: string | undefined,
    release: DebianRelease,
    architecture: Architecture,
  ): Promise<{ id: string; name: string; architecture: string }[]> {
    const found = await this.ec2
      .send(
        new DescribeImagesCommand(
          id === undefined
            ? {
                Owners: [DEBIAN_OWNER],
                Filters: [
                  { Name: "name", Values: [debianName(release, architecture)] },
                  { Name: "architecture", Values: [architecture] },
                ],
              }
            : { ImageIds: [id] },
        ),
      )
      .catch((error: unknown) => {
        if (/^InvalidAMIID/.test(errorName(error))) return { Images: [] };
        throw error;
      });
    return (found.Images ?? [])
      .map((image) => ({ id: image.ImageId ?? "", name: image.Name ?? "", architecture: image.Architecture ?? "" }))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  }
}
