/** Makes, checks and removes the tables that a spec's workloads run on. */
import type { RunResult, RunSpec } from "../contract.ts";
import type { Dialect, LoadPlan } from "../dialects/dialect.ts";
import { isError } from "../dialects/errors.ts";
import { dialectOf } from "../dialects/index.ts";
import { setLocalInfile } from "../dialects/local-infile.ts";
import { rowCount } from "../rows.ts";
import type { Session } from "../sql-session.ts";
import { describe, errorCode } from "../sql-session.ts";
import { dataOf } from "../steps.ts";
import type { Index } from "../workload.ts";
import type { Chunk } from "./chunks.ts";
import { openFirst } from "./endpoint.ts";
import { readTables } from "./inspect.ts";
import type { FilledTable } from "./loader.ts";
import { ChunkLoader, RowsPresent } from "./loader.ts";
import { LoadProgress } from "./progress.ts";
import { settle } from "./settle.ts";
import type { TablePlan } from "./tables.ts";
import { indexList, makeEmpty, planTables } from "./tables.ts";
import type { Job } from "./workers.ts";
import { Workers } from "./workers.ts";

export { checkData, verify } from "./verify.ts";

export type PrepareResult = NonNullable<RunResult["prepare"]>;
export type VerifyResult = NonNullable<RunResult["verify"]>;
export type PrepareOptions = { onProgress(line: string): void; signal: AbortSignal };

/** DDL on a large table: an index over 10^8 rows takes a while, and Galera runs it on every node at once. */
const DDL_TIMEOUT_MS = 7_200_000;

/**
 * Makes the spec's tables, with as much of what is there already as fits (see tables.ts), and waits until every
 * observed node has them. Rejects with one clear line; what was loaded stays and the next call continues from it.
 */
export async function prepare(spec: RunSpec, { onProgress, signal }: PrepareOptions): Promise<PrepareResult> {
  const started = performance.now();
  const seconds = (): number => (performance.now() - started) / 1000;
  signal.throwIfAborted();
  const { dataset, tables } = dataOf(spec);
  const dialect = dialectOf(spec.target);
  const wanted = { dialect, owner: dataset.name };
  const filled = tables.filter((table): table is FilledTable => table.rows !== undefined);
  const empty = tables.filter(({ rows }) => rows === undefined);
  const session = await openFirst(spec.target, true);
  const stop = (): void => session.close();
  signal.addEventListener("abort", stop);
  try {
    if (empty.length > 0) await makeEmpty(session, { ...wanted, tables: empty }, DDL_TIMEOUT_MS);
    if (filled.length === 0) {
      onProgress(`${empty.length} tables for ${dataset.name} are there`);
      return { seconds: seconds(), rows: 0, rowsPerSecond: 0, method: "none", reused: false };
    }
    const { method, localInfile } = spec.data;
    const server = await dialect.planLoad(session, { method, localInfile, user: spec.target.user });
    if (server.methodNote !== undefined) onProgress(server.methodNote);
    const plans = await planTables(session, { ...wanted, tables: filled }, server.limits);
    for (const plan of plans) if (plan.note !== undefined) onProgress(plan.note);
    for (const { table, action } of plans) {
      if (action === "recreate") await session.query(`DROP TABLE ${table.name}`, DDL_TIMEOUT_MS);
      if (action === "create" || action === "recreate") await session.query(dialect.createTable(table), DDL_TIMEOUT_MS);
    }
    const load = (): Promise<number> => loadAll(spec, dialect, plans, server, { onProgress, signal });
    const withLocalInfile = server.setLocalInfile === true && plans.some(({ chunks }) => chunks.length > 0);
    const loaded = withLocalInfile ? await allowingLocalInfile(session, spec, load) : await load();
    const changed = plans.filter((plan) => plan.action !== "reuse");
    for (const { table } of changed) await dialect.finishTable(session, table, DDL_TIMEOUT_MS);
    const loadSeconds = seconds();
    await settle(spec, session, filled, onProgress, signal);
    return {
      seconds: loadSeconds,
      rows: filled.reduce((sum, { rows }) => sum + rowCount(rows), 0),
      rowsPerSecond: loaded / Math.max(0.001, loadSeconds),
      method: changed.length === 0 ? "none" : server.method,
      reused: changed.length === 0,
      loaded,
      settleSeconds: seconds() - loadSeconds,
    };
  } catch (error) {
    if (signal.aborted) throw new Error("prepare was stopped; what is loaded stays, prepare again continues from it");
    throw clear(error, session, spec);
  } finally {
    signal.removeEventListener("abort", stop);
    session.close();
  }
}

