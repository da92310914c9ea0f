/**
 * What differs between servers that speak SQL, apart from the protocol that carries it: DDL, catalogs, how data get in
 * fastest, what counts as replicated, checksums, limits, counters. The protocols are in drivers/.
 */
import type { DialectName, RoleRule, Target } from "../contract.ts";
import type { Kind, Values } from "../facts/names.ts";
import type { Session } from "../sql-session.ts";
import type { ColumnType, Index, Table } from "../workload.ts";
import type { Outstanding } from "./outstanding.ts";

export type Method = "load-data" | "copy" | "insert";

/** What the load has to know of the server: how rows get in fastest and how large a transaction may be. */
export interface LoadPlan {
  readonly version: string;
  readonly method: Method;
  /** Why the method is not the fastest one, for the user. */
  readonly methodNote?: string;
  /** Of one transaction; absent: none. */
  readonly limits?: TransactionLimits;
  /** local_infile has to be set ON on the server before the load, and back after it. */
  readonly setLocalInfile?: true;
  readonly maxStatementBytes: number;
}

/** Absent or 0: no limit. */
export interface TransactionLimits {
  readonly maxRows?: number;
  readonly maxBytes?: number;
}

/** What one endpoint has room for; Infinity where nothing limits it. */
export interface Room {
  readonly sessions: Limit;
  readonly statements: Limit;
}

export interface Limit {
  /** The server's or the account's own name for it. */
  readonly key: string;
  /** As it is set. */
  readonly set: number;
  /** Of it still free, over all servers that stand behind the endpoint. */
  readonly free: number;
}

export type NodeRole = "primary" | "replica";

/** One cheap question to a node, without a SELECT where that would show in the counters of the workload. */
export interface RoleQuestion {
  readonly sql: string;
  /** @returns undefined: the node serves in neither role now */
  role(row: readonly unknown[]): NodeRole | undefined;
}

export const NO_LIMIT: Limit = { key: "", set: Infinity, free: Infinity };

export interface Dialect {
  readonly name: DialectName;
  /** A session needs a database: this one is there on every server unless somebody dropped it. Absent: it needs none. */
  readonly outsideDatabase?: string;
  createDatabase(name: string): string;
  createTable(table: Table): string;
  createIndex(table: Table, index: Index): string;
  /**
   * columns: rows (t, name, type, nullable "YES"/"NO") of every column of these tables, in order.
   * indexes: rows (t, name, columns "a,b") of every index of them.
   */
  catalog(tables: readonly string[]): { columns: string; indexes: string };
  /** What the catalog calls a column's type; the first is what `createTable` makes, the others are as good. */
  typeNames(type: ColumnType): readonly string[];
  /** What the catalog calls the primary key's index. */
  primaryKeyName(table: string): string;
  /** After the rows: sequences, statistics. */
  finishTable(session: Session, table: Table, timeoutMs: number): Promise<void>;
  /** Where roles are asked for: how far the primary is, and a wait until another node has applied all up to there. */
  readonly position?: {
    /** Undefined: this server has no such position. */
    of(primary: Session): Promise<string | undefined>;
    /** False when the node has not got there within `seconds`. */
    reached(node: Session, position: string, seconds: number): Promise<boolean>;
  };
  /** From here on the session's reads wait until all that was committed before is applied on its node. */
  waitForReplication(session: Session): Promise<void>;
  /** What the session's node has still to apply of what others have committed. */
  outstanding(session: Session, timeoutMs: number): Promise<Outstanding>;
  /** The same on two nodes that have the same rows. */
  checksum(session: Session, table: Table, timeoutMs: number): Promise<string>;
  /** @param asked data.method and data.localInfile of the spec. Throws one line when that cannot be had. */
  planLoad(session: Session, asked: LoadWish): Promise<LoadPlan>;
  /**
   * @param alone what is in use now is in use by others
   * @param servers that stand behind the endpoint
   */
  room(session: Session, alone: boolean, servers: number): Promise<Room>;
  /** What is wrong with prepared statements on this endpoint, in one line; null: nothing. */
  preparedStatementsProblem(open: () => Promise<Session>): Promise<string | null>;
  /** The question how long a statement may wait for a row lock, and the answer in milliseconds; 0 is no limit. */
  readonly lockWait: { readonly sql: string; milliseconds(row: readonly unknown[]): number };
  /** Whether a node takes writes now, by the rules that its servers know. */
  readonly roles: Readonly<Partial<Record<RoleRule, RoleQuestion>>>;
  /** Takes one sample of the server's counters and states per call. */
  sampler(): (session: Session, timeoutMs: number) => Promise<Values>;
  /** Settings that change what a run measures. */
  variables(session: Session, timeoutMs: number): Promise<Record<string, string>>;
  /** Whether a sampled value is a counter or a state. */
  kindOf(name: string): Kind;
}

export interface LoadWish {
  readonly method: "auto" | Method;
  readonly localInfile?: "keep" | "set" | undefined;
  readonly user: Target["user"];
}
