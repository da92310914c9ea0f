/** Files that a reader may open at any moment: written beside, then renamed over. */
import { appendFileSync, rmSync } from "node:fs";
import type { Interval } from "../contract.ts";
import { writeOutput } from "../keep.ts";

/** What a poller sees: small, so that it may be fetched every few seconds. */
export interface Status {
  runId: string;
  pid: number;
  /** 1-based number of the window in hand, and how many there are. */
  window: number;
  windows: number;
  workload: string;
  threads: number;
  /** connecting, warm-up, measuring, resting, done, failed, stopped */
  phase: string;
  /** Of the whole run's planned time, 0..100. */
  percent: number;
  line: string;
  updatedAt: string;
}

export class StatusFile {
  readonly #path: string | undefined;

  constructor(path: string | undefined) {
    this.#path = path;
  }

  write(status: Omit<Status, "pid" | "updatedAt">): void {
    if (this.#path === undefined) return;
    // Not flushed: a disk that is slow must not hold up what is measured.
    writeOutput(
      this.#path,
      `${JSON.stringify({ ...status, pid: process.pid, updatedAt: new Date().toISOString() })}\n`,
      false,
    );
  }
}

/**
 * The intervals of the window in hand, one JSON line each, in `<out>.partial`: what a SIGKILL would otherwise lose. It
 * is removed when the result itself holds them.
 */
export class PartialFile {
  readonly #path: string | undefined;

  constructor(out: string | undefined) {
    this.#path = out === undefined ? undefined : `${out}.partial`;
  }

  append(entry: { step: number; repeat: number; interval: Interval }): void {
    if (this.#path !== undefined) appendFileSync(this.#path, `${JSON.stringify(entry)}\n`);
  }

  remove(): void {
    if (this.#path !== undefined) rmSync(this.#path, { force: true });
  }
}
