/** What a window's event loops report, as the contract's StepResult. */
import type { Interval, RunSpec, Start, Step, StepResult } from "../../contract.ts";
import { round } from "../progress.ts";
import type { Slot } from "../schedule.ts";
import { judge, judgeOwnLimits } from "../selfcheck.ts";
import { outage } from "../watch/outage.ts";
import type { PartReport, Tally } from "./counters.ts";
import { addTally, tally } from "./counters.ts";
import { Latencies } from "./histogram.ts";
import { overIntervals } from "./stats.ts";
import { distrust } from "./trust.ts";

export interface WindowFacts {
  spec: RunSpec;
  slot: Slot;
  step: Step;
  /** Sessions of this driver. */
  own: number;
  reports: PartReport[];
  intervals: Interval[];
  /** Sums over the intervals of all loops. */
  total: Tally;
  warmup: Tally;
  latencies: Latencies;
  problems: string[];
  /** Epoch milliseconds. */
  openedAt: number;
  /** Where nodes are asked for their roles. */
  primaries?: NonNullable<StepResult["primaries"]>;
  /** One of several drivers. */
  start?: Start;
  aborted: boolean;
  abortReason: string;
  stealPercent: number;
  retransmits: number;
  loopThreads: { cpuPercent: number[]; eventLoopDelayP99Ms: number[] }[];
}

export function stepResult(facts: WindowFacts): StepResult {
  const { reports, step, slot, intervals, total } = facts;
  const latencies = facts.latencies;
  for (const report of reports) latencies.addPacked(report.late);
  const service = step.rate ? merge(reports.flatMap((r) => (r.service ? [r.service] : []))) : null;
  const queries = {
    read: total.reads,
    write: total.writes,
    other: total.others,
    total: total.reads + total.writes + total.others,
  };
  const seconds = windowSeconds(facts);
  const sum = (pick: (r: PartReport) => number): number => reports.reduce((n, r) => n + pick(r), 0);
  const drain = { drained: sum((r) => r.drain.events), abandoned: sum((r) => r.abandoned) };
  const summary = total.events + drain.drained > 0 ? latencies.summary() : null;
  const messages: Record<string, string> = Object.assign({}, ...reports.map((r) => r.messages));
  const counts = {
    transactions: total.events,
    queries,
    roundTrips: total.roundTrips,
    errors: {
      total: total.errors,
      byCode: total.byCode,
      restarts: total.restarts,
      messages: Object.fromEntries(Object.entries(messages).filter(([code]) => code in total.byCode)),
    },
    checks: { mismatches: total.mismatches, sampled: total.sampled, sampledWrong: total.sampledWrong },
    drain,
    ...(step.rate ? { openLoop: openLoop(facts, total.events, seconds) } : {}),
  };
  const problems = [...new Set(facts.problems)];
  if (facts.aborted) problems.unshift(`stopped (${facts.abortReason})`);
  // What a run that was stopped lacks, it lacks for that reason.
  else problems.push(...distrust(counts));
  const threads = facts.loopThreads.map((t) => ({
    cpuPercent: percentile(t.cpuPercent, 0.5),
    eventLoopDelayP99Ms: percentile(t.eventLoopDelayP99Ms, 0.5),
  }));
  const cpuSeconds = sum((r) => r.cpuSeconds);
  const stalls = stallsOf(reports);
  const gap = outage(reports.filter((r) => r.closedAfter > 0));
  const verdict = judge(threads, summary?.p95 ?? null, facts.stealPercent, { ...stalls, windowSeconds: seconds });
  const limits: Record<string, number> = {};
  for (const report of reports)
    for (const [code, n] of Object.entries(report.ownLimits)) limits[code] = (limits[code] ?? 0) + n;
  const reasons = [...verdict.reasons, ...judgeOwnLimits(limits)];
  const saturation = { saturated: reasons.length > 0, reasons };
  const path = [...new Set(reports.map((r) => r.path).filter((p) => p !== ""))].join("+");
  return {
    step: slot.step,
    repeat: slot.repeat,
    workload: step.workload,
    threads: step.threads,
    startedAt: new Date(facts.openedAt).toISOString(),
    windowSeconds: round(seconds, 3),
    complete: problems.length === 0,
    ...(problems.length > 0 ? { incompleteReason: problems.join("; ") } : {}),
    tps: seconds > 0 ? round(total.events / seconds, 3) : 0,
    qps: seconds > 0 ? round(queries.total / seconds, 3) : 0,
    latency: summary,
    ...(service ? { serviceLatency: service.summary() } : {}),
    ...(summary ? { histogram: latencies.encode() } : {}),
    ...(service && service.count > 0 ? { serviceHistogram: service.encode() } : {}),
    ...counts,
    reconnects: total.reconnects,
    ...(gap ? { outage: gap } : {}),
    outside: {
      connect: outsideOf(reports.map((r) => r.beforeStart)),
      warmup: outsideOf([facts.warmup]),
      drain: outsideOf(reports.map((r) => r.drain)),
    },
    intervals,
    ...(facts.primaries ? { primaries: facts.primaries } : {}),
    driver: {
      cpuSeconds: round(cpuSeconds, 3),
      cpuPercent: seconds > 0 ? round((100 * cpuSeconds) / seconds, 1) : 0,
      eventLoopDelayP99Ms: Math.max(0, ...threads.map((t) => t.eventLoopDelayP99Ms)),
      ...saturation,
      ...(stalls.longestSeconds > 0 ? { stalls } : {}),
      ...(path ? { path } : {}),
      ...(facts.start ? { start: { ...facts.start, lateMs: round(facts.start.lateMs, 3) } } : {}),
      loops: facts.loopThreads.length,
      stealPercent: round(facts.stealPercent, 2),
      tcpRetransmits: facts.retransmits,
      networkMbit: seconds > 0 ? round((8 * sum((r) => r.bytes)) / seconds / 1e6, 3) : 0,
    },
    within: { tps: overIntervals(wholeIntervals(facts).map((i) => i.tps)) },
    server: [],
    serverVersion: reports.map((r) => r.serverVersion).find((v) => v !== "") ?? null,
  };
}

