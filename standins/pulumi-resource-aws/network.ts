import * as sdk from "@aws-sdk/client-ec2";
import type { Values } from "../pulumi-resource-command/values.ts";
import { orGone, retag, tagged, tagsOf } from "./client.ts";
import { between, isCidr, type Kind, open } from "./kind.ts";

type Tags = Record<string, string>;

/** Most kinds change in place by their tags alone. */
const retagged: Kind["update"] = async (id, inputs, state, { ec2 }) => {
  await retag(ec2, id, state["tags"], inputs["tags"]);
  return { ...state, ...inputs };
};

const vpcPrefix = (value: unknown): string | undefined => {
  const bits = Number(String(value).split("/")[1]);
  return (
    isCidr(String(value)) ??
    (bits >= 16 && bits <= 28 ? undefined : `"cidr_block" must be between /16 and /28, got /${bits}`)
  );
};

export const vpc: Kind = {
  required: [],
  optional: ["cidrBlock", "enableDnsSupport", "enableDnsHostnames", "instanceTenancy", "tags"],
  rules: { cidrBlock: vpcPrefix },
  replaced: ["cidrBlock"],
  computed: ["arn", "mainRouteTableId", "defaultSecurityGroupId", "ownerId"],
  async create(inputs, { ec2, region }) {
    const { cidrBlock, enableDnsHostnames, tags } = open<{
      cidrBlock: string;
      enableDnsHostnames?: boolean;
      tags?: Tags;
    }>(inputs);
    const { Vpc } = await ec2.send(new sdk.CreateVpcCommand({ CidrBlock: cidrBlock, ...tagged("vpc", tags) }));
    const id = Vpc?.VpcId ?? "";
    if (enableDnsHostnames)
      await ec2.send(new sdk.ModifyVpcAttributeCommand({ VpcId: id, EnableDnsHostnames: { Value: true } }));
    return {
      id,
      outputs: { ...inputs, arn: `arn:aws:ec2:${region}:${Vpc?.OwnerId ?? ""}:vpc/${id}`, ownerId: Vpc?.OwnerId ?? "" },
    };
  },
  async read(id, state, { ec2 }) {
    const found = await orGone(ec2.send(new sdk.DescribeVpcsCommand({ VpcIds: [id] })));
    const one = found?.Vpcs?.[0];
    return one && { ...state, cidrBlock: one.CidrBlock ?? "", tags: tagsOf(one.Tags) };
  },
  update: retagged,
  async remove(id, _state, { ec2 }) {
    await orGone(ec2.send(new sdk.DeleteVpcCommand({ VpcId: id })));
  },
};

export const subnet: Kind = {
  required: ["vpcId"],
  optional: ["cidrBlock", "availabilityZone", "mapPublicIpOnLaunch", "tags"],
  rules: { cidrBlock: isCidr },
  replaced: ["vpcId", "cidrBlock", "availabilityZone"],
  computed: ["arn", "availabilityZoneId"],
  async create(inputs, { ec2 }) {
    const given = open<{
      vpcId: string;
      cidrBlock: string;
      availabilityZone: string;
      mapPublicIpOnLaunch?: boolean;
      tags?: Tags;
    }>(inputs);
    const { Subnet } = await ec2.send(
      new sdk.CreateSubnetCommand({
        VpcId: given.vpcId,
        CidrBlock: given.cidrBlock,
        AvailabilityZone: given.availabilityZone,
        ...tagged("subnet", given.tags),
      }),
    );
    const id = Subnet?.SubnetId ?? "";
    if (given.mapPublicIpOnLaunch)
      await ec2.send(new sdk.ModifySubnetAttributeCommand({ SubnetId: id, MapPublicIpOnLaunch: { Value: true } }));
    return {
      id,
      outputs: { ...inputs, arn: Subnet?.SubnetArn ?? "", availabilityZoneId: Subnet?.AvailabilityZoneId ?? "" },
    };
  },
  async read(id, state, { ec2 }) {
    const found = await orGone(ec2.send(new sdk.DescribeSubnetsCommand({ SubnetIds: [id] })));
    const one = found?.Subnets?.[0];
    return (
      one && {
        ...state,
        cidrBlock: one.CidrBlock ?? "",
        availabilityZone: one.AvailabilityZone ?? "",
        mapPublicIpOnLaunch: one.MapPublicIpOnLaunch ?? false,
        tags: tagsOf(one.Tags),
      }
    );
  },
  update: retagged,
  async remove(id, _state, { ec2 }) {
    await orGone(ec2.send(new sdk.DeleteSubnetCommand({ SubnetId: id })));
  },
};

export const internetGateway: Kind = {
  required: [],
  optional: ["vpcId", "tags"],
  replaced: [],
  computed: ["arn", "ownerId"],
  async create(inputs, { ec2, region }) {
    const { vpcId, tags } = open<{ vpcId: string; tags?: Tags }>(inputs);
    const { InternetGateway } = await ec2.send(new sdk.CreateInternetGatewayCommand(tagged("internet-gateway", tags)));
    const id = InternetGateway?.InternetGatewayId ?? "";
    await ec2.send(new sdk.AttachInternetGatewayCommand({ InternetGatewayId: id, VpcId: vpcId }));
    return { id, outputs: { ...inputs, arn: `arn:aws:ec2:${region}::internet-gateway/${id}`, ownerId: "" } };
  },
  async read(id, state, { ec2 }) {
    const found = await orGone(ec2.send(new sdk.DescribeInternetGatewaysCommand({ InternetGatewayIds: [id] })));
    const one = found?.InternetGateways?.[0];
    return one && { ...state, vpcId: one.Attachments?.[0]?.VpcId ?? "", tags: tagsOf(one.Tags) };
  },
  update: retagged,
  async remove(id, state, { ec2 }) {
    await orGone(
      ec2.send(new sdk.DetachInternetGatewayCommand({ InternetGatewayId: id, VpcId: String(state["vpcId"]) })),
    );
    await orGone(ec2.send(new sdk.DeleteInternetGatewayCommand({ InternetGatewayId: id })));
  },
};

