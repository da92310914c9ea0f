/** When intervals end: on the window's own grid, so that those of several event loops lie side by side. */
import type { Times } from "./part-task.ts";

export class IntervalClock {
  readonly #ended: (index: number, seconds: number) => void;
  #timer: NodeJS.Timeout | undefined;
  #index = 0;
  #from = 0;

  /** @param ended called with the interval's number (below 0 in the warm-up) and its real length */
  constructor(ended: (index: number, seconds: number) => void) {
    this.#ended = ended;
  }

  start({ begin, open, close }: Times, lengthMs: number): void {
    this.#index = -Math.ceil((open - begin) / lengthMs - 1e-6);
    this.#from = begin;
    const schedule = (): void => {
      const due = open + (this.#index + 1) * lengthMs;
      // The last interval ends with the window, whole or not: `last` ends it.
      if (due < close - 1) this.#timer = setTimeout(tick, Math.max(0, due - performance.now()));
    };
    const tick = (): void => {
      this.#end();
      schedule();
    };
    schedule();
  }

  last(): void {
    clearTimeout(this.#timer);
    if (this.#from > 0 && performance.now() - this.#from > 1) this.#end();
  }

  #end(): void {
    const now = performance.now();
    this.#ended(this.#index++, (now - this.#from) / 1000);
    this.#from = now;
  }
}
