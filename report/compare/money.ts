/** What a million transactions cost at the measured throughput, by the price that the run carries. */
import type { Point, Subject } from "../model.ts";

export interface Price {
  perHour: number;
  currency: string;
  date: string | null;
}

/** Price per hour of the whole topology from context.cost; null when no price was given: it is never invented. */
export function priceOf(subject: Subject): Price | null {
  const cost = subject.context?.cost as
    | { perHour?: unknown; currency?: unknown; date?: unknown; pricesAsOf?: unknown }
    | undefined;
  if (!cost || typeof cost.perHour !== "number" || !Number.isFinite(cost.perHour) || cost.perHour < 0) return null;
  const date = cost.date ?? cost.pricesAsOf;
  return {
    perHour: cost.perHour,
    currency: typeof cost.currency === "string" ? cost.currency : "USD",
    date: typeof date === "string" ? date : null,
  };
}

/** perHour / (tps x 3600 s) x 10^6, in the price's currency; null without a price or throughput. */
export function perMillion(subject: Subject, point: Point): number | null {
  const price = priceOf(subject);
  if (!price || !point.tps || point.tps.mean <= 0) return null;
  return (price.perHour / (point.tps.mean * 3600)) * 1e6;
}
