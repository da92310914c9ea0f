/** The sessions of one event loop, for one window: connects them, drives them, watches them, drains them. */
import type { Step } from "../../contract.ts";
import type { Driver, DriverError } from "../../drivers/driver.ts";
import type { IntervalReport, PartReport } from "../figures/counters.ts";
import { IntervalClock } from "../figures/interval-clock.ts";
import { Recorder } from "../figures/recorder.ts";
import type { Plan } from "../plan.ts";
import { Random } from "../random.ts";
import type { RoleView } from "../roles/view.ts";
import { leaveFormer } from "../watch/former.ts";
import { Quiet } from "../watch/quiet.ts";
import { StallWatch } from "../watch/stall.ts";
import { StuckWatch } from "../watch/stuck.ts";
import { within } from "../within.ts";
import { busyOf, connectedOf, endSession, inHandOf } from "./all.ts";
import { Linker } from "./linker.ts";
import { PartMeter } from "./meter.ts";
import { OpenLoop } from "./open-loop.ts";
import { Opening } from "./opening.ts";
import type { SessionOwner } from "./owner.ts";
import { DRAIN_CHECK_MS, LONGEST_DRAIN_MS } from "./patience.ts";
import { Session } from "./session.ts";
import type { PartTask, Times } from "./task.ts";

