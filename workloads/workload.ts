/**
 * What a workload is, after the Generator of CockroachDB's workload package: a name, options with their defaults and
 * bounds, the tables that it runs on, and what one event does. The engine is handed plans, the loader is handed tables;
 * neither knows a workload. registry.ts lists those that there are.
 */
import type { z } from "zod";
import type { DialectName } from "./contract.ts";
import type { Plan } from "./engine/plan.ts";
import type { Random } from "./engine/random.ts";

export interface Workload<S extends z.ZodObject = z.ZodObject> {
  readonly name: string;
  readonly description: string;
  /** Options of a step: builders in options.ts, those of every workload (COMMON) among them. */
  readonly options: S;
  /** All steps of a run have the same one. */
  readonly dataset: Dataset;
  /** What one event does. Throws one line, which begins with the key, when nothing could be run. */
  plan(context: PlanContext<z.output<S>>): Plan;
}

/** How many sessions there are in all, and what the data look like. */
export interface PlanContext<Options> extends DataSize {
  readonly options: Options;
  readonly dialect: DialectName;
  /** Over all driver nodes. */
  readonly sessions: number;
  readonly seed: number;
  /** Which window of the run this is, and of how many: 0-based, by step and then repeat, whatever order they run in. */
  readonly window: { readonly index: number; readonly count: number };
}

/** `data` of a spec; a workload that has a size of its own (warehouses) takes it from its options. */
export interface DataSize {
  readonly tables: number;
  readonly tableSize: number;
}

/** Tables that one workload or several run on. */
export interface Dataset<S extends z.ZodObject = z.ZodObject> {
  /** Whose tables they are, as messages say it. */
  readonly name: string;
  /** Options in `data.options` that shape them. */
  readonly options: S;
  /** In the order in which they are made and filled. */
  tables(context: DataContext<z.output<S>>): Table[];
  /**
   * After a run on tables that were as `tables` says before it: one line per thing that must hold and does not.
   * @param query rows of one statement, on a node that has everything that was committed
   * @param counted rows by table
   */
  check?(context: DataContext<z.output<S>>, query: Query, counted: ReadonlyMap<string, number>): Promise<string[]>;
}

export interface DataContext<Options> extends DataSize {
  readonly options: Options;
  readonly dialect: DialectName;
  /** The run's, for what has to be known of the rows before they are written. */
  readonly seed: number;
  /** Of the run. */
  readonly steps: readonly RunStep[];
}

export interface RunStep {
  readonly workload: string;
  readonly threads: number;
  /** As resolved: defaults included. */
  readonly options: Readonly<Record<string, unknown>>;
}

export type Query = (sql: string) => Promise<Record<string, unknown>[]>;

export interface Table {
  readonly name: string;
  readonly columns: readonly Column[];
  readonly primaryKey?: readonly string[] | undefined;
  /** Made with the table. */
  readonly indexes?: readonly Index[];
  /** Made after the rows, which is faster. */
  readonly laterIndexes?: readonly Index[];
  /** Those that would cost writes if an earlier load had left them. */
  readonly unwantedIndexes?: readonly Index[];
  /** MySQL: the storage engine. */
  readonly storage?: string;
  /** Text after the columns of CREATE TABLE. */
  readonly tail?: string;
  /** Absent: made empty; the workload itself fills it. */
  readonly rows?: Rows;
}

export interface Column {
  readonly name: string;
  readonly type: ColumnType;
  readonly nullable?: boolean;
  /** As SQL writes it. */
  readonly default?: string;
  /** AUTO_INCREMENT, SERIAL. */
  readonly autoIncrement?: boolean;
}

/** int: 32 bits; bigint: 64 bits; char is padded to its length by the server. */
export type ColumnType =
  | { readonly type: "int" | "bigint" | "date" | "timestamp" }
  | { readonly type: "decimal"; readonly precision: number; readonly scale: number }
  | { readonly type: "char" | "varchar"; readonly length: number };

export interface Index {
  readonly name: string;
  readonly columns: readonly string[];
}

/** text: tab-separated, as LOAD DATA and COPY read it by default. values: `(1,2,'text'),` for INSERT. */
export type RowFormat = "text" | "values";

/**
 * The rows of a table, numbered from 1. The same seed gives the same rows. Where rows belong to parents, as the lines
 * of an order do, the numbers are the parents' and `each` says how many rows one has.
 */
export interface Rows {
  readonly count: number;
  /** SQL over the table's columns for the number of a row; an index on it makes checks fast. */
  readonly ordinal: string;
  /** Most bytes that one number's rows take in either format. */
  readonly bytes: number;
  /** How many rows a number stands for; absent: one. */
  readonly each?: {
    /** At least one, at most `most`. Depends on nothing but the number and what the dataset was given. */
    of(number: number): number;
    readonly most: number;
  };
  /** Nothing in them but ASCII, which loads faster. */
  readonly ascii?: boolean;
  /**
   * Writes rows first..last at the start of `buffer`; returns the bytes written. Called for one piece after the other of
   * a transaction's rows, with one stream of random numbers for all of them.
   */
  write(buffer: Uint8Array, format: RowFormat, first: number, last: number, random: Random): number;
}
