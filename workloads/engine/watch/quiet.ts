/** Waits for moments, and for what sessions say that may end the wait earlier. */
import { within } from "../within.ts";

export class Quiet {
  #look: () => void = () => {};

  /** Something has changed that may end a wait. */
  look(): void {
    this.#look();
  }

  /** Resolves at the moment (of performance.now()), or once `enough` holds. */
  async until(moment: number, enough: () => boolean): Promise<void> {
    const wait = moment - performance.now();
    if (wait <= 0 || enough()) return;
    await this.#wait(wait, enough);
    // A timer may fire a fraction of a millisecond early, and what begins before the window does not count.
    while (!enough() && performance.now() < moment) await new Promise((resolve) => setImmediate(resolve));
  }

  /** Resolves once `done` holds, which is also looked at every so often, or after `longestMs`. */
  async atMost(longestMs: number, everyMs: number, done: () => boolean): Promise<void> {
    if (done()) return;
    const check = setInterval(() => this.#look(), everyMs);
    await this.#wait(longestMs, done);
    clearInterval(check);
  }

  async #wait(milliseconds: number, enough: () => boolean): Promise<void> {
    const met = new Promise<void>((resolve) => {
      this.#look = () => (enough() ? resolve() : undefined);
    });
    await within(met, milliseconds);
    this.#look = () => {};
  }
}
