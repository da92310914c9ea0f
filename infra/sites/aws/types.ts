/** Which instance type a node has. Pure, and free of the provider's package. */
import type { AwsSite } from "../../config/sites/aws.ts";
import type { Role } from "../../topology.ts";

/** The type given for the first of the node's roles that has one of its own. */
export function typeOf(site: Pick<AwsSite, "instanceType" | "instanceTypes">, roles: Role[]): string {
  return roles.map((role) => site.instanceTypes[role]).find((type) => type !== undefined) ?? site.instanceType;
}

/** Families whose vCPUs count for the quotas of standard instances (A, C, D, H, I, M, R, T, Z). */
export const STANDARD = /^[acdhimrtz]\d/;