function outsideOf(tallies: readonly Tally[]): NonNullable<StepResult["outside"]>["drain"] {
  const all = tally();
  for (const one of tallies) addTally(all, one);
  return {
    transactions: all.events,
    queries: all.reads + all.writes + all.others,
    errors: all.errors,
    byCode: all.byCode,
  };
}

/** Inside the window. */
function stallsOf(reports: readonly PartReport[]): { longestSeconds: number; totalSeconds: number } {
  const each = reports.map(({ stalls, closedAfter }) =>
    stalls
      .map(({ from, to }) => Math.max(0, Math.min(to ?? 0, closedAfter) - Math.max(from, 0)) / 1000)
      .filter((length) => length > 0),
  );
  return {
    longestSeconds: round(Math.max(0, ...each.flat()), 3),
    totalSeconds: round(Math.max(0, ...each.map((lengths) => lengths.reduce((a, b) => a + b, 0))), 3),
  };
}

function merge(packed: readonly PartReport["late"][]): Latencies {
  const merged = new Latencies();
  for (const part of packed) merged.addPacked(part);
  return merged;
}

function percentile(values: number[], p: number): number {
  if (values.length === 0) return 0;
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(p * sorted.length))] as number;
}

/**
 * Of the whole length, so that each says as much as another. The first one is left out: without a warm-up it lacks
 * what a full pipeline would have brought.
 */
function wholeIntervals({ intervals, step }: WindowFacts): Interval[] {
  return intervals.slice(1).filter((i) => (i.seconds ?? 0) >= 0.999 * step.intervalSeconds);
}

/**
 * What the events are divided by: they count when they end inside the window, so it is the window's own length. After a
 * warm-up all connections are busy when it opens, so what is missing at its end makes up for what is on top at its
 * start. A run that ends early (abort, `events`) took as long as it took.
 */
function windowSeconds({ step, reports, aborted }: WindowFacts): number {
  const closed = Math.max(0, ...reports.map((r) => r.closedAfter)) / 1000;
  const last = Math.max(0, ...reports.map((r) => r.lastCompletion)) / 1000;
  const limited = Number(step.options.events ?? 0) > 0;
  if (aborted) return closed;
  return limited && closed < step.durationSeconds && last > 0 ? last : step.durationSeconds;
}

function openLoop(facts: WindowFacts, events: number, seconds: number): NonNullable<StepResult["openLoop"]> {
  const { step, reports, own } = facts;
  const sum = (pick: (r: PartReport) => number): number => reports.reduce((n, r) => n + pick(r), 0);
  return {
    requestedPerSecond: ((step.rate?.perSecond ?? 0) * own) / step.threads,
    achievedPerSecond: seconds > 0 ? round(events / seconds, 3) : 0,
    maxBacklog: sum((r) => r.maxBacklog),
    dropped: sum((r) => r.dropped),
    offered: sum((r) => r.offered),
    carriedIn: sum((r) => r.carriedIn),
    backlogAtEnd: sum((r) => r.backlogAtEnd),
  };
}
