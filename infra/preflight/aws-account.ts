/** Questions to AWS through its own SDK. Every answer is a plain value; errors are the SDK's. */
import {
  type _InstanceType,
  DescribeAddressesCommand,
  DescribeImagesCommand,
  DescribeInstancesCommand,
  DescribeInstanceTypeOfferingsCommand,
  DescribeInstanceTypesCommand,
  EC2Client,
} from "@aws-sdk/client-ec2";
import { GetServiceQuotaCommand, ServiceQuotasClient } from "@aws-sdk/client-service-quotas";
import { GetCallerIdentityCommand, STSClient } from "@aws-sdk/client-sts";
import { DEBIAN_NAME, DEBIAN_OWNER } from "../sites/aws-image.ts";
import type { Owned } from "./owned.ts";

export const errorName = (error: unknown): string => (error as { Code?: string }).Code ?? (error as Error).name;

type Tagged = { Tags?: { Key?: string | undefined; Value?: string | undefined }[] | undefined };

const isOwn =
  (owned: Owned) =>
  ({ Tags = [] }: Tagged): boolean =>
    (["project", "stack"] as const).every((key) => Tags.some((tag) => tag.Key === key && tag.Value === owned[key]));

export class AwsAccount {
  private readonly ec2: EC2Client;
  private readonly quotas: ServiceQuotasClient;
  private readonly sts: STSClient;

  constructor(region: string, profile: string | undefined) {
    const settings = {
      region,
      ...(profile === undefined ? {} : { profile }),
      maxAttempts: 2,
      requestHandler: { connectionTimeout: 4000, requestTimeout: 15_000 },
    };
    this.ec2 = new EC2Client(settings);
    this.quotas = new ServiceQuotasClient(settings);
    this.sts = new STSClient(settings);
  }

  /** The account's number. */
  async identity(): Promise<string> {
    return (await this.sts.send(new GetCallerIdentityCommand({}))).Account ?? "";
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

  /** vCPUs of running instances that are not the stack's own. */
  async running(owned: Owned, spot: boolean): Promise<number> {
    const found = await this.ec2.send(
      new DescribeInstancesCommand({
        Filters: [{ Name: "instance-state-name", Values: ["pending", "running"] }],
        MaxResults: 1000,
      }),
    );
    const others = (found.Reservations ?? [])
      .flatMap(({ Instances = [] }) => Instances)
      .filter((one) => !isOwn(owned)(one) && (one.InstanceLifecycle === "spot") === spot);
    return others.reduce(
      (sum, { CpuOptions }) => sum + (CpuOptions?.CoreCount ?? 1) * (CpuOptions?.ThreadsPerCore ?? 1),
      0,
    );
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
  async images(id: string | undefined): Promise<{ id: string; name: string; architecture: string }[]> {
    const found = await this.ec2
      .send(
        new DescribeImagesCommand(
          id === undefined
            ? {
                Owners: [DEBIAN_OWNER],
                Filters: [
                  { Name: "name", Values: [DEBIAN_NAME] },
                  { Name: "architecture", Values: ["x86_64"] },
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
