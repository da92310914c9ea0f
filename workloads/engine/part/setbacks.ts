/** Failures of a session that follow each other: how long it waits after them, and when it needs a new connection. */

/** Back-off after an error that is no plain restart: doubles from 10 ms to 1 s, until an event succeeds. */
const FIRST_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 1000;
/**
 * Failures of an event on one connection after which it is tried on a new one. Where there are other endpoints, the
 * second refusal is enough. With one endpoint a new connection may still end somewhere else (a forwarder that moves new
 * connections), or be free of what the old one carries (PostgreSQL's 0A000 after ALTER TABLE lasts as long as the
 * prepared statement). Conflicts with others come and go, so many of them in a row are needed.
 */
const REFUSALS_ELSEWHERE = 2;
const REFUSALS_HERE = 5;
const CONFLICTS = 100;
/** A batch whose rows are there already, since an INSERT with a lost answer was taken late, gets on by a new start only. */
const CONFLICTS_OF_BATCH = 2;

export class Setbacks {
  /** Milliseconds before the next try; grows with the failures since the last event that succeeded, 0 without any. */
  pause = 0;
  readonly #conflictsAtMost: number;
  /** Failures since the last success or the last connection: of the node, and with other sessions. */
  #refusals = 0;
  #conflicts = 0;

  /** @param batches events are taken together */
  constructor(batches: boolean) {
    this.#conflictsAtMost = batches ? CONFLICTS_OF_BATCH : CONFLICTS;
  }

  /** An event has succeeded. */
  over(): void {
    this.pause = this.#refusals = this.#conflicts = 0;
  }

  /** A new connection may be better; the pause stays until it has shown that it is. */
  relinked(): void {
    this.#refusals = this.#conflicts = 0;
  }

  /** @param elsewhere there is another endpoint @returns the connection has refused often enough to be left */
  refused(elsewhere: boolean): boolean {
    return ++this.#refusals >= (elsewhere ? REFUSALS_ELSEWHERE : REFUSALS_HERE);
  }

  /** @returns the connection has met so many that it is to be left */
  conflict(): boolean {
    return ++this.#conflicts >= this.#conflictsAtMost;
  }

  growPause(): void {
    this.pause = Math.min(Math.max(2 * this.pause, FIRST_PAUSE_MS), LONGEST_PAUSE_MS);
  }
}
