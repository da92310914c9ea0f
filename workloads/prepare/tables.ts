/** Decides per table what the load has to do: nothing, the rest, all of it again, or all of it. */
import type { RunSpec } from "../contract.ts";
import type { Chunk } from "./chunks.ts";
import { cutTable, missingChunks } from "./chunks.ts";
import { dialectOf, tableName } from "./dialect.ts";
import type { TableFacts } from "./inspect.ts";
import { indexProblems, readTables, wrongShape } from "./inspect.ts";
import type { TableOptions } from "./options.ts";
import type { Session } from "./session.ts";

export type TablePlan = {
  table: number;
  /** What happens to the table that is there, if one is. */
  action: "create" | "continue" | "recreate" | "reuse";
  chunks: Chunk[];
  /** The index on k has to be made after the load. */
  index: boolean;
  note?: string;
};

/** Counting a large table on a cold cache takes its time. */
const COUNT_TIMEOUT_MS = 1_800_000;

/** Throws when a table of this name is there that is not sysbench's: it may be somebody's data. */
export async function planTables(
  session: Session,
  spec: RunSpec,
  options: TableOptions,
  chunkRows: number,
): Promise<TablePlan[]> {
  const present = await readTables(session, spec.target.driver, 60_000);
  const plans: TablePlan[] = [];
  for (let table = 1; table <= spec.data.tables; table++) {
    const chunks = cutTable(table, spec.data.tableSize, chunkRows);
    const facts = present.get(tableName(table));
    plans.push(
      facts === undefined
        ? { table, action: "create", chunks, index: options.createSecondary }
        : await planPresent(session, spec, options, table, chunks, chunkRows, facts),
    );
  }
  return plans;
}

async function planPresent(
  session: Session,
  spec: RunSpec,
  options: TableOptions,
  table: number,
  chunks: Chunk[],
  chunkRows: number,
  facts: TableFacts,
): Promise<TablePlan> {
  const name = tableName(table);
  const dialect = dialectOf(spec.target.driver);
  const shape = wrongShape(table, facts, dialect);
  if (shape !== undefined)
    throw new Error(`${shape}: it is left as it is; drop it, or set target.database to another one`);
  const again = (why: string): TablePlan => ({
    table,
    action: "recreate",
    chunks,
    index: options.createSecondary,
    note: `${name}: ${why}: made anew`,
  });

  const problems = indexProblems(table, facts, dialect, options);
  const onlyIndexMissing =
    problems.length === 1 && options.createSecondary && problems[0]!.includes(`no index k_${table} `);
  if (problems.length > 0 && !onlyIndexMissing) return again(problems[0]!.replace(`${name}: `, ""));

  const size = spec.data.tableSize;
  const [row] = await session.query(
    `SELECT COUNT(*) AS n, MIN(id) AS low, MAX(id) AS high FROM ${name}`,
    COUNT_TIMEOUT_MS,
  );
  const rows = Number(row?.["n"] ?? 0);
  const whole = rows === size && (size === 0 || (Number(row?.["low"]) === 1 && Number(row?.["high"]) === size));
  if (whole) {
    return onlyIndexMissing
      ? {
          table,
          action: "continue",
          chunks: [],
          index: true,
          note: `${name}: all ${rows} rows are there, only the index k_${table} is made`,
        }
      : { table, action: "reuse", chunks: [], index: false, note: `${name}: reused, ${rows} rows are there` };
  }
  if (rows > size || (!onlyIndexMissing && options.createSecondary))
    return again(`it has ${rows} rows, the spec says ${size}`);
  const counted = await session.query(
    `SELECT FLOOR((id - 1) / ${chunkRows}.0) AS i, COUNT(*) AS n FROM ${name} GROUP BY 1`,
    COUNT_TIMEOUT_MS,
  );
  const missing = missingChunks(chunks, new Map(counted.map((r) => [Number(r["i"]), Number(r["n"])])));
  if (missing === undefined) return again(`it has ${rows} of ${size} rows, not as this load would have left them`);
  return {
    table,
    action: "continue",
    chunks: missing,
    index: options.createSecondary,
    ...(rows > 0 ? { note: `${name}: half loaded, continued from ${rows} of ${size} rows` } : {}),
  };
}
