/**
 * The grid of a window: when intervals end, when the warm-up turns into the window, and when that closes. Moments are
 * those of the grid, not those at which a late timer finds out, so that all event loops and all drivers share them and
 * every interval has its own length.
 */
import type { Times } from "../part/task.ts";

export interface GridOwner {
  /** @param index below 0 in the warm-up @param seconds its length @param now when it was found to be over */
  intervalEnded(index: number, seconds: number): void;
  /** The warm-up is over; what happens from here on belongs to the window. */
  opened(): void;
  /** What happens from here on belongs to the drain. @param at when it was due, or cut short */
  closed(at: number): void;
}

export class IntervalClock {
  /** When the interval in hand ends (performance.now()); Infinity before the start and after the end. */
  due = Infinity;
  readonly #owner: GridOwner;
  #timer: NodeJS.Timeout | undefined;
  #times: Times = { begin: 0, open: 0, close: 0 };
  #lengthMs = 0;
  #index = 0;
  #from = 0;

  constructor(owner: GridOwner) {
    this.#owner = owner;
  }

  start(times: Times, lengthMs: number): void {
    this.#times = times;
    this.#lengthMs = lengthMs;
    this.#index = -Math.ceil((times.open - times.begin) / lengthMs - 1e-6);
    this.#from = times.begin;
    if (this.#index === 0) this.#owner.opened();
    this.#plan();
    this.#wake();
  }

  /** Ends every interval that is over: called by the timer, and by whatever happens after `due` before it. */
  advance(now: number): void {
    while (now >= this.due) this.#end(this.due);
  }

  /** Ends the window now when it has not closed yet. */
  cut(now: number): void {
    this.advance(now);
    if (this.due === Infinity) return;
    this.#end(Math.min(now, this.#times.close), true);
  }

  #end(at: number, last = at >= this.#times.close): void {
    const index = this.#index++;
    this.#owner.intervalEnded(index, (at - this.#from) / 1000);
    this.#from = at;
    if (last) {
      this.#stop();
      // A run that was stopped in its warm-up has no window.
      if (index >= 0) this.#owner.closed(at);
      return;
    }
    if (this.#index === 0) this.#owner.opened();
    this.#plan();
  }

  #plan(): void {
    const { open, close } = this.#times;
    const end = open + (this.#index + 1) * this.#lengthMs;
    // A last interval of less than a millisecond is a rounding error of the grid.
    this.due = end > close - 1 ? close : end;
  }

  #wake(): void {
    this.#timer = setTimeout(
      () => {
        this.advance(performance.now());
        if (this.due !== Infinity) this.#wake();
      },
      Math.max(0, this.due - performance.now()),
    );
  }

  #stop(): void {
    clearTimeout(this.#timer);
    this.due = Infinity;
  }
}
