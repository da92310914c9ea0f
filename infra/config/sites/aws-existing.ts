/** A site in a VPC that is there already, or behind a jump host: which keys belong together. Pure. */
import { missing, type Problem } from "../problem.ts";
import type { AwsSite } from "./aws.ts";

/** One sentence per problem; `key` is the site's: meshbench:sites[0]. */
export function existingProblems(site: AwsSite, key: string): Problem[] {
  const { vpcId, subnetIds, securityGroupIds } = site;
  const problems: Problem[] = [];
  const subnets = Object.entries(subnetIds ?? {});
  if (vpcId === undefined) {
    if (subnetIds !== undefined)
      problems.push(
        `${key}.subnetIds: ${subnets.map(([, id]) => id).join(", ") || "none"}; expected with ${key}.vpcId, the VPC that they are in`,
      );
    if (securityGroupIds !== undefined)
      problems.push(
        `${key}.securityGroupIds: ${securityGroupIds.join(", ")}; expected with ${key}.vpcId, the VPC that they belong to`,
      );
  } else {
    if (site.network !== undefined)
      problems.push(
        `${key}.network: ${site.network}; expected no such key with ${key}.vpcId: a VPC that is there already has its network`,
      );
    const lacking = site.zones.filter((zone) => subnetIds?.[zone] === undefined);
    const each = `with ${key}.vpcId a subnet for each of ${key}.zones (${site.zones.join(", ")}), such as {${site.zones[0]}: subnet-0123456789abcdef0}`;
    if (subnets.length === 0 && lacking.length > 0) problems.push(missing(`${key}.subnetIds`, each));
    else if (lacking.length > 0) problems.push(`${key}.subnetIds: none for ${lacking.join(", ")}; expected ${each}`);
    for (const [zone, id] of subnets.filter(([letter]) => !site.zones.includes(letter)))
      problems.push(
        `${key}.subnetIds.${zone}: ${id}; expected one of ${key}.zones (${site.zones.join(", ")}), or ${zone} among them`,
      );
  }
  return [...problems, ...ruleProblems(site, key), ...jumpProblems(site, key)];
}

/** Who may reach the nodes: said once. */
function ruleProblems(site: AwsSite, key: string): Problem[] {
  const problems: Problem[] = [];
  if (site.securityGroupIds !== undefined)
    for (const name of ["operatorCidr", "peerCidrs"] as const)
      if (site[name] !== undefined)
        problems.push(
          `${key}.${name}: ${site[name].join(", ")}; expected no such key with ${key}.securityGroupIds: who may reach the nodes is said by rules of your own`,
        );
  return problems;
}

function jumpProblems(site: AwsSite, key: string): Problem[] {
  const problems: Problem[] = [];
  if (site.private === true) {
    if (site.jump === undefined)
      problems.push(
        `${key}.private: true; expected with ${key}.jump, the host through which SSH reaches nodes without a public address`,
      );
    if (site.vpcId === undefined)
      problems.push(
        `${key}.private: true; expected with ${key}.vpcId and ${key}.subnetIds: a VPC that is made here has neither a jump host nor a NAT gateway`,
      );
    if (site.peerCidrs !== undefined && site.securityGroupIds === undefined)
      problems.push(
        `${key}.peerCidrs: ${site.peerCidrs.join(", ")}; expected no such key with ${key}.private true: no other site can call these nodes`,
      );
  }
  if (site.jump !== undefined && site.operatorCidr === undefined && site.securityGroupIds === undefined)
    problems.push(
      missing(
        `${key}.operatorCidr`,
        `with ${key}.jump the address that the jump host calls the nodes from, such as 10.1.0.9/32 (SSH is open to this network only), or ${key}.securityGroupIds`,
      ),
    );
  return problems;
}
