/** Which of the tables there are, and whether they are the spec's. */
import type { Dialect } from "../dialects/dialect.ts";
import type { Session } from "../sql-session.ts";
import type { Index, Table } from "../workload.ts";

export type TableFacts = {
  columns: { name: string; type: string; nullable: boolean }[];
  indexes: { name: string; columns: string }[];
};

/** By table name; tables that are not there have no entry. */
export async function readTables(
  session: Session,
  dialect: Dialect,
  wanted: readonly Table[],
  timeoutMs: number,
): Promise<Map<string, TableFacts>> {
  const { columns, indexes } = dialect.catalog(wanted.map(({ name }) => name));
  const tables = new Map<string, TableFacts>();
  for (const row of await session.query(columns, timeoutMs)) {
    const facts = tables.get(String(row["t"])) ?? { columns: [], indexes: [] };
    facts.columns.push({
      name: String(row["name"]).toLowerCase(),
      type: String(row["type"]).toLowerCase(),
      nullable: row["nullable"] !== "NO",
    });
    tables.set(String(row["t"]), facts);
  }
  for (const row of await session.query(indexes, timeoutMs)) {
    tables
      .get(String(row["t"]))
      ?.indexes.push({ name: String(row["name"]), columns: String(row["columns"]).replaceAll(/[ "]/g, "") });
  }
  return tables;
}

/** One line when the columns are not those of the description, else undefined. @param owner whose table it is */
export function wrongShape(table: Table, facts: TableFacts, dialect: Dialect, owner: string): string | undefined {
  const written = (name: string, type: string, nullable: boolean): string =>
    `${name} ${type}${nullable ? "" : " not null"}`;
  const fits =
    facts.columns.length === table.columns.length &&
    table.columns.every(({ name, type, nullable = false }, i) => {
      const there = facts.columns[i]!;
      return there.name === name && dialect.typeNames(type).includes(there.type) && there.nullable === nullable;
    });
  if (fits) return undefined;
  const given = facts.columns.map(({ name, type, nullable }) => written(name, type, nullable)).join(", ");
  const wanted = table.columns
    .map(({ name, type, nullable = false }) => written(name, dialect.typeNames(type)[0] ?? "", nullable))
    .join(", ");
  return `${table.name}: its columns are (${given}), those of ${owner}'s tables are (${wanted})`;
}

const isThere = (facts: TableFacts, { name, columns }: Index): boolean =>
  facts.indexes.some((index) => index.name === name && index.columns === columns.join(","));

/** Of those that are made after the rows. */
export function missingIndexes({ laterIndexes = [] }: Table, facts: TableFacts): readonly Index[] {
  return laterIndexes.filter((index) => !isThere(facts, index));
}

/** Lines for an index that should be there and is not; a surplus one is a line too, because it costs writes. */
export function indexProblems(table: Table, facts: TableFacts, dialect: Dialect): string[] {
  const { name, primaryKey, indexes = [], unwantedIndexes = [] } = table;
  const primary = primaryKey ? [{ name: dialect.primaryKeyName(name), columns: primaryKey }] : [];
  const missing = [...primary, ...indexes].filter((index) => !isThere(facts, index));
  return [
    ...[...missing, ...missingIndexes(table, facts)].map(
      (index) => `${name}: no index ${index.name} on ${index.columns.join(", ")}`,
    ),
    ...unwantedIndexes
      .filter((index) => isThere(facts, index))
      .map((index) => `${name}: has the index ${index.name}, which the spec's options leave out`),
  ];
}
