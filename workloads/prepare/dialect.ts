/** The SQL of sysbench's tables, per server family. Pure functions of plain values. */
import type { TableOptions } from "./options.ts";

export type ColumnShape = { name: string; type: string; nullable: boolean };

export interface Dialect {
  createTable(table: number, options: TableOptions): string;
  createBulkTable(table: number): string;
  createIndex(table: number): string;
  /** Rows (t, name, type, nullable "YES"/"NO") of every column of every sbtestN in the database, in order. */
  columns: string;
  /** Rows (t, name, columns "a,b") of every index of every sbtestN in the database. */
  indexes: string;
  /** What columns() gives for a table made by sysbench; some servers widen INTEGER. */
  shape: { name: string; types: string[] }[];
  /** Names under which the primary key / the secondary one (option `secondary`) shows in indexes(). */
  idIndex(table: number, options: TableOptions): string;
}

/** Names are sbtest1, sbtest2, ... as sysbench has them. */
export function tableName(table: number): string {
  return `sbtest${table}`;
}

const mysql: Dialect = {
  createTable: (table, { autoInc, secondary, engine, createTable }) =>
    `CREATE TABLE ${tableName(table)} (id INTEGER NOT NULL${autoInc ? " AUTO_INCREMENT" : ""}, k INTEGER DEFAULT '0' NOT NULL, ` +
    `c CHAR(120) DEFAULT '' NOT NULL, pad CHAR(60) DEFAULT '' NOT NULL, ${secondary ? "KEY xid" : "PRIMARY KEY"} (id)) ENGINE = ${engine} ${createTable}`,
  createBulkTable: (table) =>
    `CREATE TABLE IF NOT EXISTS ${tableName(table)} (id INTEGER NOT NULL, k INTEGER DEFAULT '0' NOT NULL, PRIMARY KEY (id))`,
  createIndex: (table) => `CREATE INDEX k_${table} ON ${tableName(table)}(k)`,
  columns:
    "SELECT table_name AS t, column_name AS name, CONCAT(data_type, IF(data_type = 'char', CONCAT('(', character_maximum_length, ')'), '')) AS type, " +
    "is_nullable AS nullable FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name REGEXP '^sbtest[0-9]+$' ORDER BY table_name, ordinal_position",
  indexes:
    "SELECT table_name AS t, index_name AS name, GROUP_CONCAT(column_name ORDER BY seq_in_index) AS columns FROM information_schema.statistics " +
    "WHERE table_schema = DATABASE() AND table_name REGEXP '^sbtest[0-9]+$' GROUP BY table_name, index_name",
  shape: [
    { name: "id", types: ["int"] },
    { name: "k", types: ["int"] },
    { name: "c", types: ["char(120)"] },
    { name: "pad", types: ["char(60)"] },
  ],
  idIndex: (_table, { secondary }) => (secondary ? "xid" : "PRIMARY"),
};

const postgres: Dialect = {
  createTable: (table, { autoInc, secondary, createTable }) =>
    `CREATE TABLE ${tableName(table)} (id ${autoInc ? "SERIAL" : "INTEGER NOT NULL"}, k INTEGER DEFAULT '0' NOT NULL, ` +
    `c CHAR(120) DEFAULT '' NOT NULL, pad CHAR(60) DEFAULT '' NOT NULL${secondary ? "" : ", PRIMARY KEY (id)"}) ${createTable}` +
    // PostgreSQL knows no KEY clause; sysbench's own statement with --secondary is refused by it.
    (secondary ? `; CREATE INDEX xid_${table} ON ${tableName(table)}(id)` : ""),
  createBulkTable: mysql.createBulkTable,
  createIndex: mysql.createIndex,
  columns:
    "SELECT table_name AS t, column_name AS name, data_type || CASE WHEN data_type = 'character' THEN '(' || character_maximum_length || ')' ELSE '' END AS type, " +
    "is_nullable AS nullable FROM information_schema.columns WHERE table_schema = current_schema() AND table_name ~ '^sbtest[0-9]+$' ORDER BY table_name, ordinal_position",
  indexes:
    "SELECT tablename AS t, indexname AS name, regexp_replace(indexdef, '^.*\\((.*?)\\).*$', '\\1') AS columns FROM pg_indexes " +
    "WHERE schemaname = current_schema() AND tablename ~ '^sbtest[0-9]+$'",
  shape: [
    { name: "id", types: ["integer", "bigint"] },
    { name: "k", types: ["integer", "bigint"] },
    { name: "c", types: ["character(120)"] },
    { name: "pad", types: ["character(60)"] },
  ],
  idIndex: (table, { secondary }) => (secondary ? `xid_${table}` : `${tableName(table)}_pkey`),
};

export function dialectOf(driver: "mysql" | "postgres"): Dialect {
  return driver === "mysql" ? mysql : postgres;
}
