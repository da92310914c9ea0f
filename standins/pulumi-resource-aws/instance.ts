/**
 * An instance lives twice: in moto, which knows subnets, images, keys and groups, and as a node on this machine, which
 * boots.
 */
import * as sdk from "@aws-sdk/client-ec2";
import { isObject, type Value } from "../pulumi-resource-command/values.ts";
import { orGone, retag, tagged, tagsOf } from "./client.ts";
import { between, type Call, type Kind, oneOf, open } from "./kind.ts";
import { lab, labName } from "./lab.ts";

interface Inputs {
  ami: string;
  instanceType: string;
  subnetId: string;
  associatePublicIpAddress?: boolean;
  keyName?: string;
  vpcSecurityGroupIds?: string[];
  userData?: string;
  tags?: Record<string, string>;
  volumeTags?: Record<string, string>;
  instanceMarketOptions?: { marketType?: string };
  rootBlockDevice?: {
    volumeSize?: number;
    volumeType?: string;
    iops?: number;
    throughput?: number;
    tags?: Record<string, string>;
  };
  metadataOptions?: { httpTokens?: "required" | "optional" };
}

const oneNamed = (name: string, variable: string): boolean => (process.env[variable] ?? "").split(",").includes(name);

function nested(allowed: Record<string, (value: Value) => string | undefined>) {
  return (value: Value): string | undefined => {
    if (!isObject(value)) return "expected an object";
    for (const [key, inner] of Object.entries(value)) {
      const rule = allowed[key];
      if (!rule) return `"${key}" is no argument here`;
      const reason = inner === null ? undefined : rule(inner);
      if (reason) return `${key}: ${reason}`;
    }
    return undefined;
  };
}
const any = (): undefined => undefined;

