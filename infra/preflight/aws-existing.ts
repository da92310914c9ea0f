/** Whether a VPC, subnets and security groups that a site names are there, belong together and do not clash with the mesh. */
import { networkOf, overlap, parseCidr } from "../config/addresses.ts";
import type { AwsSite } from "../config/aws.ts";
import type { AwsAccount } from "./aws-account.ts";
import { type Check, failed, passed } from "./check.ts";

export type ExistingAccount = Pick<AwsAccount, "vpc" | "subnets" | "securityGroups">;

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
