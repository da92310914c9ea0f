/** One window: its event loops start together, their intervals are laid side by side, and one StepResult comes out. */
import { availableParallelism } from "node:os";
import type { Interval, RunSpec, Step, StepResult } from "../contract.ts";
import type { Offset } from "./clock.ts";
import { epochNow } from "./clock.ts";
import type { IntervalReport, PartReport } from "./figures/counters.ts";
import { addTally, tally } from "./figures/counters.ts";
import { Latencies } from "./figures/histogram.ts";
import { stepResult } from "./figures/step-result.ts";
import type { Loop } from "./part/loops.ts";
import { localLoop, workerLoop } from "./part/loops.ts";
import { intervalLine, SHORTEST_SECONDS, toInterval } from "./progress.ts";
import type { RoleWatch } from "./roles/watch.ts";
import { reignsOf } from "./roles/watch.ts";
import type { Slot } from "./schedule.ts";
import { readHost, stealPercent } from "./selfcheck.ts";

export interface WindowOptions {
  password: string;
  /** The program itself, for worker threads. */
  entry: URL;
  signal: AbortSignal;
  /** Several drivers: asked when the connections are open; resolves to the begin that they agreed on (epochNow()). */
  agree?(): Promise<Agreed | undefined>;
  onLine(line: string, interval: Interval, warmup: boolean): void;
  /** Called when the window opens and when it is closed and drained, for the observation of servers. */
  onOpen?(): void;
  /** Where nodes are asked for their roles. */
  roles?: RoleWatch | undefined;
}

/**
 * When the warm-up begins, and how this driver's clock stands to the first driver's where that was compared.
 * Milliseconds.
 */
export interface Agreed {
  at: number;
  offset: Offset | null;
}

/** Sessions per event loop from which on another loop pays. */
const SESSIONS_PER_LOOP = 64;
/** Between "all connected" and the start, so that every loop is ready for it. */
const START_DELAY_MS = 30;

/**
 * One loop drives 64 sessions or more without queueing; more loops only where there are cores for them beside the main
 * thread.
 */
export function loopCount(spec: RunSpec, sessions: number, cores = availableParallelism()): number {
  const wanted = spec.workers ?? Math.min(Math.max(1, cores - 1), Math.ceil(sessions / SESSIONS_PER_LOOP));
  return Math.max(1, Math.min(wanted, sessions));
}

/** Sessions of this driver node: those whose number leaves `index` when divided by `count`. */
export function ownSessions(spec: RunSpec, step: Step): number {
  const { index, count } = spec.drivers ?? { index: 0, count: 1 };
  return Math.ceil((step.threads - index) / count);
}

export async function runWindow(spec: RunSpec, slot: Slot, options: WindowOptions): Promise<StepResult> {
  const step = spec.steps[slot.step] as Step;
  const drivers = spec.drivers ?? { index: 0, count: 1 };
  const own = ownSessions(spec, step);
  const count = loopCount(spec, own);
  const collector = new IntervalCollector(step, own, count, options);
  const loops: Loop[] = [];
  for (let i = 0; i < count; i++) {
    const task = { spec, ...slot, loop: drivers.index + drivers.count * i, loops: drivers.count * count };
    const onInterval = (report: IntervalReport): void => collector.take(i, report);
    loops.push(
      count === 1
        ? await localLoop(task, options.password, onInterval, options.roles)
        : workerLoop(options.entry, task, options.password, onInterval, options.roles),
    );
  }
  const stop = (): void => loops.forEach((loop) => loop.stop());
  options.signal.addEventListener("abort", stop, { once: true });
  try {
    const problems: string[] = [];
    const connected = await connectAll(loops, spec, own, options.signal, problems);
    if (connected < own)
      problems.push(`only ${connected} of ${own} connections could be opened before the window${lastError(problems)}`);
    const agreed = await options.agree?.();
    const begin = Math.max(agreed?.at ?? 0, epochNow() + START_DELAY_MS);
    const open = begin + 1000 * step.warmupSeconds;
    const close = open + 1000 * step.durationSeconds;
    // By the clock of now: it may be set while the window lasts.
    const openedAt = Date.now() + open - epochNow();
    const opening = setTimeout(() => options.onOpen?.(), Math.max(0, open - epochNow()));
    const before = readHost();
    const settled = await Promise.allSettled(
      loops.map((loop, i) => loop.run({ begin, open, close }).finally(() => collector.ended(i))),
    );
    clearTimeout(opening);
    const after = readHost();
    const reports: PartReport[] = [];
    for (const outcome of settled) {
      if (outcome.status === "fulfilled") reports.push(outcome.value);
      else problems.push((outcome.reason as Error).message);
    }
    collector.flush();
    const primaries = options.roles && reignsOf(options.roles.reigns, open, close);
    return stepResult({
      spec,
      slot,
      step,
      own,
      reports,
      intervals:
        primaries === undefined
          ? collector.intervals
          : collector.intervals.map((i) => ({ ...i, primary: primaries.findLast(({ t }) => t <= i.t)?.nodes ?? [] })),
      ...(primaries === undefined ? {} : { primaries }),
      total: collector.total,
      warmup: collector.warmup,
      latencies: collector.latencies,
      problems,
      openedAt,
      ...(agreed
        ? {
            start: {
              clockOffsetMs: agreed.offset?.offsetMs ?? null,
              clockUncertaintyMs: agreed.offset?.uncertaintyMs ?? null,
              lateMs: begin - agreed.at,
            },
          }
        : {}),
      aborted: options.signal.aborted,
      abortReason: String(options.signal.reason ?? "stopped"),
      stealPercent: stealPercent(before, after),
      retransmits: after.retransmits - before.retransmits,
      loopThreads: collector.threads,
    });
  } finally {
    options.signal.removeEventListener("abort", stop);
    await Promise.all(loops.map((loop) => loop.release()));
  }
}