/** Put back whatever became of the load, over another session where this one is gone. */
async function allowingLocalInfile(session: Session, spec: RunSpec, load: () => Promise<number>): Promise<number> {
  await setLocalInfile(session, "ON");
  try {
    return await load();
  } finally {
    const other = await openFirst(spec.target);
    await setLocalInfile(other, "OFF").finally(() => other.close());
  }
}

/** Drops the spec's tables. Resolves to their names; tables of other shapes are dropped too, as sysbench does. */
export async function cleanup(spec: RunSpec, { onProgress, signal }: PrepareOptions): Promise<string[]> {
  signal.throwIfAborted();
  const { tables } = dataOf(spec);
  const session = await openFirst(spec.target);
  const stop = (): void => session.close();
  signal.addEventListener("abort", stop);
  try {
    const present = await readTables(session, dialectOf(spec.target), tables, 60_000);
    const names = tables.map(({ name }) => name).filter((name) => present.has(name));
    for (const name of names) {
      await session.query(`DROP TABLE IF EXISTS ${name}`, DDL_TIMEOUT_MS);
      onProgress(`${name} dropped`);
    }
    return names;
  } catch (error) {
    if (signal.aborted) throw new Error("cleanup was stopped; run it again");
    throw clear(error, session, spec);
  } finally {
    signal.removeEventListener("abort", stop);
    session.close();
  }
}

async function loadAll(
  spec: RunSpec,
  dialect: Dialect,
  plans: TablePlan[],
  server: LoadPlan,
  { onProgress, signal }: PrepareOptions,
): Promise<number> {
  const work = plans.filter((plan) => plan.chunks.length > 0 || plan.indexes.length > 0);
  if (work.length === 0) return 0;
  const rowsIn = ({ rows }: FilledTable, { first, last }: Chunk): number => rowCount(rows, first, last);
  const total = work
    .flatMap(({ table, chunks }) => chunks.map((chunk) => rowsIn(table, chunk)))
    .reduce((a, b) => a + b, 0);
  const workers = new Workers(spec, signal);
  const loader = new ChunkLoader(spec, server);
  const progress = new LoadProgress(total, onProgress);
  if (total > 0)
    onProgress(
      `loading ${total.toLocaleString("en")} rows into ${work.length} table${work.length > 1 ? "s" : ""} with ${server.method} on ${workers.size} connections`,
    );
  const makeIndexes =
    (table: FilledTable, indexes: readonly Index[]): Job =>
    async (session) => {
      for (const index of indexes) {
        try {
          await session.query(dialect.createIndex(table, index), DDL_TIMEOUT_MS);
        } catch (error) {
          // A server goes on with the statement of a session that is gone: an earlier attempt may have made the index.
          if (!isError("indexThere", errorCode(error))) throw error;
        }
      }
      onProgress(
        `${table.name}: ${rowCount(table.rows).toLocaleString("en")} rows and ${indexList(indexes)} are there`,
      );
    };
  const loadChunk =
    (table: FilledTable, chunk: Chunk): Job =>
    async (session, attempt) => {
      const rows = rowsIn(table, chunk);
      // After an error the commit may have gone through or not.
      const there = attempt > 0 && (await rowsThere(session, table, chunk)) === rows;
      try {
        if (!there) await loader.load(session, table, chunk);
      } catch (error) {
        if (!(error instanceof RowsPresent) || (await rowsThere(session, table, chunk)) !== rows) throw error;
      }
      progress.add(rows);
    };
  try {
    await Promise.all(
      work.map(async ({ table, chunks, indexes }) => {
        if (chunks.length === 0) return workers.run(makeIndexes(table, indexes));
        let left = chunks.length;
        // Its indexes follow the table's last chunk at once, while its pages are still in memory.
        await Promise.all(
          chunks.map((chunk) =>
            workers.run(loadChunk(table, chunk), () =>
              --left === 0 && indexes.length > 0 ? makeIndexes(table, indexes) : undefined,
            ),
          ),
        );
      }),
    );
  } catch (error) {
    const line = error instanceof Error ? error.message : String(error);
    throw new Error(
      `${line}\n${progress.rows.toLocaleString("en")} of ${total.toLocaleString("en")} rows were loaded by then; prepare again continues from what is there`,
    );
  } finally {
    workers.close();
  }
  return total;
}

async function rowsThere(session: Session, { name, rows: { ordinal } }: FilledTable, chunk: Chunk): Promise<number> {
  const rows = await session.query(
    `SELECT COUNT(*) AS n FROM ${name} WHERE ${ordinal} BETWEEN ${chunk.first} AND ${chunk.last}`,
    60_000,
  );
  return Number(rows[0]?.["n"] ?? 0);
}

function clear(error: unknown, session: Session, spec: RunSpec): Error {
  const code = (error as { code?: unknown }).code;
  if (code === undefined) return error instanceof Error ? error : new Error(String(error));
  return new Error(describe(error, session.address, spec.target));
}
