/** What heartbeats tell of replication lag: when each was committed, and when each replica first showed it. Pure. */
import type { Lag } from "../../contract.ts";
import { Latencies } from "../figures/histogram.ts";

interface Beat {
  seq: number;
  /** On the writer, by this process's monotonic clock, milliseconds. */
  committedAt: number;
}

/** One replica in one window. */
class Replica {
  readonly lags = new Latencies();
  readonly intervals = new Map<number, Latencies>();
  /** Committed and not yet shown there, oldest first. */
  waiting: Beat[] = [];
  readonly errors: Record<string, number> = {};
  unseen = 0;
  /** Milliseconds between two looks when a beat was first seen: its lag is less by no more than this. */
  readonly gaps = new Latencies();
}

export class Beats {
  readonly #intervalMs: number;
  readonly #replicas: Map<string, Replica>;
  #openedAt = 0;
  #committed = 0;

  /** @param nodes every node that can be a replica */
  constructor(nodes: readonly string[], intervalSeconds: number) {
    this.#intervalMs = 1000 * intervalSeconds;
    this.#replicas = new Map(nodes.map((node) => [node, new Replica()]));
  }

  open(at: number): void {
    this.#openedAt = at;
  }

  /** Beats committed in the window. */
  get committed(): number {
    return this.#committed;
  }

  /** @param writer has it itself */
  commit(seq: number, committedAt: number, writer: string): void {
    this.#committed++;
    for (const [node, { waiting }] of this.#replicas) if (node !== writer) waiting.push({ seq, committedAt });
  }

  /** The oldest beat that the node has not shown. */
  oldestWaiting(node: string): Beat | undefined {
    return this.#replicas.get(node)?.waiting[0];
  }

  /**
   * The node's row said `seq` at `at`; it was last looked at `gapMs` before. A beat may be seen before its writer has
   * answered: then there was no lag.
   */
  see(node: string, seq: number, at: number, gapMs: number): void {
    const replica = this.#replicas.get(node);
    if (replica === undefined) return;
    const shown = replica.waiting.filter((beat) => beat.seq <= seq);
    replica.waiting = replica.waiting.filter((beat) => beat.seq > seq);
    for (const beat of shown) this.#record(replica, beat, at);
    // Looks begin when a beat is committed: what its first one shows has lagged by no more than it was away.
    const newest = shown.at(-1);
    if (newest !== undefined) replica.gaps.record(Math.max(0, Math.min(gapMs, at - newest.committedAt)));
  }

  fail(node: string, code: string): void {
    const errors = this.#replicas.get(node)?.errors;
    if (errors !== undefined) errors[code] = (errors[code] ?? 0) + 1;
  }

  /** What a node has not shown by now has lagged at least so long. */
  close(at: number): Lag[] {
    for (const replica of this.#replicas.values()) {
      replica.unseen = replica.waiting.length;
      for (const beat of replica.waiting) this.#record(replica, beat, at);
      replica.waiting = [];
    }
    return [...this.#replicas].flatMap(([node, replica]): Lag[] => {
      const { lags, unseen, errors, gaps } = replica;
      const failed = Object.values(errors).reduce((a, b) => a + b, 0);
      if (lags.count === 0 && failed === 0) return [];
      return [
        {
          node,
          beats: lags.count,
          unseen,
          p50Ms: figure(lags, 50),
          p95Ms: figure(lags, 95),
          maxMs: figure(lags, 100),
          resolutionMs: figure(gaps, 50),
          errors,
          intervals: [...replica.intervals]
            .toSorted(([a], [b]) => a - b)
            .map(([index, own]) => ({
              t: ((index + 1) * this.#intervalMs) / 1000,
              p50Ms: figure(own, 50),
              p95Ms: figure(own, 95),
              maxMs: figure(own, 100),
            })),
        },
      ];
    });
  }

  #record(replica: Replica, beat: Beat, at: number): void {
    const lag = Math.max(0, at - beat.committedAt);
    replica.lags.record(lag);
    const index = Math.max(0, Math.floor((beat.committedAt - this.#openedAt) / this.#intervalMs));
    const own = replica.intervals.get(index) ?? new Latencies();
    own.record(lag);
    replica.intervals.set(index, own);
  }
}

/** Milliseconds to three decimals; null: none. */
function figure(latencies: Latencies, percentile: number): number | null {
  return latencies.count === 0 ? null : Math.round(1000 * latencies.percentile(percentile)) / 1000;
}
