/** One line per interval, in sysbench's form. */

import type { Interval } from "../contract.ts";
import type { IntervalReport } from "./counters.ts";
import type { Latencies } from "./histogram.ts";

/** The interval that several event loops report together. */
export function toInterval(reports: readonly IntervalReport[], latencies: Latencies, t: number): Interval {
  const seconds = Math.max(1e-9, reports.reduce((sum, r) => sum + r.seconds, 0) / reports.length);
  const sum = (pick: (r: IntervalReport) => number): number => reports.reduce((total, r) => total + pick(r), 0);
  const reads = sum((r) => r.tally.reads) / seconds;
  const writes = sum((r) => r.tally.writes) / seconds;
  const others = sum((r) => r.tally.others) / seconds;
  return {
    t: round(t, 3),
    tps: round(sum((r) => r.tally.events) / seconds, 2),
    qps: round(reads + writes + others, 2),
    reads: round(reads, 2),
    writes: round(writes, 2),
    others: round(others, 2),
    p95: latencies.count > 0 ? round(latencies.percentile(95), 3) : null,
    errors: sum((r) => r.tally.errors),
    reconnects: sum((r) => r.tally.reconnects),
    driverCpu: round((100 * sum((r) => r.cpuSeconds)) / seconds, 1),
    eventLoopDelayP99Ms: Math.max(...reports.map((r) => r.eventLoopDelayP99Ms)),
    networkMbit: round((8 * sum((r) => r.bytes)) / seconds / 1e6, 3),
    connected: sum((r) => r.connected),
  };
}

/**
 * `[ 12s ] thds: 16 tps: 540.02 qps: 10800.40 (r/w/o: 7560.28/2160.08/1080.04) lat (ms,95%): 38.20 err/s: 0.00
 * reconn/s: 0.00`
 */
export function intervalLine(interval: Interval, threads: number, seconds: number): string {
  const f = (value: number): string => value.toFixed(2);
  const latency = interval.p95 === null ? "0.00" : f(interval.p95);
  return (
    `[ ${interval.t.toFixed(0)}s ] thds: ${threads} tps: ${f(interval.tps)} qps: ${f(interval.qps)} (r/w/o: ${f(interval.reads)}/${f(interval.writes)}/${f(interval.others)})` +
    ` lat (ms,95%): ${latency} err/s: ${f(interval.errors / seconds)} reconn/s: ${f(interval.reconnects / seconds)}`
  );
}

export function round(value: number, digits: number): number {
  const scale = 10 ** digits;
  return Math.round(value * scale) / scale;
}
