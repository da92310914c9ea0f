/** Intervals of several drivers, laid over each other. */
import type { Interval, StepResult } from "../../contract.ts";
import { round } from "../progress.ts";

/** Results from before intervals had counts have none to add up. */
function counts(own: Interval[]): Partial<Interval> {
  if (own.some((x) => x.queries === undefined)) return {};
  const sum = (pick: (x: Interval) => number | undefined): number => own.reduce((n, x) => n + (pick(x) ?? 0), 0);
  return {
    seconds: Math.max(...own.map((x) => x.seconds ?? 0)),
    transactions: sum((x) => x.transactions),
    queries: {
      read: sum((x) => x.queries?.read),
      write: sum((x) => x.queries?.write),
      other: sum((x) => x.queries?.other),
    },
    ...(own.some((x) => x.roundTrips === undefined) ? {} : { roundTrips: sum((x) => x.roundTrips) }),
    restarts: sum((x) => x.restarts),
    mismatches: sum((x) => x.mismatches),
  };
}

/**
 * By position: all drivers' intervals have the same length and begin together. p95 of the worst driver: percentiles
 * can't be added.
 */
export function mergeIntervals(windows: StepResult[]): Interval[] {
  const length = Math.max(...windows.map((w) => w.intervals.length));
  return Array.from({ length }, (_, i) => {
    const own = windows.flatMap((w) => (w.intervals[i] ? [w.intervals[i]] : []));
    const sum = (pick: (interval: Interval) => number): number =>
      round(
        own.reduce((n, interval) => n + pick(interval), 0),
        2,
      );
    const p95 = own.flatMap((interval) => (interval.p95 === null ? [] : [interval.p95]));
    return {
      t: own[0]?.t ?? 0,
      tps: sum((x) => x.tps),
      qps: sum((x) => x.qps),
      reads: sum((x) => x.reads),
      writes: sum((x) => x.writes),
      others: sum((x) => x.others),
      p95: p95.length > 0 ? Math.max(...p95) : null,
      errors: sum((x) => x.errors),
      reconnects: sum((x) => x.reconnects),
      ...(own[0]?.primary ? { primary: own[0].primary } : {}),
      ...counts(own),
      ...(own.some((x) => x.driverCpu !== undefined)
        ? { driverCpu: Math.max(...own.map((x) => x.driverCpu ?? 0)) }
        : {}),
      ...(own.some((x) => x.eventLoopDelayP99Ms !== undefined)
        ? { eventLoopDelayP99Ms: Math.max(...own.map((x) => x.eventLoopDelayP99Ms ?? 0)) }
        : {}),
    };
  });
}
