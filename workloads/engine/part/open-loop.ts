/** Hands due arrivals to free sessions, and wakes up exactly when the next one is due. */
import type { Step } from "../../contract.ts";
import { Random } from "../random.ts";
import { Arrivals } from "./pacing.ts";
import type { Session } from "./session.ts";
import type { PartTask } from "./task.ts";

/** Below this the timer is too coarse, and the loop turns round until the next arrival is due. */
const SPIN_MS = 1.5;
/** Longest idle turn that counts as spinning; anything longer was work of somebody else in between. */
const IDLE_TURN_MS = 0.05;
/** Tells the arrivals' random stream from those of the sessions. */
const STREAM = 0x0a771e;

export class OpenLoop {
  readonly #rate: NonNullable<Step["rate"]>;
  readonly #task: PartTask;
  readonly #offer: (session: Session) => void;
  readonly #spun: (seconds: number) => void;
  #arrivals: Arrivals | null = null;
  #ended: Arrivals | null = null;
  #endedAt = 0;
  #free: Session[] = [];
  /** Taken and not served. */
  #inService = 0;
  /** From when on an event has been due without a break; Infinity when none is. */
  waitingSince = Infinity;
  #waking = false;

  readonly #share: number;

  /**
   * @param share this loop's part of the rate, 0..1
   * @param offer starts the session's next event (it calls `take`) @param spun hears of time that was only waited away
   */
  constructor(
    rate: NonNullable<Step["rate"]>,
    task: PartTask,
    share: number,
    offer: (session: Session) => void,
    spun: (seconds: number) => void,
  ) {
    this.#rate = rate;
    this.#task = task;
    this.#share = share;
    this.#offer = offer;
    this.#spun = spun;
  }

  /** Warm-up and window have arrivals of their own: what the warm-up could not do is not brought into the window. */
  phase(from: number, until: number, number: 0 | 1): void {
    const { loop, loops, spec, step, repeat } = this.#task;
    const { perSecond, arrivals, maxBacklog } = this.#rate;
    const share = this.#share;
    const random = new Random(spec.seed, step, repeat, STREAM, loop, number);
    this.#arrivals = new Arrivals(
      perSecond * share,
      arrivals,
      Math.max(1, Math.ceil(maxBacklog * share)),
      random,
      from,
      until,
      loop / loops,
    );
    if (this.#inService === 0) this.waitingSince = Infinity;
    this.#pump();
  }

  /**
   * Intended start of the event that a session may begin now; -1: none is due, and the session is kept for the next
   * one.
   */
  take(session: Session, now: number): number {
    this.#advance(now);
    const due = this.#arrivals?.take() ?? -1;
    if (due < 0) {
      this.#free.push(session);
      this.#schedule();
    } else {
      this.#inService++;
    }
    return due;
  }

  /** Takes up to `most` further events that are due already, and says how many there were. */
  takeMore(most: number): number {
    let taken = 0;
    while (taken < most && (this.#arrivals?.take() ?? -1) >= 0) taken++;
    this.#inService += taken;
    return taken;
  }

  /** Events that were taken together have ended in success. */
  served(batch: number): void {
    this.#inService -= batch;
    if (this.#inService === 0 && (this.#arrivals?.backlog ?? 0) === 0) this.waitingSince = Infinity;
  }

  /** Ends the schedule: nothing more is handed out. @returns waitingSince as it stood then */
  end(at: number): number {
    this.#advance(at);
    this.#ended = this.#arrivals;
    this.#endedAt = at;
    this.#arrivals = null;
    this.#free = [];
    return this.waitingSince;
  }

  /** How the schedule stood when it ended; `waited`: of the events that had not begun then, milliseconds. */
  leftOver(): { offered: number; dropped: number; maxBacklog: number; waited: number[] } {
    const arrivals = this.#ended;
    const waited: number[] = [];
    for (let due = arrivals?.take() ?? -1; due >= 0; due = arrivals?.take() ?? -1) waited.push(this.#endedAt - due);
    return {
      offered: arrivals?.offered ?? 0,
      dropped: arrivals?.dropped ?? 0,
      maxBacklog: arrivals?.maxBacklog ?? 0,
      waited,
    };
  }

  #advance(now: number): void {
    const arrivals = this.#arrivals;
    if (arrivals === null) return;
    const idle = this.#inService === 0 && arrivals.backlog === 0;
    arrivals.advance(now);
    if (idle && arrivals.backlog > 0) this.waitingSince = arrivals.oldest;
  }

  #pump(): void {
    const arrivals = this.#arrivals;
    if (arrivals === null) return;
    this.#advance(performance.now());
    while (this.#free.length > 0 && arrivals.backlog > 0) {
      const session = this.#free.pop() as Session;
      // A session that lost its connection meanwhile comes back by itself.
      if (session.link !== null && session.mode === "idle") this.#offer(session);
    }
    this.#schedule();
  }

  #schedule(): void {
    if (this.#waking || this.#arrivals === null || this.#free.length === 0) return;
    const wait = this.#arrivals.nextDue - performance.now();
    if (wait === Infinity) return;
    this.#waking = true;
    if (wait > SPIN_MS) setTimeout(() => this.#turn(), Math.max(1, Math.floor(wait - SPIN_MS)));
    else this.#turn();
  }

  #turn(): void {
    const from = performance.now();
    const due = this.#arrivals?.nextDue ?? Infinity;
    if (this.#arrivals === null || this.#free.length === 0 || due <= from) {
      this.#waking = false;
      return this.#pump();
    }
    if (due - from > SPIN_MS) {
      this.#waking = false;
      return this.#schedule();
    }
    setImmediate(() => {
      this.#spun(Math.min(performance.now() - from, IDLE_TURN_MS) / 1000);
      this.#turn();
    });
  }
}
