/** Stretches in which this event loop stood still: what nobody looked at then is no fault of the server. */
import type { Gap } from "../figures/counters.ts";

const EVERY_MS = 50;
/** Later than this is a stall and not the grain of timers. */
const LATE_MS = 50;
const KEPT = 10_000;

export class StallWatch {
  readonly #stalls: { from: number; to: number }[] = [];
  #last = 0;
  #timer: NodeJS.Timeout | undefined;

  start(): void {
    this.#last = performance.now();
    this.#timer = setInterval(() => this.#look(), EVERY_MS);
  }

  stop(): void {
    if (this.#timer === undefined) return;
    clearInterval(this.#timer);
    this.#look();
  }

  /** Milliseconds since `origin`. */
  since(origin: number): Gap[] {
    return this.#stalls.map(({ from, to }) => ({ from: from - origin, to: to - origin }));
  }

  #look(): void {
    const now = performance.now();
    const from = this.#last + EVERY_MS;
    if (now - from > LATE_MS && this.#stalls.length < KEPT) this.#stalls.push({ from, to: now });
    this.#last = now;
  }
}