function lastError(problems: string[]): string {
  const errors = problems.splice(0);
  return errors.length > 0 ? ` (${errors.at(-1)})` : "";
}

async function connectAll(
  loops: Loop[],
  spec: RunSpec,
  sessions: number,
  signal: AbortSignal,
  problems: string[],
): Promise<number> {
  const { connectTimeoutMs, connectRate } = spec.target;
  const patience = connectTimeoutMs + 5000 + (connectRate > 0 ? (1000 * sessions) / connectRate : 0);
  if (signal.aborted) return 0;
  const aborted = new Promise<never[]>((resolve) =>
    signal.addEventListener("abort", () => resolve([]), { once: true }),
  );
  const states = await Promise.race([Promise.allSettled(loops.map((loop) => loop.connect(patience))), aborted]);
  let connected = 0;
  for (const state of states) {
    if (state.status === "fulfilled") {
      connected += state.value.connected;
      if (state.value.error !== null) problems.push(state.value.error);
    } else {
      problems.push((state.reason as Error).message);
    }
  }
  if (connected === sessions) problems.length = 0;
  return connected;
}

/** Lays the intervals of several loops side by side; an interval is complete when every living loop has reported it. */
class IntervalCollector {
  readonly intervals: Interval[] = [];
  /** Over the window's intervals, of the loops that died too, and over those of the warm-up. */
  readonly total = tally();
  readonly warmup = tally();
  readonly latencies = new Latencies();
  /** Per loop, over the window's intervals: share of a core, and the event loop's lateness. */
  readonly threads: { cpuPercent: number[]; eventLoopDelayP99Ms: number[] }[];
  readonly #step: Step;
  readonly #sessions: number;
  readonly #options: WindowOptions;
  readonly #alive: Set<number>;
  readonly #open = new Map<number, (IntervalReport | undefined)[]>();
  readonly #count: number;

  constructor(step: Step, sessions: number, count: number, options: WindowOptions) {
    this.#step = step;
    this.#sessions = sessions;
    this.#options = options;
    this.#count = count;
    this.#alive = new Set(Array.from({ length: count }, (_, i) => i));
    this.threads = Array.from({ length: count }, () => ({ cpuPercent: [], eventLoopDelayP99Ms: [] }));
  }

  take(loop: number, report: IntervalReport): void {
    const reports = this.#open.get(report.index) ?? Array.from({ length: this.#count }, () => undefined);
    reports[loop] = report;
    this.#open.set(report.index, reports);
    this.#finish(report.index);
  }

  ended(loop: number): void {
    this.#alive.delete(loop);
    for (const index of [...this.#open.keys()].toSorted((a, b) => a - b)) this.#finish(index);
  }

  flush(): void {
    this.#alive.clear();
    for (const index of [...this.#open.keys()].toSorted((a, b) => a - b)) this.#finish(index);
  }

  #finish(index: number): void {
    const slots = this.#open.get(index) ?? [];
    if ([...this.#alive].some((loop) => slots[loop] === undefined)) return;
    this.#open.delete(index);
    const reports = slots.filter((r) => r !== undefined);
    if (reports.length === 0) return;
    const latencies = new Latencies();
    for (const report of reports) latencies.addPacked(report.latencies);
    const warmup = index < 0;
    for (const report of reports) addTally(warmup ? this.warmup : this.total, report.tally);
    // Loops that have nothing more to do end earlier than others.
    const seconds = Math.max(...reports.map((r) => r.seconds));
    const { intervalSeconds: length, warmupSeconds } = this.#step;
    // In the warm-up it is the first one that can be shorter, in the window the last.
    const end = warmup ? (index + 1) * length : index * length + seconds;
    const interval = toInterval(reports, latencies, end, seconds);
    if (!warmup) {
      this.latencies.add(latencies);
      this.intervals.push(interval);
      slots.forEach((report, loop) => {
        const thread = this.threads[loop];
        if (!report || !thread) return;
        thread.cpuPercent.push((100 * report.cpuSeconds) / Math.max(report.seconds, SHORTEST_SECONDS));
        thread.eventLoopDelayP99Ms.push(report.eventLoopDelayP99Ms);
      });
    }
    this.#options.onLine(intervalLine(interval, this.#sessions, warmup ? warmupSeconds + end : end), interval, warmup);
  }
}
