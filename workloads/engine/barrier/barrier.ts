/**
 * Where the drivers of one run wait for each other: before the first window until the tables are there, before each
 * window until every connection of every driver is open, and after the last one.
 *
 * Driver 0 keeps the barrier on a TCP port, the others call it; one JSON document per line. It needs nobody else: an
 * operator who is cut off changes nothing, and a window that drained for long on one driver is waited for by all, which
 * moments agreed on before the run cannot give. The keeper names the begin of a window by its own clock. Clocks of real
 * machines differ, so each caller measures the difference before each window and converts; half of the quickest round
 * trip bounds the error, and both stand in the result.
 *
 * Every driver hears from the others every two seconds. One that is gone, silent or stopped ends the run of all at
 * once: what a part of the load would measure from there on is not what was asked for.
 */

/** What "go" says to a driver, in its own clock (clock.ts). Milliseconds. */
export interface Go {
  at: number;
  /** Clock of driver 0 minus this one's. */
  offsetMs: number;
  uncertaintyMs: number;
  /** Whether all drivers were content when they arrived. */
  allOk: boolean;
}

export interface Barrier {
  /** Driver 0's name for the run; the others take it over. */
  readonly runId: string;
  /** Aborted, with a sentence, when a driver is gone or the run is stopped on another one. */
  readonly lost: AbortSignal;
  /** Resolves when all drivers have arrived at this point; undefined when one is lost. Never rejects. */
  arrive(point: string, ok?: boolean): Promise<Go | undefined>;
  /** Parts with the others. With a reason they stop, too. */
  close(reason?: string): void;
}

export interface BarrierOptions {
  /**
   * The other drivers' arrival may take this long after the first point is reached by driver 0, and its answer to a
   * call.
   */
  patienceMs?: number;
  silenceMs?: number;
  /** Ends the wait for driver 0's answer. */
  signal?: AbortSignal;
  /** This machine's clock. */
  clock?: () => number;
}

/** From "all are there" to the begin: the message has to reach everybody before it. Round trips come on top. */
export const LEAD_MS = 250;
export const HEARTBEAT_MS = 2000;
export const SILENCE_MS = 20_000;
export const PATIENCE_MS = 120_000;

/** "driver 2 of 3": as node names count, from 1. */
export const driverName = (index: number, count: number): string => `driver ${index + 1} of ${count}`;

/** The barrier's address, the name of the run, and which driver this is. */
export interface Place {
  host: string;
  port: number;
  key: string;
  index: number;
  count: number;
}
