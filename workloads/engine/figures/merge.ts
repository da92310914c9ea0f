/** Results of several drivers that ran one spec together, as one result. */
import type { Latency, RunResult, StepResult } from "../../contract.ts";
import { driverName } from "../barrier/barrier.ts";
import { round } from "../progress.ts";
import { Latencies } from "./histogram.ts";
import { absent, expectedDrivers, indexOf, ownWindows, sameSpec } from "./merge-checks.ts";
import { mergeIntervals } from "./merge-intervals.ts";
import { overIntervals } from "./stats.ts";
import { summarize, sweeps } from "./summary.ts";

/**
 * Counts and rates are added, histograms merged, windows matched by step and repeat. Throws one line when the results
 * are not of the same run, or a driver's is missing twice.
 */
export function merge(given: readonly RunResult[]): RunResult {
  const results = given.toSorted((a, b) => indexOf(a) - indexOf(b));
  const [first, ...others] = results;
  if (!first) throw new Error("merge: no result was given");
  for (const other of others) {
    if (other.runId !== first.runId)
      throw new Error(`merge: results of different runs: ${first.runId} and ${other.runId}`);
  }
  const count = first.spec.drivers?.count ?? 1;
  for (const other of others) sameSpec(first, other);
  for (const result of results) ownWindows(result);
  const indexes = results.map(indexOf);
  if (new Set(indexes).size !== indexes.length)
    throw new Error(
      `merge: ${driverName(indexes.find((n, i) => indexes.indexOf(n) !== i) ?? 0, count)} is there twice`,
    );
  const missing = Array.from({ length: count }, (_, i) => i).filter((i) => !indexes.includes(i));
  const { drivers: _, ...spec } = first.spec;
  const ran = new Map(results.flatMap((r) => r.steps).map((s) => [`${s.step}/${s.repeat}`, s]));
  const keys = [...ran.values()].map(({ step, repeat }) => ({ step, repeat }));
  const steps = keys.map(({ step, repeat }) => {
    const parts = results.flatMap((r) =>
      r.steps
        .filter((s) => s.step === step && s.repeat === repeat)
        .map((window): Part => ({ index: indexOf(r), host: r.host.hostname, window })),
    );
    return mergeWindows(parts, expectedDrivers(spec.steps[step], count), count);
  });
  const reasons = [
    ...missing.map((i) => `the result of ${driverName(i, count)} is missing`),
    ...results.flatMap((r) =>
      r.complete ? [] : [`${driverName(indexOf(r), count)}: ${r.incompleteReason ?? "incomplete"}`],
    ),
    // Who has no result, or says that it is incomplete, is named already.
    ...absent(spec, results, count),
  ];
  const summary = summarize(spec, steps);
  const { incompleteReason: __, ...rest } = first;
  return {
    ...rest,
    spec,
    complete: reasons.length === 0,
    ...(reasons.length > 0 ? { incompleteReason: reasons.join("; ") } : {}),
    // By the first driver's clock, which is also the one that ends last; those of others may differ.
    startedAt: first.startedAt,
    finishedAt: results.some((r) => r.finishedAt === null) ? null : first.finishedAt,
    steps,
    summary,
    sweeps: sweeps(spec, summary),
    driverCount: count,
    drivers: results.map((r) => ({ index: indexOf(r), host: r.host, engine: r.engine, complete: r.complete })),
  };
}

/** One driver's share of a window. */
interface Part {
  index: number;
  host: string;
  window: StepResult;
}

