/** Makes, checks and removes the data that sysbench's OLTP workloads run on. */
import type { RunResult, RunSpec } from "../contract.ts";
import type { Chunk } from "./chunks.ts";
import { dialectOf, tableName } from "./dialect.ts";
import { drawKOf } from "./draw-k.ts";
import { openFirst } from "./endpoint.ts";
import { readTables } from "./inspect.ts";
import { ChunkLoader, RowsPresent } from "./loader.ts";
import { setLocalInfile } from "./local-infile.ts";
import { bulkTables, tableOptions } from "./options.ts";
import { LoadProgress } from "./progress.ts";
import { planLoad } from "./server.ts";
import type { Session } from "./session.ts";
import { describe, errorCode } from "./session.ts";
import { settle } from "./settle.ts";
import type { TablePlan } from "./tables.ts";
import { planTables } from "./tables.ts";
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
  const options = tableOptions(spec);
  const bulk = bulkTables(spec);
  const session = await openFirst(spec.target, true);
  const stop = (): void => session.close();
  signal.addEventListener("abort", stop);
  try {
    if (bulk > 0) {
      const dialect = dialectOf(spec.target.driver);
      for (let table = 1; table <= bulk; table++) await session.query(dialect.createBulkTable(table), DDL_TIMEOUT_MS);
      onProgress(`${bulk} tables for bulk_insert are there`);
      return { seconds: seconds(), rows: 0, rowsPerSecond: 0, method: "none", reused: false };
    }
    const server = await planLoad(session, spec);
    if (server.methodNote !== undefined) onProgress(server.methodNote);
    const plans = await planTables(session, spec, options, server.chunkRows);
    for (const plan of plans) if (plan.note !== undefined) onProgress(plan.note);
    const dialect = dialectOf(spec.target.driver);
    for (const { table, action } of plans) {
      if (action === "recreate") await session.query(`DROP TABLE ${tableName(table)}`, DDL_TIMEOUT_MS);
      if (action === "create" || action === "recreate")
        await session.query(dialect.createTable(table, options), DDL_TIMEOUT_MS);
    }
    const load = (): Promise<number> =>
      loadAll(
        spec,
        plans,
        new ChunkLoader(spec, server.method, drawKOf(spec), server.maxStatementBytes),
        server.method,
        { onProgress, signal },
      );
    const withLocalInfile = server.setLocalInfile === true && plans.some(({ chunks }) => chunks.length > 0);
    const loaded = withLocalInfile ? await allowingLocalInfile(session, spec, load) : await load();
    const changed = plans.filter((plan) => plan.action !== "reuse");
    if (spec.target.driver === "postgres") await finishPostgres(session, changed, spec.data.tableSize, options.autoInc);
    const loadSeconds = seconds();
    await settle(spec, onProgress, signal);
    return {
      seconds: loadSeconds,
      rows: spec.data.tables * spec.data.tableSize,
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
  const session = await openFirst(spec.target);
  const stop = (): void => session.close();
  signal.addEventListener("abort", stop);
  try {
    const present = await readTables(session, spec.target.driver, 60_000);
    const count = bulkTables(spec) || spec.data.tables;
    const names = Array.from({ length: count }, (_, i) => tableName(i + 1)).filter((name) => present.has(name));
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
  plans: TablePlan[],
  loader: ChunkLoader,
  method: string,
  { onProgress, signal }: PrepareOptions,
): Promise<number> {
  const work = plans.filter((plan) => plan.chunks.length > 0 || plan.index);
  if (work.length === 0) return 0;
  const total = work.flatMap((plan) => plan.chunks).reduce((sum, chunk) => sum + chunk.last - chunk.first + 1, 0);
  const workers = new Workers(spec, signal);
  const progress = new LoadProgress(total, onProgress);
  if (total > 0)
    onProgress(
      `loading ${total.toLocaleString("en")} rows into ${work.length} table${work.length > 1 ? "s" : ""} with ${method} on ${workers.size} connections`,
    );
  const dialect = dialectOf(spec.target.driver);
  const makeIndex =
    (table: number): Job =>
    async (session) => {
      try {
        await session.query(dialect.createIndex(table), DDL_TIMEOUT_MS);
      } catch (error) {
        // A server goes on with the statement of a session that is gone: an earlier attempt may have made the index.
        if (!["1061", "42P07"].includes(errorCode(error))) throw error;
      }
      onProgress(
        `${tableName(table)}: ${spec.data.tableSize.toLocaleString("en")} rows and the index k_${table} are there`,
      );
    };
  const loadChunk =
    (chunk: Chunk): Job =>
    async (session, attempt) => {
      const rows = chunk.last - chunk.first + 1;
      // After an error the commit may have gone through or not.
      const there = attempt > 0 && (await rowsThere(session, chunk)) === rows;
      try {
        if (!there) await loader.load(session, chunk);
      } catch (error) {
        if (!(error instanceof RowsPresent) || (await rowsThere(session, chunk)) !== rows) throw error;
      }
      progress.add(rows);
    };
  try {
    await Promise.all(
      work.map(async ({ table, chunks, index }) => {
        if (chunks.length === 0) return workers.run(makeIndex(table));
        let left = chunks.length;
        // The index follows the table's last chunk at once, while its pages are still in memory.
        await Promise.all(
          chunks.map((chunk) =>
            workers.run(loadChunk(chunk), () => (--left === 0 && index ? makeIndex(table) : undefined)),
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

async function rowsThere(session: Session, chunk: Chunk): Promise<number> {
  const rows = await session.query(
    `SELECT COUNT(*) AS n FROM ${tableName(chunk.table)} WHERE id BETWEEN ${chunk.first} AND ${chunk.last}`,
    60_000,
  );
  return Number(rows[0]?.["n"] ?? 0);
}

/**
 * Ids were given, so the sequence behind SERIAL still stands at 1; and the planner should know the tables before a run.
 */
async function finishPostgres(session: Session, plans: TablePlan[], size: number, autoInc: boolean): Promise<void> {
  for (const { table } of plans) {
    const name = tableName(table);
    if (autoInc && size > 0)
      await session.query(
        `SELECT setval(s, ${size}) FROM (SELECT pg_get_serial_sequence('${name}', 'id') AS s) AS sequence WHERE s IS NOT NULL`,
        60_000,
      );
    await session.query(`ANALYZE ${name}`, DDL_TIMEOUT_MS);
  }
}

function clear(error: unknown, session: Session, spec: RunSpec): Error {
  const code = (error as { code?: unknown }).code;
  if (code === undefined) return error instanceof Error ? error : new Error(String(error));
  return new Error(describe(error, session.address, spec.target));
}
