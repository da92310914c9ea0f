/** The sessions of one event loop, for one window: connects them, drives them, measures, drains. */
import type { RunSpec, Step } from "../contract.ts";
import { DriverError } from "../drivers/driver.ts";
import type { Driver } from "../drivers/driver.ts";
import { addTally, tally } from "./counters.ts";
import type { Gap, IntervalReport, PartReport, Tally } from "./counters.ts";
import { Latencies } from "./histogram.ts";
import { ask, Linker } from "./linker.ts";
import { Arrivals } from "./pacing.ts";
import type { Plan } from "./plan.ts";
import { Random } from "./random.ts";
import { ThreadMeter } from "./selfcheck.ts";
import { Session } from "./session.ts";
import type { SessionOwner } from "./session.ts";

export interface PartTask {
  spec: RunSpec;
  /** Index into spec.steps, and which repeat. */
  step: number;
  repeat: number;
  /** This loop's place among all loops of all driver nodes: it runs the sessions whose number leaves `loop` when divided by `loops`. */
  loop: number;
  loops: number;
}

/** Moments of a window in performance.now() of this thread, milliseconds. */
export interface Times {
  begin: number;
  open: number;
  close: number;
}

/** Gaps without success from this length on are kept one by one, so that those of several loops can be laid over each other. */
const KEPT_GAP_MS = 200;
const KEPT_GAPS = 10_000;
const WATCH_MS = 100;
/** Below this the timer is too coarse and the loop turns round until the next arrival is due. */
const SPIN_MS = 1.5;

export class Part implements SessionOwner {
  readonly plan: Plan;
  readonly exactWriteCounts: boolean;
  readonly #task: PartTask;
  readonly #step: Step;
  readonly #driver: Driver;
  readonly #linker: Linker;
  readonly #sessions: Session[] = [];
  readonly #onInterval: (report: IntervalReport) => void;
  readonly #meter = new ThreadMeter();
  #times: Times = { begin: Infinity, open: Infinity, close: Infinity };
  #interval: Tally = tally();
  #intervalLatencies = new Latencies();
  #total: Tally = tally();
  #latencies = new Latencies();
  #service: Latencies | null = null;
  #arrivals: Arrivals | null = null;
  #idle: Session[] = [];
  #lastSuccess = 0;
  #gaps: Gap[] = [];
  #longestGap = 0;
  #lastCompletion = 0;
  #drained = 0;
  #budget = Infinity;
  #cpuSeconds = 0;
  #worstDelay = 0;
  #bytesAtOpen = 0;
  #bytesAtInterval = 0;
  #goneBytes = 0;
  #connectError: string | null = null;
  #path = "";
  #serverVersion = "";
  #started = false;
  #over = false;
  #timers: NodeJS.Timeout[] = [];
  #spinning = false;
  #idleReported: (() => void) | null = null;
  #lastProgress: { progress: number; since: number }[] = [];

  constructor(task: PartTask, plan: Plan, driver: Driver, password: string, events: number, onInterval: (report: IntervalReport) => void) {
    this.#task = task;
    this.#step = task.spec.steps[task.step] as Step;
    this.plan = plan;
    this.#driver = driver;
    this.exactWriteCounts = driver.exactWriteCounts;
    this.#onInterval = onInterval;
    const { loop, loops, spec } = task;
    this.#linker = new Linker(spec, driver, plan, password, spec.target.connectRate / loops, loop);
    for (let id = loop; id < this.#step.threads; id += loops) {
      this.#sessions.push(new Session(id, new Random(spec.seed, task.step, task.repeat, id), this));
    }
    if (events > 0) this.#budget = Math.floor(events / loops) + (loop < events % loops ? 1 : 0);
  }

  get alternatives(): boolean {
    return this.#linker.alternatives;
  }

  /** Resolves when all sessions are connected, or after `patienceMs` with those that are; the others go on trying. */
  async connect(patienceMs: number): Promise<{ connected: number; error: string | null }> {
    const all = Promise.all(this.#sessions.map((session) => this.#link(session)));
    let timer: NodeJS.Timeout | undefined;
    await Promise.race([all, new Promise((resolve) => (timer = setTimeout(resolve, patienceMs)))]);
    clearTimeout(timer);
    return { connected: this.#connected(), error: this.#connectError };
  }

  #connected(): number {
    return this.#sessions.reduce((n, session) => n + (session.link === null ? 0 : 1), 0);
  }

  async #link(session: Session): Promise<void> {
    const fresh = session.link === null && session.progress === 0;
    const link = await this.#linker.openPersistently(session.random, (error) => this.#connectFailed(error));
    if (link === null) return;
    if (this.#over) return link.connections.forEach((connection) => connection.destroy());
    this.#path ||= link.main.path;
    this.#serverVersion ||= link.main.serverVersion;
    if (fresh && this.plan.start) {
      try {
        await this.plan.start(session, (sql) => ask(link.main, sql));
      } catch (error) {
        this.#connectFailed(error as DriverError);
        return this.#link(session);
      }
    }
    session.relink(link);
    if (session.mode === "idle") this.#offer(session);
  }

  #connectFailed(error: DriverError): void {
    this.#connectError = error.message;
    this.#countError(error, performance.now() >= this.#times.open);
  }

