/** What a topology costs while it stands: compute, volumes, addresses. Pure. */

import type { Config } from "../config/schema.ts";
import type { AwsSite } from "../config/sites/aws.ts";
import { isBurstable } from "../config/sites/aws-check.ts";
import { typeOf } from "../sites/aws/types.ts";
import type { NodePlan } from "../topology.ts";
import { atMost, burstOf, type Surplus } from "./credits.ts";
import { HOURS_PER_MONTH, PRICES, PRICES_AS_OF, PRICES_REGION, PRICES_SOURCE } from "./prices.ts";

export interface CostItem {
  node: string;
  what: string;
  /** null: no price is known, and the sum is without it. */
  perHour: number | null;
}

export interface Cost {
  currency: string;
  /** The day the prices are from. */
  date: string;
  source: string;
  perHour: number;
  items: CostItem[];
  /** Nodes whose CPU credits beyond the earned ones are billed on top of `perHour`. */
  surplus?: Surplus[];
  /** What that comes to at most, with every vCPU busy all the time. */
  surplusPerHourAtMost?: number;
  /** From node to node, per GB, by the pair of sites "a b" in alphabetical order. */
  perGbTraffic: Record<string, number>;
  /** What the sum leaves out, in words. */
  notes: string[];
}

const round = (value: number): number => Number(value.toFixed(6));

/** Undefined where no node has a price: nothing is invented. */
export function costOf(config: Config, plans: NodePlan[]): Cost | undefined {
  const given = config.cost;
  if (!config.sites.some((s) => s.kind === "aws" || given.nodeHour[s.name] !== undefined)) return undefined;
  const prices = { ...PRICES, ...given.prices };
  const notes = new Set<string>();
  const items = plans.flatMap((plan): CostItem[] => {
    const site = config.sites.find((s) => s.name === plan.site)!;
    if (site.kind === "aws") return awsItems(plan, site, prices, given.prices, notes);
    const perHour = given.nodeHour[site.name];
    if (perHour === undefined)
      notes.add(`nodes of "${site.name}" (${site.kind}) count as free; set meshbench:cost.nodeHour.${site.name}`);
    return [{ node: plan.name, what: `${site.kind} node`, perHour: perHour ?? 0 }];
  });
  const surplus = plans.flatMap((plan): Surplus[] => {
    const site = config.sites.find((s) => s.name === plan.site)!;
    const burst = site.kind === "aws" && site.credits === "unlimited" ? burstOf(typeOf(site, plan.roles)) : undefined;
    return burst === undefined ? [] : [{ node: plan.name, ...burst, perVcpuHour: prices[burst.price] ?? 0 }];
  });
  const own = given.asOf !== undefined || Object.keys(given.prices).length + Object.keys(given.nodeHour).length > 0;
  return {
    currency: given.currency,
    date: given.asOf ?? PRICES_AS_OF,
    source: own ? `meshbench:cost, and for the rest ${PRICES_SOURCE}` : PRICES_SOURCE,
    perHour: round(items.reduce((sum, item) => sum + (item.perHour ?? 0), 0)),
    items,
    ...(surplus.length === 0 ? {} : { surplus, surplusPerHourAtMost: round(atMost(surplus)) }),
    perGbTraffic: trafficPrices(config, prices),
    notes: [...notes],
  };
}

function awsItems(
  plan: NodePlan,
  site: AwsSite,
  prices: Record<string, number>,
  given: Record<string, number>,
  notes: Set<string>,
): CostItem[] {
  const type = typeOf(site, plan.roles);
  const { sizeGb, iops, throughputMiBs } = site.disk;
  const price = (name: string): number => prices[name] ?? 0;
  const compute = prices[type] ?? null;
  if (compute === null) notes.add(`no price is known for ${type}; set meshbench:cost.prices["${type}"]`);
  if (site.region !== PRICES_REGION && given[type] === undefined)
    notes.add(`"${site.name}" is in ${site.region}, counted at prices of ${PRICES_REGION}`);
  if (site.spot !== false) notes.add(`"${site.name}" runs on spot instances, counted at the on-demand price`);
  if (site.credits === "unlimited" && isBurstable(type))
    notes.add(
      burstOf(type) === undefined
        ? `CPU credits of ${type} beyond the earned ones are billed on top and not counted here`
        : "CPU credits beyond the earned ones are billed on top of the price per hour",
    );
  if (site.private === true) notes.add(`the way out of "${site.name}", a NAT gateway and its traffic, is not counted`);
  const volume =
    sizeGb * price("gp3-gb-month") +
    Math.max(0, iops - 3000) * price("gp3-iops-month") +
    Math.max(0, throughputMiBs - 125) * price("gp3-mibs-month");
  return [
    { node: plan.name, what: type, perHour: compute },
    {
      node: plan.name,
      what: `gp3 ${sizeGb} GB, ${iops} IOPS, ${throughputMiBs} MiB/s`,
      perHour: round(volume / HOURS_PER_MONTH),
    },
    ...(site.private === true
      ? []
      : [{ node: plan.name, what: "public IPv4 address", perHour: price("public-ipv4-hour") }]),
  ];
}

/** Only what leaves AWS is billed; between two regions each sender pays its own side. */
function trafficPrices(config: Config, prices: Record<string, number>): Record<string, number> {
  const sites = [...config.sites].sort((a, b) => (a.name < b.name ? -1 : 1));
  const found: Record<string, number> = {};
  for (const [i, a] of sites.entries()) {
    if (a.kind === "aws" && a.zones.length > 1) found[`${a.name} ${a.name}`] = 2 * (prices["traffic-zone-gb"] ?? 0);
    for (const b of sites.slice(i + 1)) {
      if (a.kind === "aws" && b.kind === "aws")
        found[`${a.name} ${b.name}`] = prices[a.region === b.region ? "traffic-zone-gb" : "traffic-region-gb"] ?? 0;
      else if (a.kind === "aws" || b.kind === "aws") found[`${a.name} ${b.name}`] = prices["traffic-internet-gb"] ?? 0;
    }
  }
  return found;
}
