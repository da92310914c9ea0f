/** Hands due arrivals to free sessions, and wakes up exactly when the next one is due. */
import type { Step } from "../contract.ts";
import { Arrivals } from "./pacing.ts";
import type { PartTask } from "./part-task.ts";
import { Random } from "./random.ts";
import type { Session } from "./session.ts";

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
  #free: Session[] = [];
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
    this.#pump();
  }

  /**
   * Intended start of the event that a session may begin now; -1: none is due, and the session is kept for the next
   * one.
   */
  take(session: Session, now: number): number {
    const arrivals = this.#arrivals;
    arrivals?.advance(now);
    const due = arrivals?.take() ?? -1;
    if (due < 0) {
      this.#free.push(session);
      this.#schedule();
    }
    return due;
  }

  /** Takes up to `most` further events that are due already, and says how many there were. */
  takeMore(most: number): number {
    let taken = 0;
    while (taken < most && (this.#arrivals?.take() ?? -1) >= 0) taken++;
    return taken;
  }

  /** Ends the schedule: nothing more is handed out. */
  end(): { dropped: number; maxBacklog: number; backlogAtEnd: number } {
    const arrivals = this.#arrivals;
    this.#arrivals = null;
    this.#free = [];
    arrivals?.advance(performance.now());
    return {
      dropped: arrivals?.dropped ?? 0,
      maxBacklog: arrivals?.maxBacklog ?? 0,
      backlogAtEnd: arrivals?.backlog ?? 0,
    };
  }

  #pump(): void {
    const arrivals = this.#arrivals;
    if (arrivals === null) return;
    arrivals.advance(performance.now());
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
