/**
 * One connection's worth of load: it runs the plan's operations one after the other, restarts, backs off and
 * reconnects.
 * Everything is driven by answers: a session never waits in a promise between two statements.
 */
import type { Endpoint } from "../../contract.ts";
import type { DriverError, Listener, Statement, StatementKind } from "../../drivers/driver.ts";
import type { Actor, Op, Plan } from "../plan.ts";
import type { Random } from "../random.ts";
import type { Link } from "./link.ts";
import { Setbacks } from "./setbacks.ts";

export interface SessionOwner {
  /** An event ended in success. Both times are of performance.now(). */
  eventDone(session: Session, start: number, end: number): void;
  /**
   * May the session go on with its next event now? When it may, `start` is set; when not, the owner calls `begin`
   * later, or never.
   */
  next(session: Session, now: number): boolean;
  failed(session: Session, error: DriverError): void;
  /** May an event that failed be tried once more? When not, it is given up; the owner is asked once per try. */
  mayBeginAgain(): boolean;
  /** The session needs a new connection. The owner answers with `relink` or, when it stops, not at all. */
  needsLink(session: Session): void;
  readonly plan: Plan;
  readonly exactWriteCounts: boolean;
  readonly links: {
    /** There is another endpoint to go to when this one keeps refusing. */
    readonly alternatives: boolean;
    /** New connections pass this endpoint over for a while. */
    avoid(endpoint: Endpoint): void;
    /** The node has another role now: the one that has this session's is elsewhere. */
    moved(error: DriverError, link: Link | null): boolean;
  };
}

/**
 * One answer in this many is decoded in full and checked. A prime, so that it does not keep hitting the same statement
 * of an event.
 */
const SAMPLE_EVERY = 997;

type Mode = "idle" | "running" | "rolling-back" | "waiting" | "linking" | "stopped";

export class Session implements Actor, Listener {
  readonly id: number;
  readonly random: Random;
  readonly state: unknown;
  /** How many events the one in hand was begun for, and how many it counted for when it ended. */
  batch = 1;
  events = 1;
  table = 0;
  expected = -1;
  /** Of the event in hand, its intended start in an open loop; 0 when there is none. */
  start = 0;
  /** When the event in hand was really begun (open loop). */
  serviceStart = 0;
  /** Counted here since the recorder last took them, so that a statement costs one addition. */
  reads = 0;
  writes = 0;
  others = 0;
  mismatches = 0;
  sampled = 0;
  sampledWrong = 0;
  /** Grows with every answer: a session whose number stands still too long is stuck. */
  progress = 0;
  mode: Mode = "idle";
  link: Link | null = null;
  /** Events since the connection was made. */
  eventsOnLink = 0;
  readonly #owner: SessionOwner;
  readonly #ops: readonly Op[];
  readonly #templates: number;
  readonly #batches: boolean;
  /** Rows changed by the last write of the event in hand. */
  #affected = 0;
  #at = 0;
  readonly #setbacks: Setbacks;
  /** Milliseconds that follow the ROLLBACK in hand. */
  #resumeAfter = 0;
  #timer: NodeJS.Timeout | null = null;
  /** The answer that is awaited is decoded, for a check or for operations to come. */
  #captures = false;
  #sampling = false;
  #untilSample: number;
  /** Where the event goes on after a failure: at the last BEGIN, or after what was committed. */
  #from = 0;
  /** A COMMIT or ROLLBACK is under way. */
  #ending = false;

  constructor(id: number, random: Random, owner: SessionOwner) {
    this.id = id;
    this.random = random;
    this.#owner = owner;
    this.state = owner.plan.state?.();
    this.#ops = owner.plan.ops;
    this.#templates = owner.plan.templates.length;
    this.#batches = owner.plan.batch !== undefined;
    this.#setbacks = new Setbacks(this.#batches);
    this.#untilSample = (id * 131) % SAMPLE_EVERY;
  }

  // What operations use.