export const instance: Kind = {
  required: [],
  optional: [
    "ami",
    "instanceType",
    "subnetId",
    "associatePublicIpAddress",
    "vpcSecurityGroupIds",
    "keyName",
    "userData",
    "metadataOptions",
    "rootBlockDevice",
    "creditSpecification",
    "instanceMarketOptions",
    "volumeTags",
    "tags",
  ],
  rules: {
    associatePublicIpAddress: oneOf(true, false),
    metadataOptions: nested({
      httpEndpoint: oneOf("enabled", "disabled"),
      httpTokens: oneOf("optional", "required"),
      httpPutResponseHopLimit: between(1, 64),
    }),
    rootBlockDevice: nested({
      volumeType: oneOf("standard", "io1", "io2", "gp2", "sc1", "st1", "gp3"),
      volumeSize: between(1, 65_536),
      iops: between(100, 256_000),
      throughput: between(125, 2000),
      encrypted: oneOf(true, false),
      deleteOnTermination: oneOf(true, false),
      tags: any,
    }),
    creditSpecification: (value, inputs) =>
      nested({ cpuCredits: oneOf("standard", "unlimited") })(value) ??
      (/^t\d/.test(String(inputs["instanceType"]))
        ? undefined
        : `The ${String(inputs["instanceType"])} instance type does not support specifying CpuCredits.`),
    volumeTags: (value, inputs) =>
      isObject(value) && isObject(inputs["rootBlockDevice"]) && inputs["rootBlockDevice"]["tags"] !== undefined
        ? '"root_block_device.0.tags": conflicts with volume_tags'
        : undefined,
    instanceMarketOptions: nested({ marketType: oneOf("spot", "capacity-block"), spotOptions: any }),
    userData: (value) =>
      Buffer.byteLength(String(value)) <= 16_384
        ? undefined
        : "expected length of user_data to be in the range (0 - 16384)",
  },
  replaced: [
    "ami",
    "subnetId",
    "associatePublicIpAddress",
    "keyName",
    "instanceMarketOptions",
    "rootBlockDevice.encrypted",
  ],
  computed: [
    "arn",
    "privateIp",
    "publicIp",
    "privateDns",
    "publicDns",
    "instanceState",
    "availabilityZone",
    "primaryNetworkInterfaceId",
  ],

  async create(inputs, call) {
    const given = open<Inputs>(inputs);
    const name = given.tags?.["Name"] ?? call.name;
    if (oneNamed(name, "MESHBENCH_STANDIN_NO_CAPACITY"))
      throw new Error(
        `creating EC2 Instance: operation error EC2: RunInstances, InsufficientInstanceCapacity: We currently do not have sufficient ${given.instanceType} capacity in the Availability Zone you requested (${await zoneOf(given.subnetId, call)}). Our system will be working on provisioning additional capacity.`,
      );
    if (process.env["MESHBENCH_STANDIN_DENY_UNTAGGED_VOLUMES"] && Object.keys(given.volumeTags ?? {}).length === 0)
      throw new Error(
        "creating EC2 Instance: operation error EC2: RunInstances, UnauthorizedOperation: You are not authorized to perform this operation. User: arn:aws:iam::123456789012:user/stand-in is not authorized to perform: ec2:RunInstances on resource: arn:aws:ec2:*:123456789012:volume/* with an explicit deny in a service control policy.",
      );
    const image = await requireImage(given.ami, call);
    const made = await call.ec2.send(
      new sdk.RunInstancesCommand({
        MinCount: 1,
        MaxCount: 1,
        ImageId: given.ami,
        InstanceType: given.instanceType as sdk._InstanceType,
        ...where(given),
        ...(given.keyName === undefined ? {} : { KeyName: given.keyName }),
        UserData: Buffer.from(given.userData ?? "").toString("base64"),
        TagSpecifications: [
          ...(tagged("instance", given.tags).TagSpecifications ?? []),
          ...(tagged("volume", given.volumeTags).TagSpecifications ?? []),
        ],
        MetadataOptions: { HttpTokens: given.metadataOptions?.httpTokens ?? "optional" },
      }),
    );
    const one = made.Instances?.[0];
    const id = one?.InstanceId ?? "";
    // A run that is killed now knows nothing of an instance that AWS has.
    if (oneNamed(name, "MESHBENCH_STANDIN_HANG")) await new Promise((resolve) => setTimeout(resolve, 600_000));
    const isPublic = given.associatePublicIpAddress ?? (await mapsPublicAddresses(given.subnetId, call));
    const node = await boot(name, given, image, isPublic, call).catch(async (error: unknown) => {
      await call.ec2.send(new sdk.TerminateInstancesCommand({ InstanceIds: [id] }));
      throw error;
    });
    return {
      id,
      outputs: {
        ...inputs,
        arn: `arn:aws:ec2:${call.region}::instance/${id}`,
        privateIp: node.address,
        publicIp: isPublic ? node.address : "",
        privateDns: "",
        publicDns: "",
        instanceState: "running",
        availabilityZone: one?.Placement?.AvailabilityZone ?? "",
        primaryNetworkInterfaceId: one?.NetworkInterfaces?.[0]?.NetworkInterfaceId ?? "",
      },
    };
  },

  async read(id, state, { ec2 }) {
    const one = await described(ec2, id);
    if (!one) return undefined;
    return {
      ...state,
      instanceType: one.InstanceType ?? "",
      instanceState: one.State?.Name ?? "",
      tags: tagsOf(one.Tags),
    };
  },

  async update(id, inputs, state, call) {
    const after = open<Inputs>(inputs),
      before = open<Inputs>(state);
    const disk = (given: Inputs): number => given.rootBlockDevice?.volumeSize ?? 8;
    if (disk(after) < disk(before))
      throw new Error(
        `updating EC2 Instance (${id}) volume: InvalidParameterValue: New size cannot be smaller than existing size`,
      );
    await retag(call.ec2, id, state["tags"], inputs["tags"]);
    for (const { Ebs } of (await described(call.ec2, id))?.BlockDeviceMappings ?? [])
      if (Ebs?.VolumeId !== undefined) await retag(call.ec2, Ebs.VolumeId, state["volumeTags"], inputs["volumeTags"]);
    if (JSON.stringify(after.vpcSecurityGroupIds) !== JSON.stringify(before.vpcSecurityGroupIds))
      await call.ec2.send(
        new sdk.ModifyInstanceAttributeCommand({ InstanceId: id, Groups: after.vpcSecurityGroupIds ?? [] }),
      );
    const name = before.tags?.["Name"] ?? call.name;
    if (after.instanceType !== before.instanceType || after.userData !== before.userData) {
      if (before.instanceMarketOptions?.marketType === "spot")
        throw new Error(
          `stopping EC2 Instance (${id}): operation error EC2: StopInstances, UnsupportedOperation: You can't stop the Spot Instance '${id}' because it is associated with a one-time Spot Instance request. You can only stop Spot Instances associated with persistent Spot Instance requests.`,
        );
      // What EC2 does to an instance for either: stop, change, start. The disk stays.
      await call.ec2.send(new sdk.StopInstancesCommand({ InstanceIds: [id] }));
      await lab(["node", "stop", "--lab", labName(), "--name", name], call.log);
      await call.ec2.send(
        new sdk.ModifyInstanceAttributeCommand({ InstanceId: id, InstanceType: { Value: after.instanceType } }),
      );
      await call.ec2.send(new sdk.StartInstancesCommand({ InstanceIds: [id] }));
      await lab(["node", "start", "--lab", labName(), "--name", name], call.log);
    }
    return { ...state, ...inputs };
  },

  async remove(id, state, { ec2, log, name }) {
    const node = open<Inputs>(state).tags?.["Name"] ?? name;
    await lab(["node", "delete", "--lab", labName(), "--name", node], log);
    await orGone(ec2.send(new sdk.TerminateInstancesCommand({ InstanceIds: [id] })));
  },
};

