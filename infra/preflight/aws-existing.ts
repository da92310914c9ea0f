/** Whether a VPC, subnets and security groups that a site names are there, belong together and do not clash with the mesh. */
import { networkOf, overlap, parseCidr } from "../config/addresses.ts";
import type { AwsSite } from "../config/sites/aws.ts";
import type { AwsAccount } from "./aws-account.ts";
import { type Check, failed, passed } from "./check.ts";

export type ExistingAccount = Pick<AwsAccount, "vpc" | "subnets" | "routes" | "securityGroups">;

/** Questions for `asked`; none for a site whose network is made. */
export function existingChecks(
  site: AwsSite,
  key: string,
  account: ExistingAccount,
  meshNetwork: string,
): { check: string; ask: () => Promise<Check[]> }[] {
  const { vpcId, subnetIds, securityGroupIds, region } = site;
  if (vpcId === undefined) return [];
  const groups = securityGroupIds ?? [];
  return [
    { check: `${vpcId} in ${region}`, ask: () => vpcCheck(site, vpcId, key, account, meshNetwork) },
    { check: `subnets in ${region}`, ask: () => subnetChecks(site, vpcId, Object.entries(subnetIds!), key, account) },
    {
      check: `way out of ${vpcId}`,
      ask: () => routeChecks(site, vpcId, Object.entries(subnetIds!), key, account),
    },
    ...(groups.length === 0
      ? []
      : [{ check: `security groups in ${region}`, ask: () => groupChecks(site, vpcId, groups, key, account) }]),
  ];
}

async function vpcCheck(
  { region }: AwsSite,
  vpcId: string,
  key: string,
  account: ExistingAccount,
  meshNetwork: string,
): Promise<Check[]> {
  const check = `${vpcId} in ${region}`;
  const networks = await account.vpc(vpcId);
  if (networks === undefined)
    return [
      failed(
        check,
        `${key}.vpcId: ${vpcId}, which the account does not have in ${region}; expected a VPC of ${region}`,
      ),
    ];
  const mesh = networkOf(parseCidr(meshNetwork)!);
  const clash = networks.find((text) => {
    const cidr = parseCidr(text);
    return cidr !== undefined && overlap(networkOf(cidr), mesh);
  });
  return [
    clash === undefined
      ? passed(check, networks.join(", "))
      : failed(
          check,
          `meshbench:mesh.network: ${meshNetwork}, which overlaps ${clash} of ${vpcId} (${key}.vpcId); expected another /24`,
        ),
  ];
}

async function subnetChecks(
  { region }: AwsSite,
  vpcId: string,
  subnets: [string, string][],
  key: string,
  account: ExistingAccount,
): Promise<Check[]> {
  const found = await account.subnets(subnets.map(([, id]) => id));
  return subnets.map(([zone, id]) => {
    const check = `${id} in ${region}${zone}`;
    const name = `${key}.subnetIds.${zone}: ${id}`;
    const subnet = found.find((one) => one.id === id);
    if (subnet === undefined)
      return failed(check, `${name}, which the account does not have in ${region}; expected a subnet of ${vpcId}`);
    if (subnet.vpc !== vpcId) return failed(check, `${name}, a subnet of ${subnet.vpc}; expected one of ${vpcId}`);
    if (subnet.zone !== `${region}${zone}`)
      return failed(check, `${name}, a subnet in ${subnet.zone}; expected one in ${region}${zone}`);
    return passed(check, `a subnet of ${vpcId}`);
  });
}

/**
 * Public addresses are of use with an internet gateway alone, and nodes without one get out by anything but that. A way
 * of another kind, such as a firewall in front of the gateway, is taken as it stands.
 */
async function routeChecks(
  site: AwsSite,
  vpcId: string,
  subnets: [string, string][],
  key: string,
  account: ExistingAccount,
): Promise<Check[]> {
  const tables = await account.routes(vpcId);
  return subnets.map(([zone, id]) => {
    const check = `way out of ${id}`;
    const { out } = tables.find((t) => t.subnets.includes(id)) ?? tables.find((t) => t.main) ?? {};
    const wrong = site.private === true ? "igw-" : "nat-";
    if (out !== undefined && !out.startsWith(wrong)) return passed(check, `by ${out}`);
    const name = `${key}.subnetIds.${zone}: ${id}, `;
    const given = out === undefined ? "from which no route leads out" : `whose way out is ${out}`;
    return failed(
      check,
      site.private === true
        ? `${name}${given}; expected a route of 0.0.0.0/0 to a NAT gateway with ${key}.private true: packages and the mesh need it`
        : `${name}${given}; expected a route of 0.0.0.0/0 to an internet gateway, since nodes have public addresses, or ${key}.private true`,
    );
  });
}

async function groupChecks(
  { region }: AwsSite,
  vpcId: string,
  ids: string[],
  key: string,
  account: ExistingAccount,
): Promise<Check[]> {
  const found = await account.securityGroups(ids);
  return ids.map((id, i) => {
    const check = `${id} in ${region}`;
    const name = `${key}.securityGroupIds[${i}]: ${id}`;
    const group = found.find((one) => one.id === id);
    if (group === undefined)
      return failed(check, `${name}, which the account does not have in ${region}; expected a group of ${vpcId}`);
    return group.vpc === vpcId
      ? passed(check, `a group of ${vpcId}`)
      : failed(check, `${name}, a group of ${group.vpc}; expected one of ${vpcId}`);
  });
}
