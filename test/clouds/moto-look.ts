/** Looks into moto, and does behind our back what AWS or a colleague might do. */
import {
  DescribeAddressesCommand,
  DescribeInstancesCommand,
  DescribeSecurityGroupsCommand,
  DescribeTagsCommand,
  DescribeVpcsCommand,
  EC2Client,
  TerminateInstancesCommand,
} from "@aws-sdk/client-ec2";

export class MotoLook {
  private readonly ec2: EC2Client;

  constructor(url: string, region = "us-east-1") {
    this.ec2 = new EC2Client({
      region,
      endpoint: url,
      credentials: { accessKeyId: "stand-in", secretAccessKey: "stand-in" },
    });
  }

  /** Ids of running instances by their Name. */
  async instances(): Promise<Record<string, string>> {
    const { Reservations = [] } = await this.ec2.send(
      new DescribeInstancesCommand({ Filters: [{ Name: "instance-state-name", Values: ["running"] }] }),
    );
    return Object.fromEntries(
      Reservations.flatMap((r) => r.Instances ?? []).map((i) => [
        i.Tags?.find((t) => t.Key === "Name")?.Value ?? "?",
        i.InstanceId ?? "?",
      ]),
    );
  }

  async typeOf(name: string): Promise<string | undefined> {
    const { Reservations = [] } = await this.ec2.send(
      new DescribeInstancesCommand({
        Filters: [
          { Name: "tag:Name", Values: [name] },
          { Name: "instance-state-name", Values: ["running"] },
        ],
      }),
    );
    return Reservations[0]?.Instances?.[0]?.InstanceType;
  }

  async terminate(name: string): Promise<void> {
    await this.ec2.send(new TerminateInstancesCommand({ InstanceIds: [(await this.instances())[name] ?? ""] }));
  }

  /** Tags of everything that carries our project's. */
  async tags(): Promise<Record<string, string>[]> {
    const { Tags = [] } = await this.ec2.send(new DescribeTagsCommand({}));
    const ours = Tags.filter(({ Key }) => Key === "project").map(({ ResourceId }) => ResourceId);
    return ours.map((id) =>
      Object.fromEntries(
        Tags.filter(({ ResourceId }) => ResourceId === id).map(({ Key, Value }) => [Key ?? "", Value ?? ""]),
      ),
    );
  }

  /** What our stacks have left: everything with their tag. */
  async leftovers(): Promise<string[]> {
    const [vpcs, groups, addresses] = await Promise.all([
      this.ec2.send(new DescribeVpcsCommand({})),
      this.ec2.send(new DescribeSecurityGroupsCommand({})),
      this.ec2.send(new DescribeAddressesCommand({})),
    ]);
    const ours = (list: { Tags?: { Key?: string | undefined }[] | undefined }[] | undefined, what: string): string[] =>
      (list ?? []).filter((x) => x.Tags?.some((t) => t.Key === "project")).map(() => what);
    return [
      ...ours(vpcs.Vpcs, "VPC"),
      ...ours(groups.SecurityGroups, "security group"),
      ...ours(addresses.Addresses, "address"),
      ...Object.keys(await this.instances()).map((name) => `instance ${name}`),
    ];
  }
}
