/** Checks of the data: before a run that it is the spec's, after it that every node has the same. */
import type { RunResult, RunSpec } from "../contract.ts";
import { dialectOf, tableName } from "./dialect.ts";
import { openFirst } from "./endpoint.ts";
import { indexProblems, readTables, wrongShape } from "./inspect.ts";
import { bulkTables, tableOptions } from "./options.ts";
import type { Session } from "./session.ts";
import { describe, openSession } from "./session.ts";
import { syncWait } from "./settle.ts";

type VerifyResult = NonNullable<RunResult["verify"]>;
type VerifyOptions = { onProgress?(line: string): void; signal: AbortSignal; consistency?: boolean };

/** A full scan of a large table on a cold cache. */
const SCAN_TIMEOUT_MS = 1_800_000;

/**
 * Counts rows and compares columns and indexes with the spec; with `consistency`, also the same checksum of every table
 * on every observed node (rows may then differ from the spec: workloads insert and delete). Problems are lines in the
 * answer; only a server that can't be asked at all rejects.
 */
export async function verify(
  spec: RunSpec,
  { onProgress, signal, consistency = false }: VerifyOptions,
): Promise<VerifyResult> {
  signal.throwIfAborted();
  const session = await openFirst(spec.target);
  const stop = (): void => session.close();
  signal.addEventListener("abort", stop);
  try {
    await syncWait(session, spec.target.driver);
    const problems = await shapeProblems(session, spec);
    const tables: VerifyResult["tables"] = [];
    for (const name of await namesThere(session, spec)) {
      const rows = Number((await session.query(`SELECT COUNT(*) AS n FROM ${name}`, SCAN_TIMEOUT_MS))[0]?.["n"]);
      tables.push({ table: name, rows });
      if (!consistency && bulkTables(spec) === 0 && rows !== spec.data.tableSize)
        problems.push(`${name}: ${rows} rows, the spec says ${spec.data.tableSize}`);
      onProgress?.(`${name}: ${rows.toLocaleString("en")} rows`);
    }
    const checksums = consistency
      ? await compareNodes(
          spec,
          tables.map((t) => t.table),
          problems,
          onProgress,
          signal,
        )
      : undefined;
    return { ok: problems.length === 0, tables, problems, ...(checksums ? { checksums } : {}) };
  } catch (error) {
    if (signal.aborted) throw new Error("verify was stopped");
    throw (error as { code?: unknown }).code === undefined
      ? error
      : new Error(describe(error, session.address, spec.target));
  } finally {
    signal.removeEventListener("abort", stop);
    session.close();
  }
}

/**
 * The quick check before a run (no full scan): tables, columns, indexes, and the highest id against the spec's size.
 * Resolves to one line per problem; none: the run may start.
 */
export async function checkData(spec: RunSpec, { signal }: { signal: AbortSignal }): Promise<string[]> {
  signal.throwIfAborted();
  const session = await openFirst(spec.target);
  const stop = (): void => session.close();
  signal.addEventListener("abort", stop);
  try {
    const problems = await shapeProblems(session, spec);
    if (bulkTables(spec) > 0) return problems;
    const size = spec.data.tableSize;
    for (const name of await namesThere(session, spec)) {
      const high = Number(
        (await session.query(`SELECT MAX(id) AS high FROM ${name}`, SCAN_TIMEOUT_MS))[0]?.["high"] ?? 0,
      );
      // A run of oltp_delete may have taken the last few ids, so a little less is not a wrong size.
      if (high > size || high < Math.floor(size * 0.99))
        problems.push(
          `${name}: its ids go up to ${high}, the spec says ${size} rows: prepare again, or set table_size to what is there`,
        );
    }
    return problems;
  } catch (error) {
    if (signal.aborted) throw new Error("the check of the data was stopped");
    throw (error as { code?: unknown }).code === undefined
      ? error
      : new Error(describe(error, session.address, spec.target));
  } finally {
    signal.removeEventListener("abort", stop);
    session.close();
  }
}