  /** Starts warm-up and window. Resolves with the report once the window is closed and drained, or `stop` was called. */
  async run(times: Times): Promise<PartReport> {
    this.#times = times;
    if (this.#step.rate) this.#service = new Latencies();
    await until(times.begin);
    this.#started = true;
    this.#beginPhase(times.begin, Math.min(times.open, times.close));
    for (const session of this.#sessions) if (session.mode === "idle" && session.link !== null) this.#offer(session);
    this.#watchProgress();
    this.#scheduleIntervals();
    if (times.open > times.begin) await this.#waitUntil(times.open);
    if (times.open > times.begin && !this.#over) this.#openWindow();
    else this.#resetMeasures(times.open);
    await this.#waitUntil(times.close);
    return this.#finish();
  }

  /** In an open loop each phase has its own arrivals: what the warm-up could not do is not brought into the window. */
  #beginPhase(from: number, until: number): void {
    const { rate } = this.#step;
    if (!rate) return;
    const { loop, loops, spec, step, repeat } = this.#task;
    const random = new Random(spec.seed, step, repeat, 0x0a771e, loop, from === this.#times.open ? 1 : 0);
    this.#arrivals = new Arrivals(rate.perSecond / loops, rate.arrivals, Math.max(1, Math.ceil(rate.maxBacklog / loops)), random, from, until, loop / loops);
  }

  #openWindow(): void {
    this.#resetMeasures(this.#times.open);
    this.#beginPhase(this.#times.open, this.#times.close);
    this.#pump();
  }

  #resetMeasures(open: number): void {
    this.#lastSuccess = open;
    this.#gaps = [];
    this.#longestGap = 0;
    this.#total = tally();
    this.#bytesAtOpen = this.#bytes();
    this.#cpuSeconds = 0;
    this.#worstDelay = 0;
    if (open <= this.#times.begin) this.#beginPhase(open, this.#times.close);
  }

  // What sessions tell.

  eventDone(session: Session, start: number, end: number): void {
    const latency = end - start;
    this.#flush(session);
    this.#interval.events++;
    this.#intervalLatencies.record(latency);
    if (end >= this.#times.open) this.#success(end);
    if (!session.counted) return;
    this.#total.events++;
    this.#latencies.record(latency);
    this.#service?.record(end - session.serviceStart);
    if (end > this.#times.close) this.#drained++;
    this.#lastCompletion = end;
  }

  next(session: Session): boolean {
    if (this.#over) return false;
    if (this.#mustReconnect(session)) {
      this.#reconnect(session);
      return false;
    }
    const now = performance.now();
    const arrivals = this.#arrivals;
    if (arrivals !== null) {
      arrivals.advance(now);
      const due = arrivals.take();
      if (due < 0) {
        this.#idle.push(session);
        this.#schedulePump();
        return false;
      }
      session.start = due;
      session.counted = due >= this.#times.open;
      session.serviceStart = now;
      return true;
    }
    if (now >= this.#times.close || this.#budget <= 0) {
      this.#idleReported?.();
      return false;
    }
    this.#budget--;
    session.start = now;
    session.counted = now >= this.#times.open;
    return true;
  }

  failed(session: Session, error: DriverError): void {
    this.#flush(session);
    this.#countError(error, session.counted);
    if (error.action === "restart") {
      this.#interval.restarts++;
      if (session.counted) this.#total.restarts++;
    }
  }

  needsLink(session: Session): void {
    this.#interval.reconnects++;
    if (performance.now() >= this.#times.open) this.#total.reconnects++;
    if (!this.#over && performance.now() < this.#times.close) void this.#link(session);
    else this.#idleReported?.();
  }

  #countError(error: DriverError, counted: boolean): void {
    this.#interval.errors++;
    this.#interval.byCode[error.code] = (this.#interval.byCode[error.code] ?? 0) + 1;
    if (!counted) return;
    this.#total.errors++;
    this.#total.byCode[error.code] = (this.#total.byCode[error.code] ?? 0) + 1;
  }

  /** Moves what the session has counted so far into the interval and, if it counts, into the window. */
  #flush(session: Session): void {
    add(this.#interval, session);
    if (session.counted) add(this.#total, session);
    session.reads = session.writes = session.others = session.mismatches = session.sampled = session.sampledWrong = 0;
  }

  #success(now: number): void {
    const gap = now - this.#lastSuccess;
    if (gap > this.#longestGap) this.#longestGap = gap;
    if (gap >= KEPT_GAP_MS && this.#gaps.length < KEPT_GAPS) this.#gaps.push({ from: this.#lastSuccess - this.#times.open, to: now - this.#times.open });
    this.#lastSuccess = now;
  }

  #mustReconnect(session: Session): boolean {
    const mode = this.#task.spec.target.reconnect;
    if (mode === "never" || session.eventsOnLink === 0) return false;
    return mode === "random" ? session.random.double() < 0.5 : session.eventsOnLink >= mode;
  }

  #reconnect(session: Session): void {
    const link = session.link;
    session.link = null;
    for (const connection of link?.connections ?? []) {
      this.#goneBytes += connection.bytesRead + connection.bytesWritten;
      void connection.close();
    }
    this.#interval.reconnects++;
    if (performance.now() >= this.#times.open) this.#total.reconnects++;
    session.mode = "linking";
    void this.#link(session);
  }

  /** Gives a free session its next event, if there is one. */
  #offer(session: Session): void {
    if (!this.#started || this.#over) return;
    if (this.next(session)) session.begin(session.start, session.counted);
  }

  // The open loop's clock.

  #pump(): void {
    const arrivals = this.#arrivals;
    if (arrivals === null || this.#over) return;
    arrivals.advance(performance.now());
    while (this.#idle.length > 0 && arrivals.backlog > 0) {
      const session = this.#idle.pop() as Session;
      if (session.link !== null && session.mode === "idle") this.#offer(session);
    }
    this.#schedulePump();
  }

  #schedulePump(): void {
    if (this.#spinning || this.#arrivals === null || this.#idle.length === 0) return;
    const wait = this.#arrivals.nextDue - performance.now();
    if (wait === Infinity) return;
    this.#spinning = true;
    if (wait > SPIN_MS) {
      setTimeout(() => this.#turn(), Math.max(1, Math.floor(wait - SPIN_MS)));
      return;
    }
    this.#turn();
  }

  #turn(): void {
    const from = performance.now();
    const due = this.#arrivals?.nextDue ?? Infinity;
    if (due <= from || this.#idle.length === 0 || this.#over) {
      this.#spinning = false;
      return this.#pump();
    }
    if (due - from > SPIN_MS) {
      this.#spinning = false;
      return this.#schedulePump();
    }
    setImmediate(() => {
      this.#meter.spun += Math.min(performance.now() - from, 0.05) / 1000;
      this.#turn();
    });
  }

  // Intervals, time-outs, the end.

  #scheduleIntervals(): void {
    const length = this.#step.intervalSeconds * 1000;
    const { begin, open, close } = this.#times;
    let index = -Math.ceil((open - begin) / length - 1e-6);
    let from = begin;
    const tick = (): void => {
      const now = performance.now();
      this.#report(index++, (now - from) / 1000);
      from = now;
      schedule();
    };
    const schedule = (): void => {
      const due = open + (index + 1) * length;
      if (due < close - 1) this.#timers.push(setTimeout(tick, Math.max(0, due - performance.now())));
    };
    // The last interval ends with the window, whole or not.
    this.#lastInterval = () => {
      const now = Math.min(performance.now(), close + length);
      if (now - from > 1) this.#report(index, (now - from) / 1000);
    };
    schedule();
  }

  #lastInterval: () => void = () => {};

  #report(index: number, seconds: number): void {
    const { cpuSeconds, eventLoopDelayP99Ms } = this.#meter.take();
    if (index >= 0) {
      this.#cpuSeconds += cpuSeconds;
      this.#worstDelay = Math.max(this.#worstDelay, eventLoopDelayP99Ms);
    }
    const bytes = this.#bytes();
    const report: IntervalReport = {
      index, seconds, tally: this.#interval, latencies: this.#intervalLatencies.pack(), cpuSeconds, eventLoopDelayP99Ms,
      bytes: bytes - this.#bytesAtInterval, connected: this.#connected(),
    };
    this.#bytesAtInterval = bytes;
    this.#interval = tally();
    this.#intervalLatencies.reset();
    this.#onInterval(report);
  }

  #bytes(): number {
    let bytes = this.#goneBytes;
    for (const session of this.#sessions) for (const c of session.link?.connections ?? []) bytes += c.bytesRead + c.bytesWritten;
    return bytes;
  }

  /** A statement without an answer for statementTimeoutMs ends its connection: no session is stuck for ever. */
  #watchProgress(): void {
    const limit = this.#task.spec.target.statementTimeoutMs;
    const now = performance.now();
    this.#lastProgress = this.#sessions.map((s) => ({ progress: s.progress, since: now }));
    const timer = setInterval(() => this.#expire(limit), Math.min(WATCH_MS, Math.max(10, limit / 4)));
    this.#timers.push(timer);
  }

  #expire(limit: number): void {
    const now = performance.now();
    this.#sessions.forEach((session, i) => {
      const last = this.#lastProgress[i] as { progress: number; since: number };
      if (!session.awaitsAnswer || session.progress !== last.progress) {
        last.progress = session.progress;
        last.since = now;
      } else if (now - last.since >= limit) {
        last.since = now;
        session.timedOut(new DriverError("statement-timeout", `no answer within ${limit} ms`, "reconnect"));
      }
    });
  }

  #stopRequested: (() => void) | null = null;

  /** Ends the window early: what is under way is dropped, the report comes at once. */
  stop(): void {
    this.#times = { ...this.#times, close: Math.min(this.#times.close, performance.now()) };
    this.#over = true;
    this.#linker.stop();
    this.#stopRequested?.();
    this.#idleReported?.();
  }

  async #waitUntil(moment: number): Promise<void> {
    if (this.#over) return;
    const enough = new Promise<void>((resolve) => {
      this.#stopRequested = resolve;
      if (this.#budget !== Infinity) this.#idleReported = () => (this.#budget <= 0 && this.#busy() === 0 ? resolve() : undefined);
    });
    let timer: NodeJS.Timeout | undefined;
    await Promise.race([enough, new Promise((resolve) => (timer = setTimeout(resolve, Math.max(0, moment - performance.now()))))]);
    clearTimeout(timer);
  }

  #busy(): number {
    return this.#sessions.reduce((n, s) => n + (s.awaitsAnswer ? 1 : 0), 0);
  }

  async #finish(): Promise<PartReport> {
    const backlogAtEnd = this.#arrivals?.backlog ?? 0;
    const { dropped = 0, maxBacklog = 0 } = this.#arrivals ?? {};
    this.#arrivals = null;
    this.#lastInterval();
    this.#times = { ...this.#times, close: Math.min(this.#times.close, performance.now()) };
    const closedAt = this.#times.close;
    if (!this.#over) await this.#drain();
    const abandoned = this.#sessions.filter((s) => s.start > 0 && s.counted).length;
    this.#over = true;
    this.#linker.stop();
    const connected = this.#connected();
    for (const timer of this.#timers) clearTimeout(timer);
    const bytes = this.#bytes() - this.#bytesAtOpen;
    const last = this.#meter.take();
    this.#meter.stop();
    await Promise.all(this.#sessions.map((session) => this.#end(session)));
    if (closedAt > this.#lastSuccess) {
      const gap = closedAt - this.#lastSuccess;
      this.#longestGap = Math.max(this.#longestGap, gap);
      if (gap >= KEPT_GAP_MS) this.#gaps.push({ from: this.#lastSuccess - this.#times.open, to: null });
    }
    return {
      tally: this.#total, latencies: this.#latencies.pack(), service: this.#service?.pack() ?? null,
      gaps: this.#gaps, longestGap: this.#longestGap, lastCompletion: this.#lastCompletion - this.#times.open,
      drained: this.#drained, abandoned, path: this.#path, serverVersion: this.#serverVersion, dropped, maxBacklog, backlogAtEnd,
      cpuSeconds: this.#cpuSeconds + last.cpuSeconds, eventLoopDelayP99Ms: this.#worstDelay, bytes, connected, connectError: this.#connectError,
    };
  }

  /** Events under way end and count; one that is in its back-off or has no connection is given up. */
  async #drain(): Promise<void> {
    if (this.#busy() === 0) return;
    const limit = this.#task.spec.target.statementTimeoutMs + 2 * WATCH_MS;
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      timer = setTimeout(resolve, limit);
      const check = (): void => (this.#busy() === 0 ? resolve() : undefined);
      this.#idleReported = check;
      this.#stopRequested = resolve;
      this.#timers.push(setInterval(check, 20));
    });
    clearTimeout(timer);
  }

  async #end(session: Session): Promise<void> {
    const stuck = session.awaitsAnswer;
    session.stop();
    const connections = session.link?.connections ?? [];
    if (stuck) connections.forEach((connection) => connection.destroy());
    else await Promise.all(connections.map((connection) => connection.close()));
  }
}

function add(into: Tally, from: Session): void {
  into.reads += from.reads;
  into.writes += from.writes;
  into.others += from.others;
  into.mismatches += from.mismatches;
  into.sampled += from.sampled;
  into.sampledWrong += from.sampledWrong;
}

async function until(moment: number): Promise<void> {
  const wait = moment - performance.now();
  if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
}
