/** One line per interval, in sysbench's form. */

import type { Interval } from "../contract.ts";
import type { IntervalReport } from "./figures/counters.ts";
import type { Latencies } from "./figures/histogram.ts";

/** A run that is stopped can leave a last interval of no length: what it holds gives no rate. */
export const SHORTEST_SECONDS = 0.001;

/**
 * The interval that several event loops report together.
 *
 * @param t its end, seconds since the opening
 */
export function toInterval(
  reports: readonly IntervalReport[],
  latencies: Latencies,
  t: number,
  seconds: number,
): Interval {
  const length = Math.max(SHORTEST_SECONDS, seconds);
  const sum = (pick: (r: IntervalReport) => number): number => reports.reduce((total, r) => total + pick(r), 0);
  const [read, write, other] = [sum((r) => r.tally.reads), sum((r) => r.tally.writes), sum((r) => r.tally.others)];
  const transactions = sum((r) => r.tally.events);
  return {
    t: round(t, 3),
    seconds: round(seconds, 4),
    tps: round(transactions / length, 2),
    qps: round((read + write + other) / length, 2),
    reads: round(read / length, 2),
    writes: round(write / length, 2),
    others: round(other / length, 2),
    p95: latencies.count > 0 ? round(latencies.percentile(95), 3) : null,
    errors: sum((r) => r.tally.errors),
    reconnects: sum((r) => r.tally.reconnects),
    transactions,
    queries: { read, write, other },
    roundTrips: sum((r) => r.tally.roundTrips),
    restarts: sum((r) => r.tally.restarts),
    mismatches: sum((r) => r.tally.mismatches),
    driverCpu: round((100 * sum((r) => r.cpuSeconds)) / length, 1),
    eventLoopDelayP99Ms: Math.max(...reports.map((r) => r.eventLoopDelayP99Ms)),
    networkMbit: round((8 * sum((r) => r.bytes)) / length / 1e6, 3),
    connected: sum((r) => r.connected),
  };
}

/**
 * `[ 12s ] thds: 16 tps: 540.02 qps: 10800.40 (r/w/o: 7560.28/2160.08/1080.04) lat (ms,95%): 38.20 err/s: 0.00
 * reconn/s: 0.00`
 *
 * @param at its end: seconds since the warm-up began, or since the window opened
 */
export function intervalLine(interval: Interval, threads: number, at: number): string {
  const f = (value: number): string => value.toFixed(2);
  const latency = interval.p95 === null ? "0.00" : f(interval.p95);
  const length = Math.max(SHORTEST_SECONDS, interval.seconds ?? 1);
  return (
    `[ ${round(at, 2)}s ] thds: ${threads} tps: ${f(interval.tps)} qps: ${f(interval.qps)} (r/w/o: ${f(interval.reads)}/${f(interval.writes)}/${f(interval.others)})` +
    ` lat (ms,95%): ${latency} err/s: ${f(interval.errors / length)} reconn/s: ${f(interval.reconnects / length)}`
  );
}

export function round(value: number, digits: number): number {
  const scale = 10 ** digits;
  return Math.round(value * scale) / scale;
}