/** @param expected drivers that have a share of this step */
function mergeWindows(parts: Part[], expected: number, count: number): StepResult {
  const windows = parts.map((p) => p.window);
  const first = windows[0] as StepResult;
  const sum = (pick: (w: StepResult) => number): number => windows.reduce((n, w) => n + pick(w), 0);
  const latencies = mergeHistograms(windows.map((w) => [w.histogram, w.latency]));
  const byCode: Record<string, number> = {};
  for (const w of windows)
    for (const [code, n] of Object.entries(w.errors.byCode)) byCode[code] = (byCode[code] ?? 0) + n;
  const intervals = mergeIntervals(windows);
  const reasons = [
    ...(windows.length < expected ? [`${windows.length} of ${expected} drivers measured this window`] : []),
    ...windows.flatMap((w) => (w.incompleteReason === undefined ? [] : [w.incompleteReason])),
  ];
  const { incompleteReason: _, ...rest } = first;
  return {
    ...rest,
    windowSeconds: Math.max(...windows.map((w) => w.windowSeconds)),
    complete: reasons.length === 0,
    ...(reasons.length > 0 ? { incompleteReason: reasons.join("; ") } : {}),
    transactions: sum((w) => w.transactions),
    queries: {
      read: sum((w) => w.queries.read),
      write: sum((w) => w.queries.write),
      other: sum((w) => w.queries.other),
      total: sum((w) => w.queries.total),
    },
    // Results from before round trips were counted have none to add up.
    ...(windows.some((w) => w.roundTrips === undefined)
      ? { roundTrips: undefined }
      : { roundTrips: sum((w) => w.roundTrips ?? 0) }),
    tps: round(
      sum((w) => w.tps),
      3,
    ),
    qps: round(
      sum((w) => w.qps),
      3,
    ),
    latency: latencies.summary(),
    ...(latencies.count > 0 ? { histogram: latencies.encode() } : {}),
    ...serviceTimes(windows),
    errors: {
      total: sum((w) => w.errors.total),
      byCode,
      restarts: sum((w) => w.errors.restarts),
      ...(windows.some((w) => w.errors.messages)
        ? { messages: Object.assign({}, ...windows.map((w) => w.errors.messages ?? {})) }
        : {}),
    },
    reconnects: sum((w) => w.reconnects),
    // A success on any driver ends a gap, so the shortest of the drivers' longest gaps bounds the common one.
    outage: windows
      .map((w) => w.outage)
      .filter((o) => o !== undefined)
      .toSorted((a, b) => a.longestGapSeconds - b.longestGapSeconds)[0],
    intervals,
    driver: mergeDrivers(parts, count),
    ...(first.openLoop
      ? {
          openLoop: {
            requestedPerSecond: sum((w) => w.openLoop?.requestedPerSecond ?? 0),
            achievedPerSecond: sum((w) => w.openLoop?.achievedPerSecond ?? 0),
            maxBacklog: sum((w) => w.openLoop?.maxBacklog ?? 0),
            dropped: sum((w) => w.openLoop?.dropped ?? 0),
            // Results from before these were counted have none to add up.
            ...(windows.some((w) => w.openLoop?.offered === undefined)
              ? {}
              : {
                  offered: sum((w) => w.openLoop?.offered ?? 0),
                  carriedIn: sum((w) => w.openLoop?.carriedIn ?? 0),
                }),
            backlogAtEnd: sum((w) => w.openLoop?.backlogAtEnd ?? 0),
          },
        }
      : {}),
    ...sums(windows, "checks"),
    ...sums(windows, "drain"),
    ...outside(windows),
    within: { tps: overIntervals(intervals.slice(1).map((i) => i.tps)) },
    // The first driver looks at the nodes; where others did, they saw the same ones.
    server: windows.find((w) => w.server.length > 0)?.server ?? [],
    ...seenBy(windows, "lag"),
    ...seenBy(windows, "heartbeat"),
    ...seenBy(windows, "primaries"),
    ...seenBy(windows, "degraded"),
  };
}

/** What one driver has seen for all. */
function seenBy<K extends "lag" | "heartbeat" | "primaries" | "degraded">(
  windows: StepResult[],
  key: K,
): Partial<StepResult> {
  const found = windows.find((w) => w[key] !== undefined);
  return found === undefined ? {} : { [key]: found[key] };
}

function mergeHistograms(kept: [string | undefined, Latency | null | undefined][]): Latencies {
  const merged = new Latencies();
  for (const [histogram, known] of kept)
    if (histogram !== undefined) merged.add(Latencies.decode(histogram, known ?? null));
  return merged;
}

/** Results from before service times had histograms: those of several drivers cannot be merged. */
function serviceTimes(windows: StepResult[]): Pick<StepResult, "serviceLatency" | "serviceHistogram"> {
  const first = windows[0] as StepResult;
  if (first.serviceLatency === undefined) return {};
  if (windows.length === 1) return { serviceLatency: first.serviceLatency };
  if (windows.some((w) => w.serviceLatency && w.serviceHistogram === undefined))
    return { serviceLatency: undefined, serviceHistogram: undefined };
  const merged = mergeHistograms(windows.map((w) => [w.serviceHistogram, w.serviceLatency]));
  return { serviceLatency: merged.summary(), ...(merged.count > 0 ? { serviceHistogram: merged.encode() } : {}) };
}

