/** Decides per table what the load has to do: nothing, the rest, all of it again, or all of it. */
import type { Dialect, TransactionLimits } from "../dialects/dialect.ts";
import { rowCount } from "../rows.ts";
import type { Session } from "../sql-session.ts";
import type { Index, Table } from "../workload.ts";
import type { Chunk } from "./chunks.ts";
import { chunkRows, cutTable, missingChunks } from "./chunks.ts";
import type { TableFacts } from "./inspect.ts";
import { indexProblems, missingIndexes, readTables, wrongShape } from "./inspect.ts";
import type { FilledTable } from "./loader.ts";

export type TablePlan = {
  table: FilledTable;
  /** What happens to the table that is there, if one is. */
  action: "create" | "continue" | "recreate" | "reuse";
  chunks: Chunk[];
  /** Those that have to be made after the load. */
  indexes: readonly Index[];
  note?: string;
};

/** Counting a large table on a cold cache takes its time. */
const COUNT_TIMEOUT_MS = 1_800_000;

export interface Wanted<T extends Table = Table> {
  readonly dialect: Dialect;
  /** Whose tables they are. */
  readonly owner: string;
  readonly tables: readonly T[];
}

/** Makes those that are not there, without rows. Throws when one of this name is there that is somebody else's. */
export async function makeEmpty(session: Session, wanted: Wanted, timeoutMs: number): Promise<void> {
  const { dialect, tables } = wanted;
  const present = await readTables(session, dialect, tables, 60_000);
  for (const table of tables) {
    const facts = present.get(table.name);
    if (facts === undefined) await session.query(dialect.createTable(table), timeoutMs);
    else expectOurs(table, facts, wanted);
  }
}

/** Throws when a table of this name is there that is somebody else's: it may be data that matter. */
export async function planTables(
  session: Session,
  wanted: Wanted<FilledTable>,
  limits: TransactionLimits | undefined,
): Promise<TablePlan[]> {
  const present = await readTables(session, wanted.dialect, wanted.tables, 60_000);
  const plans: TablePlan[] = [];
  for (const [i, table] of wanted.tables.entries()) {
    const size = chunkRows(limits, table.rows.bytes, table.rows.each?.most);
    const chunks = cutTable(i + 1, table.rows.count, size);
    const facts = present.get(table.name);
    plans.push(
      facts === undefined
        ? { table, action: "create", chunks, indexes: table.laterIndexes ?? [] }
        : await planPresent(session, wanted, table, chunks, size, facts),
    );
  }
  return plans;
}

function expectOurs(table: Table, facts: TableFacts, { dialect, owner }: Wanted): void {
  const shape = wrongShape(table, facts, dialect, owner);
  if (shape !== undefined)
    throw new Error(`${shape}: it is left as it is; drop it, or set target.database to another one`);
}

async function planPresent(
  session: Session,
  wanted: Wanted,
  table: FilledTable,
  chunks: Chunk[],
  rowsPerChunk: number,
  facts: TableFacts,
): Promise<TablePlan> {
  const { name, laterIndexes = [] } = table;
  const { count, ordinal } = table.rows;
  const size = rowCount(table.rows);
  expectOurs(table, facts, wanted);
  const again = (why: string): TablePlan => ({
    table,
    action: "recreate",
    chunks,
    indexes: laterIndexes,
    note: `${name}: ${why}: made anew`,
  });

  const problems = indexProblems(table, facts, wanted.dialect);
  const missing = missingIndexes(table, facts);
  if (problems.length > missing.length) return again(problems[0]!.replace(`${name}: `, ""));

  const [row] = await session.query(
    `SELECT COUNT(*) AS n, MIN(${ordinal}) AS low, MAX(${ordinal}) AS high FROM ${name}`,
    COUNT_TIMEOUT_MS,
  );
  const rows = Number(row?.["n"] ?? 0);
  const whole = rows === size && (size === 0 || (Number(row?.["low"]) === 1 && Number(row?.["high"]) === count));
  if (whole) {
    return missing.length > 0
      ? {
          table,
          action: "continue",
          chunks: [],
          indexes: missing,
          note: `${name}: all ${rows} rows are there, only ${indexList(missing)} ${missing.length > 1 ? "are" : "is"} made`,
        }
      : { table, action: "reuse", chunks: [], indexes: [], note: `${name}: reused, ${rows} rows are there` };
  }
  // A load makes them last: rows were changed since.
  if (rows > size || (missing.length === 0 && laterIndexes.length > 0))
    return again(`it has ${rows} rows, the spec says ${size}`);
  const counted = await session.query(
    `SELECT FLOOR((${ordinal} - 1) / ${rowsPerChunk}.0) AS i, COUNT(*) AS n FROM ${name} GROUP BY 1`,
    COUNT_TIMEOUT_MS,
  );
  const left = missingChunks(chunks, new Map(counted.map((r) => [Number(r["i"]), Number(r["n"])])), ({ first, last }) =>
    rowCount(table.rows, first, last),
  );
  if (left === undefined) return again(`it has ${rows} of ${size} rows, not as this load would have left them`);
  return {
    table,
    action: "continue",
    chunks: left,
    indexes: missing,
    ...(rows > 0 ? { note: `${name}: half loaded, continued from ${rows} of ${size} rows` } : {}),
  };
}

/** "the index a", "the indexes a, b". */
export function indexList(indexes: readonly Index[]): string {
  return `the ${indexes.length > 1 ? "indexes" : "index"} ${indexes.map(({ name }) => name).join(", ")}`;
}
