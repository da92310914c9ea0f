/** What can be known to be wrong with AWS sites before AWS is asked. One sentence per problem. Pure. */
import { parseCidr } from "../addresses.ts";
import { dataGb, neededDiskGb } from "../data-size.ts";
import { missing, type Problem } from "../problem.ts";
import type { Config } from "../schema.ts";
import type { AwsSite } from "./aws.ts";
import { existingProblems } from "./aws-existing.ts";

/** The attributes after a family's generation: g stands for Graviton, an arm64 processor; a1 was the first of them. */
export function isArm(instanceType: string): boolean {
  const attributes = /^[a-z]+\d+([a-z-]*)\./.exec(instanceType)?.[1] ?? "";
  return instanceType.startsWith("a1.") || attributes.includes("g");
}

/** As EC2 calls it. */
export type Architecture = "x86_64" | "arm64";
export const architectureOf = (instanceType: string): Architecture => (isArm(instanceType) ? "arm64" : "x86_64");

/** t2, t3, t3a, t4g: processor time by credits, and no place in a cluster placement group. */
export const isBurstable = (instanceType: string): boolean => /^t\d/.test(instanceType);

const ROLES = ["database", "proxy", "driver"] as const;

/** Every type that the site's nodes may have, with the key that gave it. */
export function typesOf(site: AwsSite): { key: string; type: string }[] {
  return [
    { key: "instanceType", type: site.instanceType },
    ...ROLES.flatMap((role) =>
      site.instanceTypes[role] === undefined ? [] : [{ key: `instanceTypes.${role}`, type: site.instanceTypes[role] }],
    ),
  ];
}

/** `key`: meshbench:sites[0]. */
export function checkAwsSite(site: AwsSite, key: string, config: Config): Problem[] {
  const problems = existingProblems(site, key);
  const opened = site.securityGroupIds ?? site.jump ?? site.operatorCidr ?? config.operatorCidr;
  if (opened === undefined)
    problems.push(
      missing(
        "meshbench:operatorCidr",
        `your own address, such as 203.0.113.7/32: SSH to the nodes of "${site.name}" is open to this network only (0.0.0.0/0, written out, opens it to everybody)`,
      ),
    );
  for (const { key: name, type } of typesOf(site)) {
    if (site.placementGroup && isBurstable(type))
      problems.push(
        `${key}.placementGroup: true, with ${key}.${name} ${type}; expected a type that is not burstable, such as m6i.large, in a cluster placement group`,
      );
  }
  const kinds = new Set(typesOf(site).map(({ type }) => architectureOf(type)));
  if (site.ami !== undefined && kinds.size > 1)
    problems.push(
      `${key}.ami: one image for x86-64 and arm64 types (${typesOf(site)
        .map(({ type }) => type)
        .join(", ")}); expected types of one architecture, or no ami`,
    );
  if (new Set(site.zones).size !== site.zones.length)
    problems.push(`${key}.zones: ${site.zones.join(", ")}; expected each zone once`);
  if (site.placementGroup && site.zones.length > 1)
    problems.push(
      `${key}.placementGroup: true, with ${site.zones.length} zones in ${key}.zones; expected one, since a cluster placement group is inside one`,
    );
  const prefix = site.network === undefined ? 16 : parseCidr(site.network)?.prefix;
  if (prefix !== undefined && (prefix < 16 || prefix > 22))
    problems.push(`${key}.network: ${site.network}; expected /16 to /22`);
  const needed = neededDiskGb(config, true);
  if (site.nodes > 0 && site.disk.sizeGb < needed)
    problems.push(
      `${key}.disk.sizeGb: ${site.disk.sizeGb}; expected at least ${needed}: twice the ${dataGb(config).toFixed(1)} GB that meshbench:profile loads, and the system`,
    );
  const { sizeGb, iops, throughputMiBs } = site.disk;
  if (iops > 3000 && iops > sizeGb * 500)
    problems.push(
      `${key}.disk.iops: ${iops}; expected at most ${Math.max(3000, sizeGb * 500)} for ${sizeGb} GB (500 per GB)`,
    );
  if (throughputMiBs > 125 && throughputMiBs > iops / 4)
    problems.push(
      `${key}.disk.throughputMiBs: ${throughputMiBs}; expected at most ${Math.floor(iops / 4)}, a quarter of the ${iops} IOPS`,
    );
  return problems;
}