/** Counts of a group such as `checks`, added up. */
function sums(windows: StepResult[], group: string): Record<string, Record<string, number>> {
  const merged: Record<string, number> = {};
  for (const w of windows)
    for (const [name, n] of Object.entries((w[group] ?? {}) as Record<string, number>))
      merged[name] = (merged[name] ?? 0) + n;
  return Object.keys(merged).length > 0 ? { [group]: merged } : {};
}

function outside(windows: StepResult[]): Pick<StepResult, "outside"> {
  const all = windows.flatMap((w) => (w.outside ? [w.outside] : []));
  if (all.length === 0) return {};
  type Phase = "connect" | "warmup" | "drain";
  const merged = (phase: Phase): NonNullable<StepResult["outside"]>[Phase] => {
    const byCode: Record<string, number> = {};
    for (const o of all)
      for (const [code, n] of Object.entries(o[phase].byCode)) byCode[code] = (byCode[code] ?? 0) + n;
    const sum = (name: "transactions" | "queries" | "errors"): number => all.reduce((n, o) => n + o[phase][name], 0);
    return { transactions: sum("transactions"), queries: sum("queries"), errors: sum("errors"), byCode };
  };
  return { outside: { connect: merged("connect"), warmup: merged("warmup"), drain: merged("drain") } };
}

function mergeDrivers(parts: Part[], count: number): StepResult["driver"] {
  const all = parts.map((p) => p.window.driver);
  const number = (name: string): number[] => all.flatMap((d) => (typeof d[name] === "number" ? [d[name]] : []));
  const most = (name: string): number => Math.max(0, ...number(name));
  const total = (name: string): number =>
    round(
      number(name).reduce((a, b) => a + b, 0),
      3,
    );
  return {
    cpuSeconds: total("cpuSeconds"),
    cpuPercent: most("cpuPercent"),
    eventLoopDelayP99Ms: most("eventLoopDelayP99Ms"),
    saturated: all.some((d) => d.saturated),
    reasons: parts.flatMap((p) => p.window.driver.reasons.map((reason) => `${driverName(p.index, count)}: ${reason}`)),
    path: [...new Set(all.flatMap((d) => (d.path === undefined ? [] : [d.path])))].join("+"),
    loops: total("loops"),
    stealPercent: most("stealPercent"),
    tcpRetransmits: total("tcpRetransmits"),
    networkMbit: total("networkMbit"),
    ...skew(parts),
    each: parts.map(({ index, host, window: { transactions, tps, driver } }) => ({
      index,
      host,
      transactions,
      tps,
      cpuPercent: driver.cpuPercent,
      eventLoopDelayP99Ms: driver.eventLoopDelayP99Ms,
      saturated: driver.saturated,
      reasons: driver.reasons,
      ...(driver.start ? { start: driver.start } : {}),
    })),
  };
}

/**
 * Where the drivers' clocks were compared, each began at the agreed moment or as much later as it says, and both ends
 * of the span may be off by what their clocks may. Otherwise the span by their own clocks, about whose agreement
 * nothing is known.
 */
function skew(parts: Part[]): Pick<StepResult["driver"], "startSkewMs" | "startSkewUncertaintyMs"> {
  if (parts.length < 2) return {};
  const starts = parts.flatMap(({ window }) =>
    window.driver.start && window.driver.start.clockUncertaintyMs !== null ? [window.driver.start] : [],
  );
  const span = (moments: number[]): number => round(Math.max(...moments) - Math.min(...moments), 3);
  if (starts.length < parts.length)
    return { startSkewMs: span(parts.map((p) => Date.parse(p.window.startedAt))), startSkewUncertaintyMs: null };
  const [widest = 0, next = 0] = starts.map((s) => s.clockUncertaintyMs ?? 0).toSorted((a, b) => b - a);
  return { startSkewMs: span(starts.map((s) => s.lateMs)), startSkewUncertaintyMs: round(widest + next, 3) };
}
