/**
 * One connection's worth of load: it runs the plan's operations one after the other, restarts, backs off and
 * reconnects.
 * Everything is driven by answers: a session never waits in a promise between two statements.
 */
import type { DriverError, Listener } from "../../drivers/driver.ts";
import type { Op } from "../plan.ts";
import type { Random } from "../random.ts";
import { SessionActor } from "./actor.ts";
import type { Link } from "./link.ts";
import type { SessionOwner } from "./owner.ts";
import { Setbacks } from "./setbacks.ts";
import type { Group } from "./together.ts";

type Mode = "idle" | "running" | "rolling-back" | "waiting" | "linking" | "stopped";

export class Session extends SessionActor implements Listener {
  /** Of the event in hand, its intended start in an open loop; 0 when there is none. */
  start = 0;
  /** When the event in hand was really begun (open loop). */
  serviceStart = 0;
  /** Grows with every answer: a session whose number stands still too long is stuck. */
  progress = 0;
  mode: Mode = "idle";
  /** Events since the connection was made. */
  eventsOnLink = 0;
  readonly #owner: SessionOwner<Session>;
  readonly #batches: boolean;
  readonly #setbacks: Setbacks;
  /** Milliseconds that follow the ROLLBACK in hand. */
  #resumeAfter = 0;
  #timer: NodeJS.Timeout | null = null;
  /** What was sent together and is not answered in full. */
  #group: Group | null = null;

  constructor(id: number, random: Random, owner: SessionOwner<Session>) {
    super(id, random, owner.plan, owner.exactWriteCounts);
    this.#owner = owner;
    this.#batches = owner.plan.batch !== undefined;
    this.#setbacks = new Setbacks(this.#batches);
  }

  // What the owner calls.

  begin(start: number): void {
    this.start = start;
    this.mode = "running";
    this.from = this.at = 0;
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
    this.at = this.from;
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
      this.roundTrips++;
      return this.#afterRollback();
    }
    if (this.mode !== "running") return;
    if (this.#group !== null) return this.#doneOf(this.#group, rows, affected);
    this.roundTrips++;
    const op = this.ops[this.at] as Op;
    this.count(op.kind, rows, affected);
    if (this.captures) this.look(op);
    this.at++;
    this.#go();
  }

  /** One of a group: the event goes on when the last one's answer has come. */
  #doneOf(group: Group, rows: number, affected: number): void {
    this.answered(group.answered(), rows, affected);
    if (group.over) this.#groupOver(group);
  }

  #groupOver(group: Group): void {
    this.roundTrips++;
    this.#group = null;
    if (group.error !== null) return this.#failedEvent(group.error, group.needsRollback);
    this.at = group.next;
    this.#go();
  }

  failed(error: DriverError): void {
    this.progress++;
    this.answerFailed();
    if (this.mode === "stopped") return;
    const mode = this.mode;
    this.#owner.failed(this, error);
    const group = this.#group;
    if (group !== null && error.action !== "reconnect") {
      group.failed(error);
      if (group.over) this.#groupOver(group);
      return;
    }
    this.roundTrips++;
    if (error.action === "reconnect" || mode === "rolling-back") return this.#reconnect();
    this.#failedEvent(error, error.needsRollback);
  }

  #failedEvent(error: DriverError, needsRollback: boolean): void {
    if (this.#owner.links.moved(error, this.link)) return this.#reconnect();
    if (error.action === "restart") return this.#restart(needsRollback);
    const elsewhere = this.#owner.links.alternatives;
    if (this.#setbacks.refused(elsewhere)) {
      if (elsewhere) for (const { endpoint } of this.link?.connections ?? []) this.#owner.links.avoid(endpoint);
      return this.#reconnect();
    }
    this.#setbacks.growPause();
    this.#again(needsRollback, this.#setbacks.pause);
  }

  lost(error: DriverError): void {
    this.answerFailed();
    if (this.mode === "stopped") return;
    this.#owner.failed(this, error);
    this.#reconnect();
  }

  /** After a conflict with another session: at once, as sysbench does. */
  #restart(needsRollback: boolean): void {
    if (this.#setbacks.conflict()) return this.#reconnect();
    this.#again(needsRollback, 0);
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
    this.at = this.from;
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
    this.#group = null;
    this.mode = "linking";
    const { pause } = this.#setbacks;
    if (pause === 0) this.#owner.needsLink(this);
    else this.#wait(pause, () => this.#owner.needsLink(this));
    this.#setbacks.growPause();
  }

  /** Runs operations until one has sent something. */
  #go(): void {
    for (;;) {
      if (this.at === this.ops.length) {
        const now = performance.now();
        const start = this.start;
        this.start = 0;
        this.mode = "idle";
        this.#setbacks.over();
        if (this.#batches) {
          this.events = this.affected;
          this.#owner.plan.batchDone?.(this);
        }
        this.eventsOnLink += this.batch;
        this.#owner.eventDone(this, start, now);
        if (!this.#owner.next(this, now)) return;
        this.mode = "running";
        this.from = this.at = 0;
      }
      const ahead = (this.link as Link).together;
      if (ahead !== null && (ahead[this.at] as number) > 1) {
        this.#group = this.sendTogether(this.at + (ahead[this.at] as number));
        if (this.#group !== null) return;
        continue;
      }
      if (this.send(this.ops[this.at] as Op)) return;
      this.at++;
    }
  }
}
