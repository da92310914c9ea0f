/**
 * A statement without an answer for statementTimeoutMs ends its connection: a silent server holds no session for ever.
 */
import { DriverError } from "../../drivers/driver.ts";
import type { Session } from "../part/session.ts";

export class StuckWatch {
  /** How often the sessions are looked at: one look costs less than a timer per statement. */
  static readonly everyMs = 100;
  readonly #sessions: readonly Session[];
  #limitMs: number;
  #seen: { progress: number; since: number }[] = [];
  #timer: NodeJS.Timeout | undefined;
  #looked = 0;
  #everyMs: number;

  constructor(sessions: readonly Session[], limitMs: number) {
    this.#sessions = sessions;
    this.#limitMs = limitMs;
    this.#everyMs = Math.min(StuckWatch.everyMs, Math.max(10, limitMs / 4));
  }

  /** Before `start`. */
  set limitMs(value: number) {
    this.#limitMs = value;
  }

  start(): void {
    const now = performance.now();
    this.#seen = this.#sessions.map((session) => ({ progress: session.progress, since: now }));
    this.#looked = now;
    this.#timer = setInterval(() => this.#look(), this.#everyMs);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    const now = performance.now();
    // While this loop stood still no answer could be seen: that time is not the server's.
    const stoodStill = Math.max(0, now - this.#looked - 2 * this.#everyMs);
    this.#looked = now;
    this.#sessions.forEach((session, i) => {
      const seen = this.#seen[i] as { progress: number; since: number };
      seen.since += stoodStill;
      if (!session.awaitsAnswer || session.progress !== seen.progress) {
        seen.progress = session.progress;
        seen.since = now;
      } else if (now - seen.since >= this.#limitMs) {
        seen.since = now;
        session.timedOut(new DriverError("statement-timeout", `no answer within ${this.#limitMs} ms`, "reconnect"));
      }
    });
  }
}
