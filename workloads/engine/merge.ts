/** Results of several drivers that ran one spec together, as one result. */
import type { Interval, RunResult, StepResult } from "../contract.ts";
import { Latencies } from "./histogram.ts";
import { round } from "./progress.ts";
import { within } from "./stats.ts";
import { summarize, sweeps } from "./summary.ts";

/**
 * Counts and rates are added, histograms merged, windows matched by step and repeat. Throws one line when the results are not
 * of the same run, or a driver's is missing twice.
 */
export function merge(results: readonly RunResult[]): RunResult {
  const [first, ...others] = results;
  if (!first) throw new Error("merge: no result was given");
  for (const other of others) {
    if (other.runId !== first.runId) throw new Error(`merge: results of different runs: ${first.runId} and ${other.runId}`);
  }
  const count = first.spec.drivers?.count ?? 1;
  const indexes = results.map((r) => r.spec.drivers?.index ?? 0);
  if (new Set(indexes).size !== indexes.length) throw new Error(`merge: driver ${indexes.find((n, i) => indexes.indexOf(n) !== i) ?? 0} is there twice`);
  const missing = Array.from({ length: count }, (_, i) => i).filter((i) => !indexes.includes(i));
  const { drivers: _, ...spec } = first.spec;
  const keys = [...new Map(results.flatMap((r) => r.steps).map((s) => [`${s.step}/${s.repeat}`, s])).values()].map(({ step, repeat }) => ({ step, repeat }));
  const steps = keys.map(({ step, repeat }) => mergeWindows(results.flatMap((r) => r.steps.filter((s) => s.step === step && s.repeat === repeat)), count));
  const reasons = [...missing.map((i) => `the result of driver ${i} is missing`), ...results.flatMap((r) => (r.complete ? [] : [`driver ${r.spec.drivers?.index ?? 0}: ${r.incompleteReason ?? "incomplete"}`]))];
  const summary = summarize(spec, steps);
  const { incompleteReason: __, ...rest } = first;
  return {
    ...rest, spec, complete: reasons.length === 0, ...(reasons.length > 0 ? { incompleteReason: reasons.join("; ") } : {}),
    startedAt: results.map((r) => r.startedAt).toSorted()[0] as string,
    finishedAt: results.some((r) => r.finishedAt === null) ? null : (results.map((r) => r.finishedAt as string).toSorted().at(-1) as string),
    steps, summary, sweeps: sweeps(spec, summary),
    drivers: results.map((r) => ({ index: r.spec.drivers?.index ?? 0, host: r.host, engine: r.engine })),
  };
}

function mergeWindows(windows: StepResult[], count: number): StepResult {
  const first = windows[0] as StepResult;
  const sum = (pick: (w: StepResult) => number): number => windows.reduce((n, w) => n + pick(w), 0);
  const latencies = mergeHistograms(windows);
  const byCode: Record<string, number> = {};
  for (const w of windows) for (const [code, n] of Object.entries(w.errors.byCode)) byCode[code] = (byCode[code] ?? 0) + n;
  const intervals = mergeIntervals(windows);
  const reasons = [...(windows.length < count ? [`${windows.length} of ${count} drivers measured this window`] : []), ...windows.flatMap((w) => (w.incompleteReason === undefined ? [] : [w.incompleteReason]))];
  const begins = windows.map((w) => Date.parse(w.startedAt));
  const { incompleteReason: _, ...rest } = first;
  return {
    ...rest,
    startedAt: new Date(Math.min(...begins)).toISOString(),
    windowSeconds: Math.max(...windows.map((w) => w.windowSeconds)),
    complete: reasons.length === 0, ...(reasons.length > 0 ? { incompleteReason: reasons.join("; ") } : {}),
    transactions: sum((w) => w.transactions),
    queries: { read: sum((w) => w.queries.read), write: sum((w) => w.queries.write), other: sum((w) => w.queries.other), total: sum((w) => w.queries.total) },
    tps: round(sum((w) => w.tps), 3), qps: round(sum((w) => w.qps), 3),
    latency: latencies.summary(), ...(latencies.count > 0 ? { histogram: latencies.encode() } : {}),
    // Service times leave a driver without a histogram, so those of several drivers can't be merged.
    serviceLatency: windows.length === 1 ? first.serviceLatency : undefined,
    errors: { total: sum((w) => w.errors.total), byCode, restarts: sum((w) => w.errors.restarts) },
    reconnects: sum((w) => w.reconnects),
    // A success on any driver ends a gap, so the shortest of the drivers' longest gaps bounds the common one.
    outage: windows.map((w) => w.outage).filter((o) => o !== undefined).toSorted((a, b) => a.longestGapSeconds - b.longestGapSeconds)[0],
    intervals,
    driver: {
      cpuSeconds: sum((w) => w.driver.cpuSeconds), cpuPercent: Math.max(...windows.map((w) => w.driver.cpuPercent)),
      eventLoopDelayP99Ms: Math.max(...windows.map((w) => w.driver.eventLoopDelayP99Ms)),
      saturated: windows.some((w) => w.driver.saturated), reasons: [...new Set(windows.flatMap((w) => w.driver.reasons))],
      ...(first.driver.path === undefined ? {} : { path: first.driver.path }),
      /** Between the first and the last driver's opening of the window, seconds. */
      startSkewSeconds: (Math.max(...begins) - Math.min(...begins)) / 1000,
    },
    ...(first.openLoop ? { openLoop: {
      requestedPerSecond: sum((w) => w.openLoop?.requestedPerSecond ?? 0), achievedPerSecond: sum((w) => w.openLoop?.achievedPerSecond ?? 0),
      maxBacklog: sum((w) => w.openLoop?.maxBacklog ?? 0), dropped: sum((w) => w.openLoop?.dropped ?? 0),
    } } : {}),
    within: { tps: within(intervals.slice(1).map((i) => i.tps)) },
    // Every driver looks at the same nodes.
    server: first.server,
  };
}

function mergeHistograms(windows: StepResult[]): Latencies {
  const merged = new Latencies();
  for (const w of windows) if (w.histogram !== undefined) merged.add(Latencies.decode(w.histogram, w.latency));
  return merged;
}

/** By position: all drivers' intervals have the same length and begin together. p95 of the worst driver: percentiles can't be added. */
function mergeIntervals(windows: StepResult[]): Interval[] {
  const length = Math.max(...windows.map((w) => w.intervals.length));
  return Array.from({ length }, (_, i) => {
    const own = windows.flatMap((w) => (w.intervals[i] ? [w.intervals[i]] : []));
    const sum = (pick: (interval: Interval) => number): number => round(own.reduce((n, interval) => n + pick(interval), 0), 2);
    const p95 = own.flatMap((interval) => (interval.p95 === null ? [] : [interval.p95]));
    return {
      t: own[0]?.t ?? 0, tps: sum((x) => x.tps), qps: sum((x) => x.qps), reads: sum((x) => x.reads), writes: sum((x) => x.writes), others: sum((x) => x.others),
      p95: p95.length > 0 ? Math.max(...p95) : null, errors: sum((x) => x.errors), reconnects: sum((x) => x.reconnects),
    };
  });
}