function wantedNames(spec: RunSpec): string[] {
  return Array.from({ length: bulkTables(spec) || spec.data.tables }, (_, i) => tableName(i + 1));
}

async function namesThere(session: Session, spec: RunSpec): Promise<string[]> {
  const present = await readTables(session, spec.target.driver, 60_000);
  return wantedNames(spec).filter((name) => present.has(name));
}

async function shapeProblems(session: Session, spec: RunSpec): Promise<string[]> {
  const present = await readTables(session, spec.target.driver, 60_000);
  const missing = wantedNames(spec).filter((name) => !present.has(name));
  const problems =
    missing.length === 0
      ? []
      : [
          `${missing.length > 3 ? `${missing.slice(0, 3).join(", ")} and ${missing.length - 3} more tables are` : `${missing.join(", ")} ${missing.length > 1 ? "are" : "is"}`} not there: run prepare first`,
        ];
  if (bulkTables(spec) > 0) return problems;
  const dialect = dialectOf(spec.target.driver);
  const options = tableOptions(spec);
  for (let table = 1; table <= spec.data.tables; table++) {
    const facts = present.get(tableName(table));
    if (facts === undefined) continue;
    const shape = wrongShape(table, facts, dialect);
    if (shape !== undefined) problems.push(shape);
    else problems.push(...indexProblems(table, facts, dialect, options));
  }
  return problems;
}

/** By node, by table. A node that can't be asked is a problem too: nothing was compared there. */
async function compareNodes(
  spec: RunSpec,
  names: string[],
  problems: string[],
  onProgress: VerifyOptions["onProgress"],
  signal: AbortSignal,
): Promise<Record<string, Record<string, string>>> {
  const checksums: Record<string, Record<string, string>> = {};
  await Promise.all(
    spec.observe.map(async (node) => {
      let session: Session | undefined;
      const stop = (): void => session?.close();
      signal.addEventListener("abort", stop);
      try {
        session = await openSession(spec.target, node);
        await syncWait(session, spec.target.driver);
        // The wait happens before a read.
        await session.query("SELECT 1", 60_000);
        const sums: Record<string, string> = {};
        for (const name of names) sums[name] = await checksum(session, spec.target.driver, name);
        checksums[node.name] = sums;
        onProgress?.(`${node.name}: checksums of ${names.length} tables taken`);
      } catch (error) {
        signal.throwIfAborted();
        problems.push(`${node.name}: no checksum: ${describe(error, node, spec.target)}`);
      } finally {
        signal.removeEventListener("abort", stop);
        session?.close();
      }
    }),
  );
  const nodes = spec.observe.map((node) => node.name).filter((name) => checksums[name] !== undefined);
  for (const name of names) {
    const groups = Map.groupBy(nodes, (node) => checksums[node]![name]!);
    if (groups.size > 1)
      problems.push(
        `${name}: the nodes differ: ${[...groups].map(([sum, members]) => `${members.join(", ")} ${sum}`).join("; ")}`,
      );
  }
  return checksums;
}

/**
 * MySQL: CHECKSUM TABLE (a CRC over the rows). PostgreSQL: row count and the sum of 64 bits of each row's MD5:
 * independent of order.
 */
async function checksum(session: Session, driver: RunSpec["target"]["driver"], name: string): Promise<string> {
  if (driver === "mysql")
    return String((await session.query(`CHECKSUM TABLE ${name}`, SCAN_TIMEOUT_MS))[0]?.["Checksum"] ?? "");
  const sql = `SELECT COUNT(*) || ':' || COALESCE(SUM(('x' || substr(md5(id || ',' || k || ',' || c || ',' || pad), 1, 16))::bit(64)::bigint), 0) AS sum FROM ${name}`;
  return String((await session.query(sql, SCAN_TIMEOUT_MS))[0]?.["sum"] ?? "");
}
