/** The tables of sysbench 1.0.20 (src/lua/oltp_common.lua, bulk_insert.lua): sbtest1, sbtest2, ... */
import type { z } from "zod";
import { distribution } from "../engine/distributions.ts";
import type { Column, DataContext, Dataset, Index, Rows, RunStep, Table } from "../workload.ts";
import type { TableOptions } from "./options.ts";
import { tableOptions } from "./options.ts";
import { ROW_BYTES, writeRows } from "./rows.ts";

type Context = DataContext<TableOptions>;

const tableName = (table: number): string => `sbtest${table}`;
const numbers = (count: number): number[] => Array.from({ length: count }, (_, i) => i + 1);

const K: Column = { name: "k", type: { type: "int" }, default: "'0'" };
const columns = (autoIncrement: boolean): Column[] => [
  { name: "id", type: { type: "int" }, autoIncrement },
  K,
  { name: "c", type: { type: "char", length: 120 }, default: "''" },
  { name: "pad", type: { type: "char", length: 60 }, default: "''" },
];

function oltpTable({ options, dialect, tableSize }: Context, table: number): Table {
  const { auto_inc, secondary, create_secondary, mysql_storage_engine, create_table_options } = options;
  // An index's name is the table's own on MySQL, the schema's on PostgreSQL.
  const onId: Index = { name: dialect === "mysql" ? "xid" : `xid_${table}`, columns: ["id"] };
  const onK: Index = { name: `k_${table}`, columns: ["k"] };
  return {
    name: tableName(table),
    columns: columns(auto_inc),
    primaryKey: secondary ? undefined : ["id"],
    indexes: secondary ? [onId] : [],
    laterIndexes: create_secondary ? [onK] : [],
    unwantedIndexes: create_secondary ? [] : [onK],
    storage: mysql_storage_engine,
    tail: create_table_options,
    rows: rows(options, tableSize),
  };
}

/** k is drawn from 1..tableSize by the distribution of the options, as `sysbench prepare` draws it. */
function rows(options: TableOptions, tableSize: number): Rows {
  const draw = distribution(options);
  const size = Math.max(1, tableSize);
  return {
    count: tableSize,
    ordinal: "id",
    bytes: ROW_BYTES,
    ascii: true,
    write: (buffer, format, first, last, random) =>
      writeRows(buffer, format, first, last, random, () => draw(random, 1, size)),
  };
}

export const sbtest: Dataset<typeof tableOptions> = {
  name: "sysbench",
  options: tableOptions,
  tables: (context) => numbers(context.tables).map((table) => oltpTable(context, table)),
  /** A transaction that deletes a row inserts it again: whatever was aborted, restarted or lost, as many are there. */
  async check({ options, steps, tableSize }, _query, counted) {
    // Without transactions a DELETE may stay alone.
    const transactional = options.mysql_storage_engine.toLowerCase() === "innodb";
    if (!transactional || !steps.every(keepsRows)) return [];
    return [...counted].flatMap(([name, rows]) =>
      rows === tableSize ? [] : [`${name}: ${rows} rows after the run; expected ${tableSize}, as before it`],
    );
  },
};

const keepsRows = ({ workload, options }: RunStep): boolean =>
  !["oltp_insert", "oltp_delete"].includes(workload) && options["skip_trx"] !== true;

/** bulk_insert has tables of its own under the same names: one for each thread, which the threads fill. */
export const bulk: Dataset<z.ZodObject> = {
  name: "bulk_insert",
  options: tableOptions,
  tables: ({ steps }) =>
    numbers(Math.max(...steps.map(({ threads }) => threads))).map((table) => ({
      name: tableName(table),
      columns: [{ name: "id", type: { type: "int" } }, K],
      primaryKey: ["id"],
    })),
};
