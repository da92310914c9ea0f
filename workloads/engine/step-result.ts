/** What a window's event loops report, as the contract's StepResult. */
import type { Interval, RunSpec, Start, Step, StepResult } from "../contract.ts";
import type { Gap, PartReport } from "./counters.ts";
import { addTally, tally } from "./counters.ts";
import { Latencies } from "./histogram.ts";
import { round } from "./progress.ts";
import type { Slot } from "./schedule.ts";
import { judge } from "./selfcheck.ts";
import { within } from "./stats.ts";

export interface WindowFacts {
  spec: RunSpec;
  slot: Slot;
  step: Step;
  /** Sessions of this driver. */
  own: number;
  reports: PartReport[];
  intervals: Interval[];
  problems: string[];
  /** Epoch milliseconds. */
  openedAt: number;
  /** From the opening to the end of the drain. */
  endedAfterMs: number;
  /** One of several drivers. */
  start?: Start;
  aborted: boolean;
  abortReason: string;
  stealPercent: number;
  retransmits: number;
  loopThreads: { cpuPercent: number[]; eventLoopDelayP99Ms: number[] }[];
}

export function stepResult(facts: WindowFacts): StepResult {
  const { reports, step, slot, intervals } = facts;
  const total = tally();
  for (const report of reports) addTally(total, report.tally);
  const latencies = merge(reports.map((r) => r.latencies));
  const service = step.rate ? merge(reports.flatMap((r) => (r.service ? [r.service] : []))) : null;
  const queries = {
    read: total.reads,
    write: total.writes,
    other: total.others,
    total: total.reads + total.writes + total.others,
  };
  const seconds = windowSeconds(facts);
  const problems = [...new Set(facts.problems)];
  if (facts.aborted) problems.unshift(`stopped (${facts.abortReason})`);
  const summary = latencies.summary();
  const threads = facts.loopThreads.map((t) => ({
    cpuPercent: percentile(t.cpuPercent, 0.5),
    eventLoopDelayP99Ms: percentile(t.eventLoopDelayP99Ms, 0.5),
  }));
  const sum = (pick: (r: PartReport) => number): number => reports.reduce((n, r) => n + pick(r), 0);
  const cpuSeconds = sum((r) => r.cpuSeconds);
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
    transactions: total.events,
    queries,
    tps: seconds > 0 ? round(total.events / seconds, 3) : 0,
    qps: seconds > 0 ? round(queries.total / seconds, 3) : 0,
    latency: summary,
    ...(service ? { serviceLatency: service.summary() } : {}),
    ...(summary ? { histogram: latencies.encode() } : {}),
    ...(service && service.count > 0 ? { serviceHistogram: service.encode() } : {}),
    errors: { total: total.errors, byCode: total.byCode, restarts: total.restarts },
    reconnects: total.reconnects,
    outage: outage(reports, facts),
    intervals,
    driver: {
      cpuSeconds: round(cpuSeconds, 3),
      cpuPercent: seconds > 0 ? round((100 * cpuSeconds) / seconds, 1) : 0,
      eventLoopDelayP99Ms: Math.max(0, ...threads.map((t) => t.eventLoopDelayP99Ms)),
      ...judge(threads, summary?.p95 ?? null, facts.stealPercent),
      ...(path ? { path } : {}),
      ...(facts.start ? { start: { ...facts.start, lateMs: round(facts.start.lateMs, 3) } } : {}),
      loops: facts.loopThreads.length,
      stealPercent: round(facts.stealPercent, 2),
      tcpRetransmits: facts.retransmits,
      networkMbit: seconds > 0 ? round((8 * sum((r) => r.bytes)) / seconds / 1e6, 3) : 0,
    },
    ...(step.rate ? { openLoop: openLoop(facts, total.events, seconds) } : {}),
    checks: { mismatches: total.mismatches, sampled: total.sampled, sampledWrong: total.sampledWrong },
    drain: { drained: sum((r) => r.drained), abandoned: sum((r) => r.abandoned) },
    within: { tps: within(wholeIntervals(facts).map((i) => i.tps)) },
    server: [],
    serverVersion: reports.map((r) => r.serverVersion).find((v) => v !== "") ?? null,
  };
}

