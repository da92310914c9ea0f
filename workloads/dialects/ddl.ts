/** CREATE TABLE as both dialects write it. */
import type { Column, ColumnType, Index, Table } from "../workload.ts";

/** What differs. */
export interface Ddl {
  typeSql(type: ColumnType): string;
  /** The type and NOT NULL of a column that numbers itself. */
  autoIncrement(type: ColumnType): string;
  /** An index among the columns; absent: the dialect has no such clause. */
  inlineIndex?(index: Index): string;
  /** Between the columns and the table's own tail. */
  storage(table: Table): string;
}

/** A type's name, with what the dialect calls a moment and an exact number. */
export const typesWith =
  (words: { timestamp: string; decimal: string }) =>
  (type: ColumnType): string => {
    switch (type.type) {
      case "int":
        return "INTEGER";
      case "bigint":
      case "date":
        return type.type.toUpperCase();
      case "timestamp":
        return words.timestamp;
      case "decimal":
        return `${words.decimal}(${type.precision},${type.scale})`;
      default:
        return `${type.type.toUpperCase()}(${type.length})`;
    }
  };

export function createTable(table: Table, ddl: Ddl): string {
  const inline = ddl.inlineIndex;
  const parts = [
    ...table.columns.map((column) => `${column.name} ${columnSql(column, ddl)}`),
    ...(table.primaryKey ? [`PRIMARY KEY (${table.primaryKey.join(", ")})`] : []),
    ...(inline ? (table.indexes ?? []).map((index) => inline(index)) : []),
  ];
  const after = [ddl.storage(table), table.tail ?? ""].filter((text) => text !== "").join(" ");
  const made = `CREATE TABLE ${table.name} (${parts.join(", ")})${after === "" ? "" : ` ${after}`}`;
  const apart = inline ? [] : (table.indexes ?? []).map((index) => createIndex(table, index));
  return [made, ...apart].join("; ");
}

export function createIndex(table: Table, { name, columns }: Index): string {
  return `CREATE INDEX ${name} ON ${table.name}(${columns.join(", ")})`;
}

function columnSql(column: Column, ddl: Ddl): string {
  if (column.autoIncrement) return ddl.autoIncrement(column.type);
  const byDefault = column.default === undefined ? "" : ` DEFAULT ${column.default}`;
  return `${ddl.typeSql(column.type)}${byDefault}${column.nullable ? "" : " NOT NULL"}`;
}

export const quotedNames = (names: readonly string[]): string =>
  names.map((name) => `'${name.replaceAll("'", "''")}'`).join(", ");
