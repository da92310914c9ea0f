/** Checks of the data: before a run that it is the spec's, after it that every node has the same. */
import type { RunResult, RunSpec } from "../contract.ts";
import { dialectOf } from "../dialects/index.ts";
import { rowCount } from "../rows.ts";
import type { Session } from "../sql-session.ts";
import { describe, openSession } from "../sql-session.ts";
import type { RunData } from "../steps.ts";
import { dataOf } from "../steps.ts";
import type { Table } from "../workload.ts";
import { openFirst } from "./endpoint.ts";
import { indexProblems, readTables, wrongShape } from "./inspect.ts";

type VerifyResult = NonNullable<RunResult["verify"]>;
type VerifyOptions = {
  onProgress?(line: string): void;
  signal: AbortSignal;
  consistency?: boolean;
  afterRun?: boolean;
};

/** A full scan of a large table on a cold cache. */
/** For a replica that is behind when nodes are compared. */
const CATCH_UP_SECONDS = 60;
const SCAN_TIMEOUT_MS = 1_800_000;

/** Rows beyond the table size are what insert workloads leave: no id is drawn there, so the load is the same. */
const beyond = (size: number): string =>
  `table_size is ${size}: what is beyond it takes no part, as after oltp_insert; prepare again makes the table anew`;

/**
 * Counts rows and compares columns and indexes with the spec; with `consistency`, also the same checksum of every table
 * on every observed node (rows may then differ from the spec: workloads insert and delete). With `afterRun`, what the workload says must
 * hold after a run on tables that were as the spec says before it. Problems are lines in the
 * answer, more rows than the spec's a note; only a server that can't be asked at all rejects.
 */
export async function verify(
  spec: RunSpec,
  { onProgress, signal, consistency = false, afterRun = false }: VerifyOptions,
): Promise<VerifyResult> {
  signal.throwIfAborted();
  const data = dataOf(spec);
  const dialect = dialectOf(spec.target);
  const session = await openFirst(spec.target);
  const stop = (): void => session.close();
  signal.addEventListener("abort", stop);
  try {
    await dialect.waitForReplication(session);
    const { problems, present } = await lookAtTables(session, spec, data);
    const tables: VerifyResult["tables"] = [];
    const notes: string[] = [];
    for (const { name, rows: wanted } of present) {
      const rows = Number((await session.query(`SELECT COUNT(*) AS n FROM ${name}`, SCAN_TIMEOUT_MS))[0]?.["n"]);
      tables.push({ table: name, rows });
      if (!consistency && wanted !== undefined) {
        const size = rowCount(wanted);
        if (rows < size) problems.push(`${name}: ${rows} rows, the spec says ${size}`);
        if (rows > size) notes.push(`${name}: ${rows} rows, ${beyond(size)}`);
      }
      onProgress?.(`${name}: ${rows.toLocaleString("en")} rows`);
    }
    if (afterRun && data.dataset.check !== undefined) {
      const counted = new Map(tables.map(({ table, rows }) => [table, rows]));
      problems.push(...(await data.dataset.check(data.context, (sql) => session.query(sql, SCAN_TIMEOUT_MS), counted)));
    }
    const checksums = consistency
      ? await compareNodes(spec, session, present, problems, onProgress, signal)
      : undefined;
    return {
      ok: problems.length === 0,
      tables,
      problems,
      ...(notes.length > 0 ? { notes } : {}),
      ...(checksums ? { checksums } : {}),
    };
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
 * Resolves to one line per problem, and per thing to know beside the figures; without a problem the run may start.
 */
export async function checkData(
  spec: RunSpec,
  { signal }: { signal: AbortSignal },
): Promise<{ problems: string[]; notes: string[] }> {
  signal.throwIfAborted();
  const data = dataOf(spec);
  const session = await openFirst(spec.target);
  const stop = (): void => session.close();
  signal.addEventListener("abort", stop);
  try {
    const { problems, present } = await lookAtTables(session, spec, data);
    const notes: string[] = [];
    for (const { name, rows } of present) {
      if (rows === undefined) continue;
      const [found] = await session.query(`SELECT MAX(${rows.ordinal}) AS high FROM ${name}`, SCAN_TIMEOUT_MS);
      const high = Number(found?.["high"] ?? 0);
      // A run of oltp_delete may have taken the last few ids, so a little less is not a wrong size.
      if (high > rows.count) notes.push(`${name}: its ids go up to ${high}, ${beyond(rows.count)}`);
      if (high < Math.floor(rows.count * 0.99))
        problems.push(
          `${name}: its ids go up to ${high}, the spec says ${rows.count} rows: prepare again, or set table_size to what is there`,
        );
    }
    return { problems, notes };
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

/** One line per table that is not there or not as described, and those that are there. */
async function lookAtTables(
  session: Session,
  spec: RunSpec,
  { dataset, tables }: RunData,
): Promise<{ problems: string[]; present: Table[] }> {
  const dialect = dialectOf(spec.target);
  const there = await readTables(session, dialect, tables, 60_000);
  const missing = tables.filter(({ name }) => !there.has(name)).map(({ name }) => name);
  const problems =
    missing.length === 0
      ? []
      : [
          `${missing.length > 3 ? `${missing.slice(0, 3).join(", ")} and ${missing.length - 3} more tables are` : `${missing.join(", ")} ${missing.length > 1 ? "are" : "is"}`} not there: run prepare first`,
        ];
  for (const table of tables) {
    const facts = there.get(table.name);
    if (facts === undefined) continue;
    const shape = wrongShape(table, facts, dialect, dataset.name);
    if (shape !== undefined) problems.push(shape);
    else problems.push(...indexProblems(table, facts, dialect));
  }
  return { problems, present: tables.filter(({ name }) => there.has(name)) };
}

/** By node, by table. A node that can't be asked is a problem too: nothing was compared there. */
async function compareNodes(
  spec: RunSpec,
  writer: Session,
  tables: readonly Table[],
  problems: string[],
  onProgress: VerifyOptions["onProgress"],
  signal: AbortSignal,
): Promise<Record<string, Record<string, string>>> {
  const dialect = dialectOf(spec.target);
  const position = spec.target.roles === undefined ? undefined : await dialect.position?.of(writer);
  const checksums: Record<string, Record<string, string>> = {};
  await Promise.all(
    spec.observe.map(async (node) => {
      let session: Session | undefined;
      const stop = (): void => session?.close();
      signal.addEventListener("abort", stop);
      try {
        session = await openSession(spec.target, node);
        await dialect.waitForReplication(session);
        if (position !== undefined && !(await dialect.position!.reached(session, position, CATCH_UP_SECONDS)))
          throw new Error(`it has not applied within ${CATCH_UP_SECONDS} s what the primary had committed`);
        // The wait happens before a read.
        await session.query("SELECT 1", 60_000);
        const sums: Record<string, string> = {};
        for (const table of tables) sums[table.name] = await dialect.checksum(session, table, SCAN_TIMEOUT_MS);
        checksums[node.name] = sums;
        onProgress?.(`${node.name}: checksums of ${tables.length} tables taken`);
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
  for (const { name } of tables) {
    const groups = Map.groupBy(nodes, (node) => checksums[node]![name]!);
    if (groups.size > 1)
      problems.push(
        `${name}: the nodes differ: ${[...groups].map(([sum, members]) => `${members.join(", ")} ${sum}`).join("; ")}`,
      );
  }
  return checksums;
}
