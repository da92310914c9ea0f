/** What a kind of site with prices says of them. */
import type { Site } from "../config/sites/index.ts";
import type { NodePlan, Role } from "../topology.ts";
import type { Burst } from "./credits.ts";

export interface CostItem {
  node: string;
  what: string;
  /** null: no price is known, and the sum is without it. */
  perHour: number | null;
}

/** By name, as prices.ts lists them. */
export interface Prices {
  /** All, with the given ones over the defaults. */
  all: Readonly<Record<string, number>>;
  /** meshbench:cost.prices */
  given: Readonly<Record<string, number>>;
}

export interface PriceList<S> {
  /** What one of the site's nodes costs; `notes` are sentences about what the sum leaves out. */
  items(site: S, plan: NodePlan, prices: Prices): { items: CostItem[]; notes: string[] };
  /** Of a node whose CPU credits beyond the earned ones are billed; undefined for others. */
  burst(site: S, roles: Role[]): Burst | undefined;
  /** From a node of the site to one of `other`, which may be the site itself; undefined where it costs nothing. */
  perGb(site: S, other: Site, prices: Prices): number | undefined;
}
