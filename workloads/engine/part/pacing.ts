/**
 * Open loop: events are due at times that do not depend on how the server answers. An event that has to wait for a free
 * connection keeps its intended time, and its latency counts from there (no coordinated omission).
 */
import type { Random } from "../random.ts";

export class Arrivals {
  readonly #meanGapMs: number;
  readonly #poisson: boolean;
  readonly #random: Random;
  readonly #queue: Float64Array;
  #head = 0;
  #size = 0;
  #next: number;
  #last: number;
  /** Arrivals so far, and those of them that found the backlog full. */
  offered = 0;
  dropped = 0;
  maxBacklog = 0;

  /**
   * @param from first moment of the schedule @param until no event is due at or after it (both performance.now())
   * @param phase 0..1: where between two constant arrivals this loop's begin, so that several loops together are evenly
   *   spaced
   */
  constructor(
    perSecond: number,
    arrivals: "constant" | "poisson",
    maxBacklog: number,
    random: Random,
    from: number,
    until: number,
    phase = 0,
  ) {
    this.#meanGapMs = 1000 / perSecond;
    this.#poisson = arrivals === "poisson";
    this.#random = random;
    this.#queue = new Float64Array(maxBacklog);
    this.#next = this.#poisson ? from + this.#gap() : from + phase * this.#meanGapMs;
    this.#last = until;
  }

  /** Exponential gaps make a Poisson process: -ln(1 - U) times the mean. */
  #gap(): number {
    return this.#poisson ? -Math.log(1 - this.#random.double()) * this.#meanGapMs : this.#meanGapMs;
  }

  /** Moves everything that is due by `now` into the backlog. */
  advance(now: number): void {
    while (this.#next <= now && this.#next < this.#last) {
      this.offered++;
      if (this.#size === this.#queue.length) {
        this.dropped++;
      } else {
        this.#queue[(this.#head + this.#size) % this.#queue.length] = this.#next;
        this.#size++;
        if (this.#size > this.maxBacklog) this.maxBacklog = this.#size;
      }
      this.#next += this.#gap();
    }
  }

  /** Intended time of the oldest waiting event, or -1 when none waits. */
  take(): number {
    if (this.#size === 0) return -1;
    const due = this.#queue[this.#head] as number;
    this.#head = (this.#head + 1) % this.#queue.length;
    this.#size--;
    return due;
  }

  /** Intended time of the oldest waiting event; only where one waits. */
  get oldest(): number {
    return this.#queue[this.#head] as number;
  }

  get backlog(): number {
    return this.#size;
  }

  /** When the next event is due; Infinity when the schedule has ended. */
  get nextDue(): number {
    return this.#next < this.#last ? this.#next : Infinity;
  }
}
