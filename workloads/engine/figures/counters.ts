/** What is counted, per interval and per window. */

import type { PackedLatencies } from "./histogram.ts";
import { Latencies } from "./histogram.ts";

/** A stretch without any success, in milliseconds of the window's own clock. */
export interface Gap {
  from: number;
  /** Null while it lasts. */
  to: number | null;
}

export interface Tally {
  events: number;
  reads: number;
  writes: number;
  others: number;
  /** Answers waited for: of statements that went out together, one. */
  roundTrips: number;
  errors: number;
  restarts: number;
  reconnects: number;
  /** Statements whose row count was not the expected one. */
  mismatches: number;
  /** Answers that were decoded and checked, and how many of them were wrong. */
  sampled: number;
  sampledWrong: number;
  byCode: Record<string, number>;
}

export function tally(): Tally {
  return {
    events: 0,
    reads: 0,
    writes: 0,
    others: 0,
    roundTrips: 0,
    errors: 0,
    restarts: 0,
    reconnects: 0,
    mismatches: 0,
    sampled: 0,
    sampledWrong: 0,
    byCode: {},
  };
}

const SUMS = [
  "events",
  "reads",
  "writes",
  "others",
  "roundTrips",
  "errors",
  "restarts",
  "reconnects",
  "mismatches",
  "sampled",
  "sampledWrong",
] as const;

export function addTally(into: Tally, from: Tally): void {
  for (const key of SUMS) into[key] += from[key];
  for (const [code, n] of Object.entries(from.byCode)) into.byCode[code] = (into.byCode[code] ?? 0) + n;
}

/** What one event loop sends for one interval. */
export interface IntervalReport {
  /** 0-based; warm-up intervals count up to -1. */
  index: number;
  /** Real length, seconds. */
  seconds: number;
  tally: Tally;
  latencies: PackedLatencies;
  /** CPU seconds of this thread in the interval, without the time spent spinning for the next arrival. */
  cpuSeconds: number;
  eventLoopDelayP99Ms: number;
  bytes: number;
  /** Sessions with a usable connection at the end of the interval. */
  connected: number;
}

/**
 * What one event loop sends when its window is over, beside its intervals: their sums are the window's counts. Stretches
 * and moments are milliseconds since the opening.
 */
export interface PartReport {
  /** Counted before the start, while connections were opened, and after the close. */
  beforeStart: Tally;
  drain: Tally;
  /**
   * Of the events that were in hand or in the backlog when the window closed: until they ended in the drain, or for as
   * long as they had waited when they were given up.
   */
  late: PackedLatencies;
  service: PackedLatencies | null;
  /** First message of each error code. */
  messages: Record<string, string>;
  /** Without a success; the one that lasts at the close goes on into the drain. */
  gaps: Gap[];
  /** Open loop: nothing was due. */
  idle: Gap[];
  /** The loop itself stood still. */
  stalls: Gap[];
  /** Of the gaps that are too short to be kept. */
  longestShortGap: number;
  /** The last completion inside the window. */
  lastCompletion: number;
  /** When the window closed, and when its drain was over. */
  closedAfter: number;
  drainedAfter: number;
  /** Events in hand when the window opened, and when its drain was over. */
  carriedIn: number;
  abandoned: number;
  path: string;
  serverVersion: string;
  /** Open loop: events that were due inside the window; of those, the ones dropped and those that never began. */
  offered: number;
  dropped: number;
  maxBacklog: number;
  backlogAtEnd: number;
  cpuSeconds: number;
  eventLoopDelayP99Ms: number;
  bytes: number;
  connected: number;
  /** Connections that this machine could not open for want of its own (a local port, a file handle), by code. */
  ownLimits: Record<string, number>;
  /** The last error of a session that could not connect. */
  connectError: string | null;
}

export function unpack(packed: PackedLatencies): Latencies {
  const latencies = new Latencies();
  latencies.addPacked(packed);
  return latencies;
}