export const routeTable: Kind = {
  required: ["vpcId"],
  optional: ["tags"],
  replaced: ["vpcId"],
  computed: ["arn", "ownerId"],
  async create(inputs, { ec2, region }) {
    const { vpcId, tags } = open<{ vpcId: string; tags?: Tags }>(inputs);
    const { RouteTable } = await ec2.send(
      new sdk.CreateRouteTableCommand({ VpcId: vpcId, ...tagged("route-table", tags) }),
    );
    const id = RouteTable?.RouteTableId ?? "";
    return {
      id,
      outputs: { ...inputs, arn: `arn:aws:ec2:${region}::route-table/${id}`, ownerId: RouteTable?.OwnerId ?? "" },
    };
  },
  async read(id, state, { ec2 }) {
    const found = await orGone(ec2.send(new sdk.DescribeRouteTablesCommand({ RouteTableIds: [id] })));
    const one = found?.RouteTables?.[0];
    return one && { ...state, vpcId: one.VpcId ?? "", tags: tagsOf(one.Tags) };
  },
  update: retagged,
  async remove(id, _state, { ec2 }) {
    await orGone(ec2.send(new sdk.DeleteRouteTableCommand({ RouteTableId: id })));
  },
};

async function routeIn(state: Values, ec2: sdk.EC2Client): Promise<sdk.Route | undefined> {
  const found = await orGone(
    ec2.send(new sdk.DescribeRouteTablesCommand({ RouteTableIds: [String(state["routeTableId"])] })),
  );
  return found?.RouteTables?.[0]?.Routes?.find((route) => route.DestinationCidrBlock === state["destinationCidrBlock"]);
}

export const route: Kind = {
  required: ["routeTableId"],
  optional: ["destinationCidrBlock", "gatewayId"],
  rules: { destinationCidrBlock: isCidr },
  replaced: ["routeTableId", "destinationCidrBlock"],
  computed: ["state", "origin"],
  async create(inputs, { ec2 }) {
    const { routeTableId, destinationCidrBlock, gatewayId } = open<Record<string, string>>(inputs);
    await ec2.send(
      new sdk.CreateRouteCommand({
        RouteTableId: routeTableId,
        DestinationCidrBlock: destinationCidrBlock,
        GatewayId: gatewayId,
      }),
    );
    return {
      id: `r-${routeTableId}${destinationCidrBlock}`,
      outputs: { ...inputs, state: "active", origin: "CreateRoute" },
    };
  },
  async read(_id, state, { ec2 }) {
    const one = await routeIn(state, ec2);
    return one && { ...state, gatewayId: one.GatewayId ?? "" };
  },
  async remove(_id, state, { ec2 }) {
    await orGone(
      ec2.send(
        new sdk.DeleteRouteCommand({
          RouteTableId: String(state["routeTableId"]),
          DestinationCidrBlock: String(state["destinationCidrBlock"]),
        }),
      ),
    );
  },
};

export const routeTableAssociation: Kind = {
  required: ["routeTableId"],
  optional: ["subnetId", "gatewayId"],
  replaced: ["subnetId", "gatewayId"],
  computed: [],
  async create(inputs, { ec2 }) {
    const { routeTableId, subnetId } = open<Record<string, string>>(inputs);
    const made = await ec2.send(new sdk.AssociateRouteTableCommand({ RouteTableId: routeTableId, SubnetId: subnetId }));
    return { id: made.AssociationId ?? "", outputs: inputs };
  },
  async read(id, state, { ec2 }) {
    const found = await orGone(
      ec2.send(new sdk.DescribeRouteTablesCommand({ RouteTableIds: [String(state["routeTableId"])] })),
    );
    return found?.RouteTables?.[0]?.Associations?.some((a) => a.RouteTableAssociationId === id) ? state : undefined;
  },
  async remove(id, _state, { ec2 }) {
    await orGone(ec2.send(new sdk.DisassociateRouteTableCommand({ AssociationId: id })));
  },
};

/** Of the resource's own: an allocation belongs to the account and has no other inputs that matter here. */
export const eip: Kind = {
  required: [],
  optional: ["domain", "tags"],
  rules: {
    domain: (value) =>
      value === "vpc" ? undefined : `expected domain to be one of ["vpc"], got ${JSON.stringify(value)}`,
  },
  replaced: ["domain"],
  computed: ["allocationId", "publicIp", "publicDns", "arn"],
  async create(inputs, { ec2, region }) {
    const { tags } = open<{ tags?: Tags }>(inputs);
    const made = await ec2.send(new sdk.AllocateAddressCommand({ Domain: "vpc", ...tagged("elastic-ip", tags) }));
    const id = made.AllocationId ?? "";
    return {
      id,
      outputs: {
        ...inputs,
        allocationId: id,
        publicIp: made.PublicIp ?? "",
        publicDns: "",
        arn: `arn:aws:ec2:${region}::elastic-ip/${id}`,
      },
    };
  },
  async read(id, state, { ec2 }) {
    const found = await orGone(ec2.send(new sdk.DescribeAddressesCommand({ AllocationIds: [id] })));
    const one = found?.Addresses?.[0];
    return one && { ...state, publicIp: one.PublicIp ?? "", tags: tagsOf(one.Tags) };
  },
  update: retagged,
  async remove(id, _state, { ec2 }) {
    await orGone(ec2.send(new sdk.ReleaseAddressCommand({ AllocationId: id })));
  },
};

export const portRange = between(-1, 65_535);