function merge(packed: readonly PartReport["latencies"][]): Latencies {
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
 * The first interval lacks the events that were under way when the window opened, so it is left out of the statistics.
 */
function wholeIntervals(facts: WindowFacts): Interval[] {
  return facts.intervals.slice(1).filter((i) => i.t <= facts.step.durationSeconds + 0.001);
}

/**
 * What the events are divided by. They count when they began inside the window, those that end in the drain included.
 * After a warm-up all connections are busy when the window opens, so what is missing at its start makes up for what is
 * on top at its end, and its own length is the right one. Without a warm-up all begin at once, as in sysbench, and as
 * there the time of the drain belongs to the elapsed time. A run that ends early (abort, `events`) took as long as it
 * took.
 */
function windowSeconds({ step, reports, endedAfterMs, aborted }: WindowFacts): number {
  const last = Math.max(0, ...reports.map((r) => r.lastCompletion)) / 1000;
  const limited = Number(step.options.events ?? 0) > 0;
  if (aborted) return Math.max(0, Math.min(step.durationSeconds, endedAfterMs / 1000));
  if (limited) return last > 0 ? last : step.durationSeconds;
  return step.warmupSeconds > 0 ? step.durationSeconds : Math.max(step.durationSeconds, last);
}

function openLoop(facts: WindowFacts, events: number, seconds: number): NonNullable<StepResult["openLoop"]> {
  const { step, reports, own } = facts;
  const sum = (pick: (r: PartReport) => number): number => reports.reduce((n, r) => n + pick(r), 0);
  return {
    requestedPerSecond: ((step.rate?.perSecond ?? 0) * own) / step.threads,
    achievedPerSecond: seconds > 0 ? round(events / seconds, 3) : 0,
    maxBacklog: sum((r) => r.maxBacklog),
    dropped: sum((r) => r.dropped),
    /**
     * Events that were due inside the window and had not begun when it closed: their latency is unknown, so the
     * histogram lacks its longest values.
     */
    backlogAtEnd: sum((r) => r.backlogAtEnd),
  };
}

/** Without a success in any loop. Seconds. */
function outage(reports: PartReport[], facts: WindowFacts): NonNullable<StepResult["outage"]> {
  const none = { longestGapSeconds: round(facts.endedAfterMs / 1000, 3), gapStartedAt: 0, firstSuccessAfter: null };
  if (reports.length === 0) return none;
  const common = reports.map((r) => r.gaps).reduce(intersect);
  let longest: Gap | null = null;
  const end = Math.min(facts.step.durationSeconds * 1000, facts.endedAfterMs);
  const length = (gap: Gap): number => (gap.to ?? Math.max(gap.from, end)) - gap.from;
  for (const gap of common) if (longest === null || length(gap) > length(longest)) longest = gap;
  if (longest === null) {
    // Only gaps of 0.2 s and more are kept one by one: below that the loop with the shortest one bounds them all.
    return {
      longestGapSeconds: round(Math.min(...reports.map((r) => r.longestGap)) / 1000, 4),
      gapStartedAt: null,
      firstSuccessAfter: null,
    };
  }
  return {
    longestGapSeconds: round(length(longest) / 1000, 3),
    gapStartedAt: round(longest.from / 1000, 3),
    firstSuccessAfter: longest.to === null ? null : round(longest.to / 1000, 3),
  };
}

/** Stretches that lie in a gap of both lists. */
export function intersect(a: readonly Gap[], b: readonly Gap[]): Gap[] {
  const result: Gap[] = [];
  const end = (gap: Gap): number => gap.to ?? Infinity;
  let i = 0;
  let j = 0;
  while (i < a.length && j < b.length) {
    const x = a[i] as Gap;
    const y = b[j] as Gap;
    const from = Math.max(x.from, y.from);
    const to = Math.min(end(x), end(y));
    if (to > from) result.push({ from, to: to === Infinity ? null : to });
    if (end(x) < end(y)) i++;
    else j++;
  }
  return result;
}
