/** A site of kind aws: what can be told about it, with defaults. Pure. */
import { z } from "zod";
import { networkOf, parseCidr } from "../addresses.ts";
import { AWS_REGIONS } from "./aws-regions.ts";
import { jumpHost, madeNodes, siteCommon } from "./common.ts";

/** 0.0.0.0/0 is a network like another here: nobody writes it by mistake. */
function isNetwork(text: string): boolean {
  if (text === "0.0.0.0/0") return true;
  const parsed = parseCidr(text);
  return parsed !== undefined && networkOf(parsed).first === parsed.address;
}

export const cidr = z
  .string()
  .refine(isNetwork, { error: "a network in CIDR form without host bits, such as 203.0.113.7/32" });
export const cidrs = z.union([cidr, z.array(cidr).min(1)]).transform((given) => [given].flat());

/** gp3's own limits; 3000 IOPS and 125 MiB/s are included in the price of every volume. */
const disk = z.strictObject({
  sizeGb: z.number().int().min(8).max(65_536).default(32),
  iops: z.number().int().min(3000).max(80_000).default(3000),
  throughputMiBs: z.number().int().min(125).max(2000).default(125),
});

const instanceType = z.string().regex(/^[a-z][a-z0-9-]*\.[a-z0-9-]+$/, "an EC2 instance type such as t3.medium");

const zoneLetter = z.string().regex(/^[a-f]$/, "the letter of an availability zone, a to f");

export const awsSite = z.strictObject({
  ...siteCommon,
  ...madeNodes,
  kind: z.literal("aws"),
  region: z.enum(AWS_REGIONS),
  /** A named profile of the operator's AWS configuration; default: what the environment says. */
  profile: z.string().min(1).optional(),
  /**
   * Letters of availability zones: [a, b] in us-east-1 are us-east-1a and us-east-1b. Nodes go round them in turn;
   * proxy and driver stand in the first.
   */
  zones: z.array(zoneLetter).min(1).default(["a"]),
  /** The VPC's own /16 to /22; default 10.64.0.0/16 to 10.79.0.0/16 by the site's mesh slot. */
  network: cidr.optional(),
  /** A VPC that is there already: none is made, nor gateway, routes or subnets, and `network` says nothing. */
  vpcId: z
    .string()
    .regex(/^vpc-[0-9a-f]{8,17}$/, "a VPC's id such as vpc-0123456789abcdef0")
    .optional(),
  /** Of that VPC, by the letter of the zone, one for each of `zones`. Public ones: with a route to an internet gateway. */
  subnetIds: z
    .record(zoneLetter, z.string().regex(/^subnet-[0-9a-f]{8,17}$/, "a subnet's id such as subnet-0123456789abcdef0"))
    .optional(),
  /**
   * Of that VPC; none is made then, and no rule: SSH from the operator, the mesh's UDP port between the nodes and from
   * the other sites, and anything out have to be allowed by these. EC2 takes at most 16.
   */
  securityGroupIds: z
    .array(z.string().regex(/^sg-[0-9a-f]{8,17}$/, "a security group's id such as sg-0123456789abcdef0"))
    .min(1)
    .max(16)
    .optional(),
  /**
   * No public address: SSH goes through `jump`, packages and the mesh through what the subnets have for the way out, a NAT
   * gateway. In a VPC that is there already only. Optional, not false by default: stacks that stand keep their runs' keys.
   */
  private: z.boolean().optional(),
  /** Through which SSH goes to the site's nodes; `operatorCidr` is where it calls them from. */
  jump: jumpHost.optional(),
  /** Who may reach SSH; default meshbench:operatorCidr. */
  operatorCidr: cidrs.optional(),
  /**
   * Addresses of peers in sites of other kinds, where they are known and fixed; default: the WireGuard port is open to
   * any address.
   */
  peerCidrs: cidrs.optional(),
  instanceType: instanceType.default("t3.medium"),
  /** Another type for some roles. */
  instanceTypes: z
    .strictObject({
      database: instanceType.optional(),
      proxy: instanceType.optional(),
      driver: instanceType.optional(),
    })
    .default({}),
  disk: disk.prefault({}),
  /** Of burstable types: unlimited goes on at full speed and costs, standard slows down to the baseline. */
  credits: z.enum(["unlimited", "standard"]).default("unlimited"),
  /** Default: the newest one of `debian` of Debian's own account at the moment a node is created. */
  ami: z
    .string()
    .regex(/^ami-[0-9a-f]{8,17}$/, "an image id such as ami-0123456789abcdef0")
    .optional(),
  /** All nodes of the site close together in one zone: types that allow a cluster placement group only. */
  placementGroup: z.boolean().default(false),
  /** `maxPrice`: USD per hour; EC2 takes nothing below a tenth of a cent, and keeps six decimals. */
  spot: z.union([z.boolean(), z.strictObject({ maxPrice: z.number().min(0.001).max(1000) })]).default(false),
  /** Allow a change that makes database nodes anew. */
  replaceNodes: z.boolean().default(false),
  /** Make database nodes one after the other, and take changes that stop them (another type) in the same way. */
  rolling: z.boolean().default(false),
  /** How long a new node may take until SSH answers and cloud-init is done. */
  readyTimeoutSeconds: z.number().int().min(30).max(1800).default(300),
});

export type AwsSite = z.infer<typeof awsSite>;