  statement(template: number): Statement {
    return (this.link as Link).statements[this.table * this.#templates + template] as Statement;
  }

  text(sql: string | Uint8Array): void {
    (this.link as Link).main.query(sql);
  }

  control(sql: "BEGIN" | "COMMIT" | "ROLLBACK"): void {
    const link = this.link as Link;
    if (sql === "BEGIN") this.#from = this.#at;
    else this.#ending = true;
    const statement = sql === "BEGIN" ? link.begin : sql === "COMMIT" ? link.commit : null;
    if (statement === null) link.main.query(sql);
    else statement.execute();
  }

  // What the owner calls.

  begin(start: number): void {
    this.start = start;
    this.mode = "running";
    this.#from = this.#at = 0;
    this.#go();
  }

  relink(link: Link): void {
    this.link = link;
    for (const connection of link.connections) connection.listener = this;
    this.eventsOnLink = 0;
    this.#setbacks.relinked();
    const resume = this.mode === "linking" && this.start > 0;
    this.mode = resume ? "running" : "idle";
    if (!resume) return;
    this.#at = this.#from;
    this.#go();
  }

  /** Ends whatever is under way; no further call comes. */
  stop(): void {
    this.mode = "stopped";
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
  }

  /** An answer is awaited: the event in hand can still end by itself. */
  get awaitsAnswer(): boolean {
    return this.mode === "running" || this.mode === "rolling-back";
  }

  /** Drops the connection because no answer came in time. */
  timedOut(error: DriverError): void {
    for (const connection of this.link?.connections ?? []) connection.destroy();
    this.lost(error);
  }

  // What the connection calls.

  done(rows: number, affected: number): void {
    this.progress++;
    if (this.mode === "rolling-back") {
      this.others++;
      return this.#afterRollback();
    }
    if (this.mode !== "running") return;
    const op = this.#ops[this.#at] as Op;
    this.#count(op.kind, rows, affected);
    if (this.#captures) this.#look(op);
    this.#at++;
    this.#go();
  }

  failed(error: DriverError): void {
    this.progress++;
    this.#captures = this.#sampling = this.#ending = false;
    if (this.mode === "stopped") return;
    const mode = this.mode;
    this.#owner.failed(this, error);
    if (error.action === "reconnect" || mode === "rolling-back" || this.#owner.links.moved(error, this.link))
      return this.#reconnect();
    if (error.action === "restart") return this.#restart(error);
    const elsewhere = this.#owner.links.alternatives;
    if (this.#setbacks.refused(elsewhere)) {
      if (elsewhere) for (const { endpoint } of this.link?.connections ?? []) this.#owner.links.avoid(endpoint);
      return this.#reconnect();
    }
    this.#setbacks.growPause();
    this.#again(error.needsRollback, this.#setbacks.pause);
  }

  lost(error: DriverError): void {
    this.#captures = this.#sampling = this.#ending = false;
    if (this.mode === "stopped") return;
    this.#owner.failed(this, error);
    this.#reconnect();
  }

  /** After a conflict with another session: at once, as sysbench does. */
  #restart(error: DriverError): void {
    if (this.#setbacks.conflict()) return this.#reconnect();
    this.#again(error.needsRollback, 0);
  }

  #again(needsRollback: boolean, pause: number): void {
    this.#resumeAfter = pause;
    if (needsRollback && this.#owner.plan.transaction) {
      this.mode = "rolling-back";
      this.text("ROLLBACK");
    } else {
      this.#afterRollback();
    }
  }

  #afterRollback(): void {
    this.mode = "waiting";
    if (this.#resumeAfter === 0) this.#beginAgain();
    else this.#wait(this.#resumeAfter, () => this.#beginAgain());
  }

  /** An event that failed is not begun again when the window is over: a storm of deadlocks would hold the end off. */
  #beginAgain(): void {
    if (!this.#owner.mayBeginAgain()) return;
    this.mode = "running";
    this.#at = this.#from;
    this.#go();
  }

  #wait(milliseconds: number, then: () => void): void {
    this.#timer = setTimeout(() => {
      this.#timer = null;
      then();
    }, milliseconds);
  }

  /** The first time at once, then after a pause: a server that drops each connection is not stormed with new ones. */
  #reconnect(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    for (const connection of this.link?.connections ?? []) connection.destroy();
    this.link = null;
    this.mode = "linking";
    const { pause } = this.#setbacks;
    if (pause === 0) this.#owner.needsLink(this);
    else this.#wait(pause, () => this.#owner.needsLink(this));
    this.#setbacks.growPause();
  }

  /** Runs operations until one has sent something. */
  #go(): void {
    for (;;) {
      if (this.#at === this.#ops.length) {
        const now = performance.now();
        const start = this.start;
        this.start = 0;
        this.mode = "idle";
        this.#setbacks.over();
        if (this.#batches) {
          this.events = this.#affected;
          this.#owner.plan.batchDone?.(this);
        }
        this.eventsOnLink += this.batch;
        this.#owner.eventDone(this, start, now);
        if (!this.#owner.next(this, now)) return;
        this.mode = "running";
        this.#from = this.#at = 0;
      }
      const op = this.#ops[this.#at] as Op;
      if (op.check !== undefined && --this.#untilSample < 0) {
        this.#untilSample = SAMPLE_EVERY;
        this.#captures = this.#sampling = true;
      }
      if (op.keep !== undefined) this.#captures = true;
      if (this.#captures) (this.link as Link).reader.captureNext();
      if (op.send(this)) return;
      this.#at++;
    }
  }

  #count(kind: StatementKind, rows: number, affected: number): void {
    if (kind === "read") {
      this.reads++;
      if (this.expected >= 0 && rows !== this.expected) this.mismatches++;
    } else if (kind === "write") {
      this.#affected = affected;
      // sysbench counts a write that changed nothing as "other".
      if (affected > 0) this.writes++;
      else this.others++;
      if (this.expected >= 0 && affected !== this.expected && this.#owner.exactWriteCounts) this.mismatches++;
    } else {
      this.others++;
      if (!this.#ending) return;
      this.#ending = false;
      this.#from = this.#at + 1;
    }
  }

  #look(op: Op): void {
    const sampled = this.#sampling;
    this.#captures = this.#sampling = false;
    const rows = (this.link as Link).reader.takeRows();
    op.keep?.(this, rows ?? []);
    if (rows === null || !sampled) return;
    this.sampled++;
    if (op.check?.(rows) === false) this.sampledWrong++;
  }
}

/** Ends a session for good, politely when its connections are at rest. */
export async function endSession(session: Session): Promise<void> {
  const stuck = session.awaitsAnswer;
  session.stop();
  const connections = session.link?.connections ?? [];
  if (stuck) connections.forEach((connection) => connection.destroy());
  else await Promise.all(connections.map((connection) => connection.close()));
}
