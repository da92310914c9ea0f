/**
 * What the engine asks of a database client. One connection runs one statement at a time; the engine never sends a
 * second statement before the first one's answer has ended, because that is the work sysbench does, unless a plan
 * declares operations that go together (`collect`, `flush`).
 *
 * The hot path is callback based and allocates nothing per statement: parameters are written straight into a
 * statement's own packet (`setInt`, `bytes`), `execute()` sends it, and the answer ends in exactly one call of the
 * connection's listener, always in a later turn of the event loop than `execute()`.
 */
import type { Endpoint } from "../contract.ts";
import type { ParamType, ParamValue } from "./params.ts";

export type { ParamType } from "./params.ts";

/**
 * How a statement is counted, as sysbench counts it: read = it returns rows; write = it changed at least one row (a
 * write that touched none counts as other); control = BEGIN, COMMIT, ROLLBACK, always other.
 */
export type StatementKind = "read" | "write" | "control";

export interface StatementSpec {
  /** SQL with `?` for each parameter; a driver whose server wants `$1` rewrites it. */
  readonly sql: string;
  readonly params: readonly ParamType[];
  readonly kind: StatementKind;
}

/** A statement of one connection: a server-side prepared one, or its text form where preparing is off or not wanted. */
export interface Statement {
  readonly spec: StatementSpec;
  /** @param index 0-based position of an int parameter */
  setInt(index: number, value: number): void;
  /**
   * The place of a text parameter: exactly `length` bytes that the caller fills before `execute()`. Ask for it anew
   * after a NULL, and where the statement has varchar parameters.
   */
  bytes(index: number): Uint8Array;
  /** Any parameter but text; null is NULL, of text too. Throws RangeError on a value that its type does not have. */
  set(index: number, value: ParamValue | null): void;
  execute(): void;
}

/** What the engine does after an error; the driver knows its server's codes, the engine knows the policy. */
export type ErrorAction =
  /**
   * Serialization failure, deadlock, lock timeout: the event starts again at once, in the same timer (sysbench's
   * ignorable errors).
   */
  | "restart"
  /**
   * The node can't serve now (Galera 1047, read-only, shutting down), or an unknown error: back off, try another
   * endpoint when there is one.
   */
  | "retry"
  /** The connection is gone or its state is unknown. */
  | "reconnect";

export class DriverError extends Error {
  /** The server's or the system's code, as counted in results: "1213", "40001", "ECONNRESET", "statement-timeout". */
  readonly code: string;
  readonly action: ErrorAction;
  /**
   * True when the server keeps a transaction open (or aborted but not ended) and ROLLBACK has to be sent before going
   * on.
   */
  readonly needsRollback: boolean;

  constructor(code: string, message: string, action: ErrorAction, needsRollback = false) {
    super(message);
    this.name = "DriverError";
    this.code = code;
    this.action = action;
    this.needsRollback = needsRollback;
  }
}

/** Told once per `execute()` / `query()`. `lost` may also come while nothing is running. */
export interface Listener {
  /** @param rows rows returned (reads) @param affected rows changed (writes; 0 for reads) */
  done(rows: number, affected: number): void;
  /** The statement failed; the connection is usable unless `error.action` is "reconnect". */
  failed(error: DriverError): void;
  /** The connection ended. When a statement was running, this is its only answer. */
  lost(error: DriverError): void;
}

/**
 * What becomes of the statements behind one that fails, where several are sent together. goes-on: the server runs them
 * all the same, each has its answer; skips: it passes them over, and the failure is the last answer. none: the path
 * sends one statement at a time.
 */
export type Pipelining = "none" | "goes-on" | "skips";

/** A row's value: text where a number would not be exact, and for dates. */
export type Value = string | number | null;

export interface Connection {
  readonly endpoint: Endpoint;
  /** fast: the project's own packet codec; library: the client library's own execute. */
  readonly path: "fast" | "library";
  readonly serverVersion: string;
  /** Bytes over the wire since the connection opened. */
  readonly bytesRead: number;
  readonly bytesWritten: number;
  /** Set by the engine before the first execute or query. */
  listener: Listener;

  /**
   * Prepares all of them, in order (requests may be sent together here: nothing is measured yet).
   * With `preparedStatements: "disable"` the statements are text that is formed at each execute.
   * Rejects with DriverError.
   */
  prepare(specs: readonly StatementSpec[]): Promise<Statement[]>;

  /**
   * Text protocol, for transaction control behind a proxy, ROLLBACK, oltp_insert and bulk_insert. Answered through the
   * listener.
   */
  query(sql: string | Uint8Array): void;

  readonly pipelining: Pipelining;
  /** From here on statements are kept until `flush`; not where `pipelining` is none. */
  collect(): void;
  /**
   * Sends what was collected in one write. The listener is told once per statement, in their order; with `skips`
   * nothing comes behind a failure. Nothing is sent before the last answer.
   */
  flush(): void;

  /**
   * Keeps the next statement's rows and decodes them when it has ended; `takeRows` returns them once (null if none were
   * kept).
   */
  captureNext(): void;
  takeRows(): Value[][] | null;

  /**
   * Ends the session politely; resolves when the socket is closed or after a second, never rejects. Statements that the
   * server keeps per session end with it.
   */
  close(): Promise<void>;
  /** Drops the socket at once. No further call of the listener follows. */
  destroy(): void;
}

export interface ConnectOptions {
  database: string;
  user: string;
  password: string;
  tls: { mode: "off" | "require" | "verify"; caFile?: string | undefined };
  connectTimeoutMs: number;
  preparedStatements: "auto" | "disable";
  /** Never use the fast path (comparison and fault-finding). */
  forceLibrary?: boolean;
}

export interface Driver {
  readonly name: "mysql" | "postgres" | "null";
  readonly library: { name: string; version: string };
  /** Statements that every session begins with, for the result. */
  readonly sessionSetup: readonly string[];
  /**
   * True where a write on an existing row must report 1 affected row when the data are whole. On PostgreSQL a row that
   * another transaction has just replaced reports 0, so a 0 there is no mismatch.
   */
  readonly exactWriteCounts: boolean;
  /**
   * Ends in a ready session on the database, or rejects with DriverError (wrong password "1045", absent server
   * "ECONNREFUSED", "connect-timeout" ...).
   */
  connect(endpoint: Endpoint, options: ConnectOptions): Promise<Connection>;
}
