/** What tables sbtestN there are, and whether they are the spec's. */
import type { RunSpec } from "../contract.ts";
import type { ColumnShape, Dialect } from "./dialect.ts";
import { dialectOf, tableName } from "./dialect.ts";
import type { TableOptions } from "./options.ts";
import type { Session } from "./session.ts";

export type TableFacts = { columns: ColumnShape[]; indexes: { name: string; columns: string }[] };

/** By table name; tables that are not there have no entry. */
export async function readTables(
  session: Session,
  driver: RunSpec["target"]["driver"],
  timeoutMs?: number,
): Promise<Map<string, TableFacts>> {
  const dialect = dialectOf(driver);
  const tables = new Map<string, TableFacts>();
  for (const row of await session.query(dialect.columns, timeoutMs)) {
    const facts = tables.get(String(row["t"])) ?? { columns: [], indexes: [] };
    facts.columns.push({
      name: String(row["name"]).toLowerCase(),
      type: String(row["type"]).toLowerCase(),
      nullable: row["nullable"] !== "NO",
    });
    tables.set(String(row["t"]), facts);
  }
  for (const row of await session.query(dialect.indexes, timeoutMs)) {
    tables
      .get(String(row["t"]))
      ?.indexes.push({ name: String(row["name"]), columns: String(row["columns"]).replaceAll(/[ "]/g, "") });
  }
  return tables;
}

/** One line when the columns are not those of sysbench's tables, else undefined. */
export function wrongShape(table: number, facts: TableFacts, dialect: Dialect): string | undefined {
  const given = facts.columns.map((c) => `${c.name} ${c.type}${c.nullable ? "" : " not null"}`).join(", ");
  const fits =
    facts.columns.length === dialect.shape.length &&
    dialect.shape.every(({ name, types }, i) => {
      const column = facts.columns[i]!;
      return column.name === name && types.includes(column.type) && !column.nullable;
    });
  if (fits) return undefined;
  const wanted = dialect.shape.map(({ name, types }) => `${name} ${types[0]} not null`).join(", ");
  return `${tableName(table)}: its columns are (${given}), those of sysbench's tables are (${wanted})`;
}

/** Lines for an index that should be there and is not; a surplus k_N is one too, because it costs writes. */
export function indexProblems(table: number, facts: TableFacts, dialect: Dialect, options: TableOptions): string[] {
  const problems: string[] = [];
  const idIndex = dialect.idIndex(table, options);
  if (!facts.indexes.some((index) => index.name === idIndex && index.columns === "id"))
    problems.push(`${tableName(table)}: no index ${idIndex} on id`);
  const onK = facts.indexes.some((index) => index.name === `k_${table}` && index.columns === "k");
  if (options.createSecondary && !onK) problems.push(`${tableName(table)}: no index k_${table} on k`);
  if (!options.createSecondary && onK)
    problems.push(`${tableName(table)}: has the index k_${table}, the spec says create_secondary off`);
  return problems;
}
