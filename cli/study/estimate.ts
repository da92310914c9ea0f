/** What a study will take, before it begins. Pure. */

import { loadSeconds } from "../../infra/config/profiles.ts";
import { costOf } from "../../infra/cost/cost.ts";
import { kindOf } from "../../infra/sites/kinds/index.ts";
import { planNodes } from "../../infra/topology.ts";
import type { Leg } from "./file.ts";
import { makespan, mayRunTogether } from "./schedule.ts";

export interface LegEstimate {
  seconds: number;
  /** While it stands, at most; null when no node has a price. */
  perHour: number | null;
  money: number | null;
  currency: string | null;
}

/** An assumption. */
const ROWS_PER_SECOND = 20_000;

export function estimateLeg({ cell: { config } }: Leg): LegEstimate {
  const standUp = Math.max(...config.sites.map((site) => kindOf(site).standUpSeconds));
  const rows = config.profile.data.tables * config.profile.data.tableSize;
  const seconds = loadSeconds(config.profile) + standUp + rows / ROWS_PER_SECOND;
  const cost = costOf(config, planNodes(config));
  // A limit must hold: burstable nodes are counted with all the CPU credits that they can use.
  const perHour = cost ? cost.perHour + (cost.surplusPerHourAtMost ?? 0) : null;
  return {
    seconds,
    perHour,
    money: perHour === null ? null : (perHour * seconds) / 3600,
    currency: cost?.currency ?? null,
  };
}

export interface Total {
  seconds: number;
  money: number | null;
  currency: string | null;
}

/** Time on the clock with `parallel` legs at once, and the money of all. */
export function total(legs: Leg[], parallel: number): Total {
  const estimates = new Map(legs.map((leg) => [leg, estimateLeg(leg)]));
  const priced = [...estimates.values()].filter((e) => e.money !== null);
  return {
    seconds: makespan(legs, parallel, mayRunTogether, (leg) => estimates.get(leg)!.seconds),
    money: priced.length > 0 ? priced.reduce((sum, e) => sum + e.money!, 0) : null,
    currency: priced[0]?.currency ?? null,
  };
}

/**
 * Why a leg must not begin: undefined when both limits hold with it. `spent` is what the legs before it took, and what
 * those under way will.
 */
export function beyond(
  limits: { hours?: number | undefined; money?: number | undefined },
  spent: { seconds: number; money: number },
  next: LegEstimate,
): string | undefined {
  const seconds = spent.seconds + next.seconds,
    money = spent.money + (next.money ?? 0);
  if (limits.hours !== undefined && seconds > limits.hours * 3600)
    return `the time limit of ${limits.hours} h: ${(spent.seconds / 3600).toFixed(2)} h are used and the next leg takes about ${(next.seconds / 3600).toFixed(2)} h`;
  if (limits.money !== undefined && money > limits.money)
    return `the spending limit of ${limits.money} ${next.currency ?? ""}: ${spent.money.toFixed(2)} are spent and the next leg costs about ${(next.money ?? 0).toFixed(2)}`;
  return undefined;
}
