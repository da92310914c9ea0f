/** Files that a reader may open at any moment: written beside, then renamed over. */
import { appendFileSync, rmSync, statSync } from "node:fs";
import type { Interval } from "../contract.ts";
import { reason, writeOutput } from "../keep.ts";

/**
 * Writes of a run that goes on: what can't be written (the disk is full, the folder gone, no file handle left) is said
 * once, until it works again, and ends nothing.
 */
export class Attempts {
  readonly #say: (line: string) => void;
  readonly #failing = new Set<string>();

  constructor(say: (line: string) => void) {
    this.#say = say;
  }

  /** @returns the reason when it failed */
  try(path: string, write: () => void): string | null {
    try {
      write();
      if (this.#failing.delete(path)) this.#say(`${path} can be written again`);
      return null;
    } catch (error) {
      const { message } = error as Error;
      const said = message.startsWith(`${path}:`) ? message : `${path}: cannot be written: ${reason(error, path)}`;
      if (!this.#failing.has(path)) this.#say(said);
      this.#failing.add(path);
      return said;
    }
  }
}

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

  readonly #attempts: Attempts;

  constructor(path: string | undefined, attempts: Attempts) {
    this.#path = path;
    this.#attempts = attempts;
  }

  write(status: Omit<Status, "pid" | "updatedAt">): void {
    const path = this.#path;
    if (path === undefined) return;
    const text = JSON.stringify({ ...status, pid: process.pid, updatedAt: new Date().toISOString() });
    // Not flushed: a disk that is slow must not hold up what is measured.
    this.#attempts.try(path, () => writeOutput(path, `${text}\n`, false));
  }
}

/**
 * The intervals of the window in hand, one JSON line each, in `<out>.partial`: what a SIGKILL would otherwise lose. It
 * is removed when the result itself holds them.
 */
export class PartialFile {
  readonly #path: string | undefined;
  readonly #attempts: Attempts;
  /** A write that failed may have left half a line. */
  #broken = false;

  constructor(out: string | undefined, attempts: Attempts) {
    this.#path = out === undefined || out === "-" || !isPlain(out) ? undefined : `${out}.partial`;
    this.#attempts = attempts;
  }

  append(entry: { step: number; repeat: number; interval: Interval }): void {
    const path = this.#path;
    if (path === undefined) return;
    const line = `${this.#broken ? "\n" : ""}${JSON.stringify(entry)}\n`;
    this.#broken = this.#attempts.try(path, () => appendFileSync(path, line)) !== null;
  }

  remove(): void {
    const path = this.#path;
    if (path !== undefined) this.#attempts.try(path, () => rmSync(path, { force: true }));
    this.#broken = false;
  }
}

/** A plain file, or one that is not there yet. */
const isPlain = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() ?? true;
