/**
 * The connections of a load: each takes the next job, reconnects when it broke, and gives up for all when a job cannot
 * be done.
 */
import { setTimeout as sleep } from "node:timers/promises";
import pLimit from "p-limit";
import type { RunSpec } from "../contract.ts";
import type { Session } from "../sql-session.ts";
import { describe, isTransient } from "../sql-session.ts";
import { openFirst } from "./endpoint.ts";

/** With the pauses below (0.5 s doubling up to 16 s) a server may be away for about half a minute. */
const ATTEMPTS = 7;

/** `attempt` counts from 0. */
export type Job = (session: Session, attempt: number) => Promise<void>;

export class Workers {
  readonly size: number;
  readonly #spec: RunSpec;
  readonly #signal: AbortSignal;
  readonly #limit: ReturnType<typeof pLimit>;
  readonly #idle: Session[] = [];
  readonly #open = new Set<Session>();
  readonly #onAbort = (): void => this.close();
  #failure: Error | undefined;
  /** A server that never took a session is a mistake in the target; one that did will come back. */
  #everConnected = false;

  constructor(spec: RunSpec, signal: AbortSignal) {
    this.#spec = spec;
    this.#signal = signal;
    this.size = spec.data.threads;
    this.#limit = pLimit(this.size);
    signal.addEventListener("abort", this.#onAbort);
  }

  /**
   * Runs the jobs, one after the other, on a free connection, each on a passing error again. Jobs that are due later
   * may be found out when the earlier ones are done: `next` gives them. Rejects with one clear line.
   */
  run(job: Job, next?: () => Job | undefined): Promise<void> {
    return this.#limit(async () => {
      await this.#attempts(job);
      const following = next?.();
      if (following) await this.#attempts(following);
    });
  }

  async #attempts(job: Job): Promise<void> {
    for (let attempt = 0; ; attempt++) {
      if (this.#failure) throw this.#failure;
      this.#signal.throwIfAborted();
      let session: Session | undefined;
      try {
        session = this.#idle.pop() ?? (await this.#connect());
        await job(session, attempt);
        this.#idle.push(session);
        return;
      } catch (error) {
        session?.close();
        if (session) this.#open.delete(session);
        if (this.#failure) throw this.#failure;
        this.#signal.throwIfAborted();
        if (attempt + 1 >= ATTEMPTS || (session && !isTransient(error)) || (!session && !this.#everConnected)) {
          this.#failure = new Error(
            session ? describe(error, session.address, this.#spec.target) : (error as Error).message,
          );
          // The others' chunks stop with it: their transactions roll back.
          this.close();
          throw this.#failure;
        }
        await sleep(Math.min(16_000, 500 * 2 ** attempt), undefined, { signal: this.#signal });
      }
    }
  }

  close(): void {
    this.#signal.removeEventListener("abort", this.#onAbort);
    for (const session of this.#open) session.close();
    this.#open.clear();
    this.#idle.length = 0;
  }

  async #connect(): Promise<Session> {
    const session = await openFirst(this.#spec.target);
    this.#everConnected = true;
    this.#open.add(session);
    return session;
  }
}
