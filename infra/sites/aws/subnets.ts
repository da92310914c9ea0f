/** Which networks a VPC and its subnets have. Pure. */
import { formatAddress, parseCidr } from "../../config/addresses.ts";
import type { AwsSite } from "../../config/sites/aws.ts";

/** Subnets of a VPC are its sixteenths, one per letter of a zone. */
const SUBNET_BITS = 4;

/**
 * Ten times sixty-four: out of the way of the usual 10.0, 10.1, 172.16 and 192.168, and of the mesh's default 10.99.
 */
const FIRST_NETWORK = 64;

/**
 * The VPC's network: the one given, or one of sixteen /16 by the site's mesh slot, which no other site of the stack
 * has.
 */
export const vpcNetwork = (site: Pick<AwsSite, "network">, slot: number): string =>
  site.network ?? `10.${FIRST_NETWORK + slot}.0.0/16`;

/**
 * The subnet of a zone depends on its letter alone: adding or removing a zone moves no other.
 * Throws a RangeError for a network that is too small or a letter beyond p.
 */
export function zoneSubnet(network: string, zone: string): string {
  const parsed = parseCidr(network);
  const index = zone.charCodeAt(0) - "a".charCodeAt(0);
  if (!parsed || parsed.prefix + SUBNET_BITS > 28)
    throw new RangeError(`a VPC of ${network} has no room for subnets, which need /28 or more`);
  if (!(index >= 0 && index < 2 ** SUBNET_BITS)) throw new RangeError(`zone "${zone}" has no subnet of its own`);
  const prefix = parsed.prefix + SUBNET_BITS;
  return `${formatAddress(parsed.address + index * 2 ** (32 - prefix))}/${prefix}`;
}

/**
 * Database nodes go round the zones in the order of their numbers; the proxy's and the driver's own nodes stand in the
 * first.
 */
export function zoneOf(zones: string[], databaseIndex: number | undefined): string {
  return zones[databaseIndex === undefined ? 0 : databaseIndex % zones.length]!;
}