async function subnetOf(id: string, { ec2 }: Call): Promise<sdk.Subnet | undefined> {
  const { Subnets = [] } = await ec2.send(new sdk.DescribeSubnetsCommand({ SubnetIds: [id] }));
  return Subnets[0];
}
const zoneOf = async (subnet: string, call: Call): Promise<string> =>
  (await subnetOf(subnet, call))?.AvailabilityZone ?? "";
const mapsPublicAddresses = async (subnet: string, call: Call): Promise<boolean> =>
  (await subnetOf(subnet, call))?.MapPublicIpOnLaunch ?? false;

/** As the provider does: what is said of the public address is a property of the network interface. */
function where({
  subnetId,
  vpcSecurityGroupIds = [],
  associatePublicIpAddress,
}: Inputs): Partial<sdk.RunInstancesCommandInput> {
  return associatePublicIpAddress === undefined
    ? { SubnetId: subnetId, SecurityGroupIds: vpcSecurityGroupIds }
    : {
        NetworkInterfaces: [
          {
            DeviceIndex: 0,
            SubnetId: subnetId,
            Groups: vpcSecurityGroupIds,
            AssociatePublicIpAddress: associatePublicIpAddress,
          },
        ],
      };
}

/** @returns the image's name. */
async function requireImage(ami: string, { ec2 }: Call): Promise<string> {
  const found = await orGone(ec2.send(new sdk.DescribeImagesCommand({ ImageIds: [ami] })));
  if (!found?.Images?.length)
    throw new Error(
      `creating EC2 Instance: operation error EC2: RunInstances, InvalidAMIID.NotFound: The image id '[${ami}]' does not exist`,
    );
  return found.Images[0]?.Name ?? "";
}

export async function described(ec2: sdk.EC2Client, id: string): Promise<sdk.Instance | undefined> {
  const found = await orGone(ec2.send(new sdk.DescribeInstancesCommand({ InstanceIds: [id] })));
  const one = found?.Reservations?.[0]?.Instances?.[0];
  return one && !["terminated", "shutting-down"].includes(one.State?.Name ?? "") ? one : undefined;
}

/**
 * Boots the node with the instance's user data; what AWS would have at the same name from before is not ours to reuse.
 */
async function boot(
  name: string,
  given: Inputs,
  image: string,
  isPublic: boolean,
  { log }: Call,
): Promise<{ address: string }> {
  const { site, project, stack, owner, expires, run } = given.tags ?? {};
  if (site === undefined)
    throw new Error(`instance ${name} has no tag "site", by which this stand-in chooses the laboratory's site`);
  const labels = Object.fromEntries(
    Object.entries({ project, stack, owner, expires, run }).filter(([, value]) => value !== undefined),
  );
  const node = await lab<{ address: string }>(["node", "create"], log, {
    lab: labName(),
    site,
    name,
    labels,
    // A node of the other release has its image built first.
    timeoutSeconds: 180,
    debian: image.startsWith("debian-13-") ? 13 : 12,
    ...(process.env["MESHBENCH_STANDIN_BARE"] ? { bare: { user: "admin" } } : {}),
    ...(given.userData === undefined ? {} : { userData: given.userData }),
  });
  if (!isPublic) await access(name, "closed", log);
  if (oneNamed(name, "MESHBENCH_STANDIN_SILENT")) await lab(["node", "kill", "--lab", labName(), "--name", name], log);
  return node;
}

/** Without a public address nobody outside the VPC has a way to it. */
export const access = (name: string, operator: "open" | "closed", log: Call["log"]): Promise<unknown> =>
  lab(["node", "access", "--lab", labName(), "--name", name, "--operator", operator], log);
