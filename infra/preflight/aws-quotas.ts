/** What nodes take of an account's quotas in a region, and whether that is left. */
import type { AwsSite } from "../config/sites/aws.ts";
import { STANDARD, typeOf } from "../sites/aws/types.ts";
import type { NodePlan } from "../topology.ts";
import type { AwsAccount } from "./aws-account.ts";
import { type Check, failed, passed, skipped } from "./check.ts";
import type { Owned } from "./owned.ts";

export type QuotaAccount = Pick<AwsAccount, "virtualCpus" | "running" | "addresses" | "networks" | "quota">;

/** One site's, or one leg's in that region. */
export interface Demand {
  /** As messages call it: the nodes of "east". */
  who: string;
  /** The type of every node. */
  types: string[];
  spot: boolean;
  addresses: number;
  networks: number;
}

/** Instances of the standard families, counted in vCPUs: a quota for those on demand, another for spot. */
const ON_DEMAND_QUOTA = "L-1216C47A",
  SPOT_QUOTA = "L-34B43A08",
  ADDRESS_QUOTA = "L-0263D0A3",
  NETWORK_QUOTA = "L-F678F1CE";

export function demandOf(site: AwsSite, plans: NodePlan[]): Demand {
  return {
    who: `the nodes of "${site.name}"`,
    types: plans.map((plan) => typeOf(site, plan.roles)),
    spot: site.spot !== false,
    addresses: site.private === true ? 0 : plans.length,
    networks: site.vpcId === undefined ? 1 : 0,
  };
}

export interface Place {
  region: string;
  owned: Owned;
  account: QuotaAccount;
  /** Runs one question; what it may not ask is said and stops nobody. */
  asked: (check: string, ask: () => Promise<Check[]>) => Promise<Check[]>;
  /** What would need less, by what is short. */
  instead: { cpus: string; addresses: string; networks: string };
}

/** All demands of one account in one region together. */
export async function quotaChecks(demands: Demand[], place: Place): Promise<Check[]> {
  const { region, asked } = place;
  const all = await Promise.all([
    ...[false, true]
      .map((spot) => demands.filter((d) => d.spot === spot && d.types.length > 0))
      .filter((some) => some.length > 0)
      .map((some) => asked(`vCPU quota in ${region}`, () => cpuCheck(some, place))),
    counted(demands, "addresses", place),
    counted(demands, "networks", place),
  ]);
  return all.flat();
}

const whoOf = (demands: Demand[]): string => demands.map((d) => d.who).join(" and ");

async function cpuCheck(demands: Demand[], { region, owned, account, instead }: Place): Promise<Check[]> {
  const check = `vCPU quota in ${region}`;
  const types = demands.flatMap((d) => d.types),
    others = types.filter((type) => !STANDARD.test(type));
  const spot = demands[0]!.spot;
  const unknown =
    others.length === 0
      ? []
      : [skipped(check, `the quota of ${[...new Set(others)].join(", ")} is not known here: no standard family`)];
  const counting = types.filter((type) => STANDARD.test(type));
  if (counting.length === 0) return unknown;
  const code = spot ? SPOT_QUOTA : ON_DEMAND_QUOTA;
  const [perType, running, quota] = await Promise.all([
    account.virtualCpus([...new Set(counting)]),
    account.running(owned, spot),
    account.quota("ec2", code),
  ]);
  const needed = counting.reduce((sum, type) => sum + (perType.get(type) ?? 0), 0);
  return [
    ...unknown,
    running + needed <= quota
      ? passed(check, `${needed} vCPUs needed, ${quota - running} of ${quota} free`)
      : failed(
          check,
          `${whoOf(demands)} need ${needed} vCPUs, but ${Math.max(0, quota - running)} of the account's ${quota} in ${region} are free; ask AWS for a higher quota (${code}), stop other instances, or ${instead.cpus}`,
        ),
  ];
}

const COUNTED = {
  addresses: { check: "address quota", what: "Elastic IPs", service: "ec2", code: ADDRESS_QUOTA },
  networks: { check: "VPC quota", what: "VPCs", service: "vpc", code: NETWORK_QUOTA },
} as const;

async function counted(demands: Demand[], kind: keyof typeof COUNTED, place: Place): Promise<Check[]> {
  const { check, what, service, code } = COUNTED[kind];
  const { region, owned, account, asked, instead } = place;
  const some = demands.filter((d) => d[kind] > 0);
  const needed = some.reduce((sum, d) => sum + d[kind], 0);
  if (needed === 0) return [];
  return asked(`${check} in ${region}`, async () => {
    const [used, quota] = await Promise.all([account[kind](owned), account.quota(service, code)]);
    return [
      used + needed <= quota
        ? passed(`${check} in ${region}`, `${needed} ${what} needed, ${quota - used} of ${quota} free`)
        : failed(
            `${check} in ${region}`,
            `${whoOf(some)} need ${needed} ${what}, but ${Math.max(0, quota - used)} of the account's ${quota} in ${region} are free; ask AWS for a higher quota (${code}), or ${instead[kind]}`,
          ),
    ];
  });
}
