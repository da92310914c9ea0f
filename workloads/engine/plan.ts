/** What a workload declares: which statements it prepares and, as a list of operations, what one event does. */
import type { Statement, StatementSpec, Value } from "../drivers/driver.ts";
import type { Random } from "./random.ts";

/** Runs one query on a connection that is not yet in use. Rejects with DriverError. */
export type Ask = (sql: string) => Promise<Value[][]>;

/** What an operation may use of the session that runs it. */
export interface Actor {
  readonly random: Random;
  /** 0-based number of this session among all sessions of the step, over all driver nodes. */
  readonly id: number;
  /** Table drawn for the current statement group, 0-based. */
  table: number;
  /** Rows that the statement in hand must return (reads) or change (writes); -1 when that is not known. */
  expected: number;
  /** The session's own statement for a template of the plan, on the current table. */
  statement(template: number): Statement;
  /** BEGIN or COMMIT, prepared or as text, as the connection wants it. */
  control(sql: "BEGIN" | "COMMIT"): void;
  /** Sends text. */
  text(sql: string | Uint8Array): void;
  /** How many events the one in hand stands for; 1 unless the plan says how many it takes together (`batch`). */
  readonly batch: number;
  /** Goes on over events and connections, for workloads that count: rows that are there (bulk_insert), unique ids. */
  readonly memory: { next: number };
}

export interface Op {
  readonly kind: StatementSpec["kind"];
  /**
   * Draws what the statement needs, in the order in which sysbench draws, and sends exactly one statement.
   * Returns false when there was nothing to send: the event goes on at once.
   */
  send(actor: Actor): boolean;
  /** For sampled answers: are these rows what the statement has to return? */
  readonly check?: ((rows: Value[][]) => boolean) | undefined;
}

/** A statement that is prepared once per session and table. `table` is 0-based. */
export interface Template {
  spec(table: number): StatementSpec;
}

export interface Plan {
  readonly templates: readonly Template[];
  /** Tables for which the templates are prepared: 0-based, 0..tables-1. */
  readonly tables: number;
  readonly ops: readonly Op[];
  /** Whether BEGIN and COMMIT frame the event. */
  readonly transaction: boolean;
  /** No operation of it writes. */
  readonly readOnly: boolean;
  /**
   * How many events the session's next one takes together at most (bulk_insert: rows of one INSERT). They begin and end
   * as one, and when it succeeds as many count as the server says it changed. Absent: one by one.
   */
  batch?(actor: Actor): number;
  /** Run on each new connection of a session before it takes part; `ask` runs one query. */
  start?(actor: Actor, ask: Ask): Promise<void>;
}
