/** What a workload declares: which statements it prepares and, as a list of operations, what one event does. */
import type { Statement, StatementSpec, Value } from "../drivers/driver.ts";
import type { Random } from "./random.ts";

/** Runs one query on a connection that is not yet in use. Rejects with DriverError. */
export type Ask = (sql: string) => Promise<Value[][]>;

/** What an operation may use of the session that runs it. */
export interface Actor<State = unknown> {
  readonly random: Random;
  /** 0-based number of this session among all sessions of the step, over all driver nodes. */
  readonly id: number;
  /** Table drawn for the current statement group, 0-based. */
  table: number;
  /** Rows that the statement in hand must return (reads) or change (writes); -1 when that is not known. */
  expected: number;
  /** The session's own statement for a template of the plan, on the current table. */
  statement(template: number): Statement;
  /**
   * BEGIN and COMMIT prepared or as text, as the connection wants them. An event may hold several transactions: after a
   * conflict it goes on from the last BEGIN, or from after the last COMMIT or ROLLBACK; what was committed stays.
   */
  control(sql: "BEGIN" | "COMMIT" | "ROLLBACK"): void;
  /** Sends text. */
  text(sql: string | Uint8Array): void;
  /** How many events the one in hand stands for; 1 unless the plan says how many it takes together (`batch`). */
  readonly batch: number;
  /** The session's own, made by the plan's `state`; goes on over events and connections. */
  readonly state: State;
}

export interface Op<State = unknown> {
  readonly kind: StatementSpec["kind"];
  /** Sent in one write with the operation before it, where the connection can: see `pipeline` in workloads/ops.ts. */
  readonly joins?: boolean;
  /** BEGIN. */
  readonly begins?: boolean;
  /**
   * Draws what the statement needs, in the order in which sysbench draws, and sends exactly one statement.
   * Returns false when there was nothing to send: the event goes on at once. One that joins knows nothing yet of the
   * answers to those that it goes with.
   */
  send(actor: Actor<State>): boolean;
  /** For sampled answers: are these rows what the statement has to return? */
  readonly check?: ((rows: Value[][]) => boolean) | undefined;
  /**
   * Gets the rows of the answer, for operations that follow; what it needs of them goes into `actor.state`. Of a
   * prepared statement that reads. A driver without rows gives none.
   */
  keep?(actor: Actor<State>, rows: Value[][]): void;
}

/** A statement that is prepared once per session and table. `table` is 0-based. */
export interface Template {
  spec(table: number): StatementSpec;
}

export interface Plan<State = unknown> {
  readonly templates: readonly Template[];
  /** Tables for which the templates are prepared: 0-based, 0..tables-1. */
  readonly tables: number;
  readonly ops: readonly Op<State>[];
  /** What each session has of its own. */
  state?(): State;
  /** Whether operations send BEGIN. */
  readonly transaction: boolean;
  /** No operation of it writes. */
  readonly readOnly: boolean;
  /**
   * How many events the session's next one takes together at most (rows of one INSERT). They begin and end
   * as one, and when it succeeds as many count as the server says it changed. Absent: one by one.
   */
  batch?(actor: Actor<State>): number;
  /** The batch in hand has succeeded. */
  batchDone?(actor: Actor<State>): void;
  /** Run on each new connection of a session before it takes part; `ask` runs one query. */
  start?(actor: Actor<State>, ask: Ask): Promise<void>;
}