export class Part implements SessionOwner<Session> {
  readonly plan: Plan;
  readonly exactWriteCounts: boolean;
  readonly #step: Step;
  readonly links: Linker;
  readonly #sessions: Session[] = [];
  readonly #onInterval: (report: IntervalReport) => void;
  readonly #meter = new PartMeter(this.#sessions);
  readonly #opening: Opening;
  readonly #quiet = new Quiet();
  readonly #recorder: Recorder;
  readonly #openLoop: OpenLoop | null;
  readonly #watch: StuckWatch;
  readonly #stalls = new StallWatch();
  #times: Times = { begin: Infinity, open: Infinity, close: Infinity };
  /** Events that may still begin (option `events`); without a limit in the warm-up. */
  #budget = Infinity;
  readonly #events: number;
  #carriedIn = 0;
  #started = false;
  #opened = false;
  #over = false;
  readonly #intervals = new IntervalClock({
    intervalEnded: (index, seconds) => this.#report(index, seconds),
    opened: () => this.#open(),
    closed: (at) => this.#close(at),
  });

  constructor(
    task: PartTask,
    plan: Plan,
    driver: Driver,
    password: string,
    events: number,
    onInterval: (report: IntervalReport) => void,
    roles: RoleView | null = null,
  ) {
    this.#step = task.spec.steps[task.step] as Step;
    this.plan = plan;
    this.exactWriteCounts = driver.exactWriteCounts;
    this.#onInterval = onInterval;
    const { loop, loops, spec } = task;
    let budget = 0;
    const { threads, rate } = this.#step;
    for (let id = loop; id < threads; id += loops) {
      this.#sessions.push(new Session(id, new Random(spec.seed, task.step, task.repeat, id), this));
      // Shares go by sessions: loops without any, where drivers or loops outnumber the connections, have none.
      if (events > 0) budget += Math.floor(events / threads) + (id < events % threads ? 1 : 0);
    }
    const share = this.#sessions.length / threads;
    this.links = new Linker(spec, driver, plan, password, spec.target.connectRate * share, loop, roles);
    roles?.onChange(() => leaveFormer(this.#sessions, (link) => this.links.misplaced(link)));
    this.#opening = new Opening(this.links, spec.target, plan, (error) => {
      this.#intervals.advance(performance.now());
      this.#recorder.error(error);
    });
    this.#events = events > 0 ? budget : Infinity;
    this.#recorder = new Recorder(rate !== undefined);
    this.#openLoop = rate
      ? new OpenLoop(
          rate,
          task,
          share,
          (session) => this.#offer(session),
          (seconds) => this.#meter.spun(seconds),
        )
      : null;
    this.#watch = new StuckWatch(this.#sessions, this.#opening.patienceMs);
  }

  /** Resolves when all sessions are connected, or after `patienceMs` with those that are; the others go on trying. */
  async connect(patienceMs: number): Promise<{ connected: number; error: string | null }> {
    const all = Promise.all(this.#sessions.map((session) => this.#link(session)));
    await within(all, patienceMs);
    return { connected: connectedOf(this.#sessions), error: this.#opening.connectError };
  }

  async #link(session: Session): Promise<void> {
    const link = await this.#opening.link(session);
    this.#watch.limitMs = this.#opening.patienceMs;
    if (link === null) return;
    if (this.#over) return link.connections.forEach((connection) => connection.destroy());
    session.relink(link);
    if (session.mode === "idle") this.#offer(session);
  }

  /** Warm-up, window, drain. Resolves with the report; earlier when `stop` is called or the events are used up. */
  async run(times: Times): Promise<PartReport> {
    this.#times = times;
    await this.#until(times.begin);
    if (this.#over) return this.#finish();
    this.#started = true;
    this.#recorder.start();
    this.#meter.start();
    this.#stalls.start();
    if (times.open > times.begin) this.#openLoop?.phase(times.begin, times.open, 0);
    this.#intervals.start(times, this.#step.intervalSeconds * 1000);
    for (const session of this.#sessions) if (session.mode === "idle" && session.link !== null) this.#offer(session);
    this.#watch.start();
    await this.#until(times.close);
    return this.#finish();
  }

  #open(): void {
    this.#opened = true;
    this.#recorder.open(this.#times.open);
    this.#carriedIn = inHandOf(this.#sessions);
    // What is under way ends inside the window and is among the events asked for.
    this.#budget = Math.max(0, this.#events - this.#carriedIn);
    this.#openLoop?.phase(this.#times.open, this.#times.close, 1);
  }

  #close(at: number): void {
    this.#times = { ...this.#times, close: at };
    this.#recorder.close(at, this.#openLoop?.end(at) ?? -Infinity);
  }

  // What sessions tell and ask.

  eventDone(session: Session, start: number, end: number): void {
    if (end >= this.#intervals.due) {
      // Until the moments that have passed are dealt with, its event is one that was under way.
      session.start = start;
      this.#intervals.advance(end);
      session.start = 0;
    }
    const openLoop = this.#openLoop;
    if (openLoop === null) {
      this.#recorder.eventDone(session, start, end, -Infinity);
    } else {
      this.#recorder.eventDone(session, start, end, openLoop.waitingSince);
      openLoop.served(session.batch);
    }
  }

  next(session: Session, now: number): boolean {
    if (this.#over) return false;
    if (now >= this.#times.close || this.#budget <= 0) {
      this.#quiet.look();
      return false;
    }
    if (this.#openLoop !== null) {
      const due = this.#openLoop.take(session, now);
      if (due < 0) return false;
      session.start = due;
    } else {
      session.start = now;
    }
    session.batch = this.plan.batch === undefined ? 1 : this.#batch(this.plan.batch(session));
    this.#budget -= session.batch;
    session.serviceStart = now;
    if (!this.#opening.mustReconnect(session)) return true;
    // Part of the event and of its latency, as in sysbench; the new connection goes on with it.
    this.#reconnect(session);
    return false;
  }

  /** Of at most so many events, those that may begin: one has been taken already. In an open loop, that are due. */
  #batch(most: number): number {
    const allowed = Math.min(most, this.#budget);
    return this.#openLoop === null ? allowed : 1 + this.#openLoop.takeMore(allowed - 1);
  }

  failed(session: Session, error: DriverError): void {
    this.#intervals.advance(performance.now());
    this.#recorder.flush(session);
    this.#recorder.error(error);
    this.links.heard(error, session.link);
  }

  mayBeginAgain(): boolean {
    if (!this.#over && performance.now() < this.#times.close) return true;
    this.#quiet.look();
    return false;
  }

  needsLink(session: Session): void {
    const now = performance.now();
    this.#intervals.advance(now);
    this.#recorder.reconnect();
    if (!this.#over && now < this.#times.close) void this.#link(session);
    else this.#quiet.look();
  }

  #reconnect(session: Session): void {
    const link = session.link;
    session.link = null;
    for (const connection of link?.connections ?? []) {
      this.#meter.closes(connection);
      void connection.close();
    }
    this.#recorder.reconnect();
    session.mode = "linking";
    void this.#link(session);
  }

  /** Gives a free session its next event, if there is one. */
  #offer(session: Session): void {
    if (!this.#started || this.#over) return;
    if (this.next(session, performance.now())) session.begin(session.start);
  }

  // Intervals.

  #report(index: number, seconds: number): void {
    for (const session of this.#sessions) this.#recorder.flush(session);
    this.#onInterval({
      index,
      seconds,
      ...this.#recorder.takeInterval(),
      ...this.#meter.interval(index >= 0),
      connected: connectedOf(this.#sessions),
    });
  }

  // The end.

  /** Ends the window early: what is under way is dropped, the report comes at once. */
  stop(): void {
    this.#over = true;
    this.links.stop();
    this.#quiet.look();
  }

  /** Waits for the moment, for `stop`, or until the last of a limited number of events has ended. */
  #until(moment: number): Promise<void> {
    // An event that waits for its next try or for a connection has not ended.
    return this.#quiet.until(
      moment,
      () => this.#over || (this.#budget <= 0 && !this.#sessions.some((s) => s.start > 0)),
    );
  }

  async #finish(): Promise<PartReport> {
    this.#intervals.cut(performance.now());
    if (!this.#over) await this.#drain();
    const drainedAt = performance.now();
    const givenUp = this.#opened ? this.#sessions.filter((s) => s.start > 0) : [];
    for (const session of givenUp) this.#recorder.gaveUp(drainedAt - session.start);
    const arrivals = this.#openLoop?.leftOver() ?? { offered: 0, dropped: 0, maxBacklog: 0, waited: [] };
    for (const waited of arrivals.waited) this.#recorder.gaveUp(waited);
    this.#over = true;
    this.links.stop();
    this.#watch.stop();
    this.#stalls.stop();
    for (const session of this.#sessions) this.#recorder.flush(session);
    const connected = connectedOf(this.#sessions);
    const cost = this.#meter.stop();
    await Promise.all(this.#sessions.map(endSession));
    return {
      ...this.#recorder.rest(),
      messages: this.#recorder.messages,
      stalls: this.#stalls.since(this.#times.open),
      closedAfter: this.#opened ? this.#times.close - this.#times.open : 0,
      drainedAfter: Math.max(0, drainedAt - this.#times.open),
      carriedIn: this.#carriedIn,
      abandoned: inHandOf(givenUp),
      offered: arrivals.offered,
      dropped: arrivals.dropped,
      maxBacklog: arrivals.maxBacklog,
      backlogAtEnd: arrivals.waited.length,
      path: this.#opening.path,
      serverVersion: this.#opening.serverVersion,
      ...cost,
      connected,
      ownLimits: this.#opening.ownLimits,
      connectError: this.#opening.connectError,
    };
  }

  /** Events that wait for an answer end and count; one that is in its back-off or has no connection is given up. */
  #drain(): Promise<void> {
    const longest = Math.min(LONGEST_DRAIN_MS, this.#opening.patienceMs + StuckWatch.everyMs * 2);
    return this.#quiet.atMost(longest, DRAIN_CHECK_MS, () => this.#over || busyOf(this.#sessions) === 0);
  }
}
