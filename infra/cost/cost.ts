/** What a topology costs while it stands: compute, volumes, addresses. Pure. */

import type { Config } from "../config/schema.ts";
import { kindOf } from "../sites/kinds/index.ts";
import type { NodePlan } from "../topology.ts";
import { atMost, type Surplus } from "./credits.ts";
import type { CostItem, Prices } from "./price-list.ts";
import { PRICES, PRICES_AS_OF, PRICES_SOURCE } from "./prices.ts";
import { round } from "./round.ts";

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

/** Undefined where no node has a price: nothing is invented. */
export function costOf(config: Config, plans: NodePlan[]): Cost | undefined {
  const given = config.cost;
  if (!config.sites.some((s) => kindOf(s).prices !== null || given.nodeHour[s.name] !== undefined)) return undefined;
  const prices: Prices = { all: { ...PRICES, ...given.prices }, given: given.prices };
  const notes = new Set<string>();
  const items = plans.flatMap((plan): CostItem[] => {
    const site = config.sites.find((s) => s.name === plan.site)!;
    const listed = kindOf(site).prices?.items(site, plan, prices);
    if (listed !== undefined) {
      for (const note of listed.notes) notes.add(note);
      return listed.items;
    }
    const perHour = given.nodeHour[site.name];
    if (perHour === undefined)
      notes.add(`nodes of "${site.name}" (${site.kind}) count as free; set meshbench:cost.nodeHour.${site.name}`);
    return [{ node: plan.name, what: `${site.kind} node`, perHour: perHour ?? 0 }];
  });
  const surplus = plans.flatMap((plan): Surplus[] => {
    const site = config.sites.find((s) => s.name === plan.site)!;
    const burst = kindOf(site).prices?.burst(site, plan.roles);
    return burst === undefined ? [] : [{ node: plan.name, ...burst, perVcpuHour: prices.all[burst.price] ?? 0 }];
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

/** By what the senders pay. */
function trafficPrices(config: Config, prices: Prices): Record<string, number> {
  const sites = [...config.sites].sort((a, b) => (a.name < b.name ? -1 : 1));
  const found: Record<string, number> = {};
  for (const [i, a] of sites.entries())
    for (const b of sites.slice(i)) {
      const perGb = kindOf(a).prices?.perGb(a, b, prices) ?? kindOf(b).prices?.perGb(b, a, prices);
      if (perGb !== undefined) found[`${a.name} ${b.name}`] = perGb;
    }
  return found;
}
