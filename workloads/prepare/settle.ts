/** After a load: wait until every observed node has applied it. */
import { setTimeout as sleep } from "node:timers/promises";
import type { RunSpec } from "../contract.ts";
import { tableName } from "./dialect.ts";
import { describe, openSession } from "./session.ts";
import type { Session } from "./session.ts";

/** A replica this far behind after a load will not be there for the run either. */
const SETTLE_MS = 600_000;

/** `last`: the highest id that each of the tables 1..tables must show. Throws one line per node that does not get there. */
export async function settle(spec: RunSpec, last: number, onProgress: (line: string) => void, signal: AbortSignal): Promise<void> {
  const started = Date.now();
  const failures = (await Promise.all(spec.observe.map((node) => settleNode(spec, node, last, signal)))).filter((line) => line !== undefined);
  if (failures.length > 0) throw new Error(failures.join("\n"));
  if (spec.observe.length > 0) onProgress(`all ${spec.observe.length} observed nodes have the data (${((Date.now() - started) / 1000).toFixed(1)} s after the load)`);
}

async function settleNode(spec: RunSpec, node: RunSpec["observe"][number], last: number, signal: AbortSignal): Promise<string | undefined> {
  let session: Session | undefined;
  try {
    session = await openSession(spec.target, node);
    await syncWait(session, spec.target.driver);
    const deadline = Date.now() + SETTLE_MS;
    for (let table = 1; table <= spec.data.tables; table++) {
      while (!(await hasRow(session, table, last))) {
        signal.throwIfAborted();
        if (Date.now() > deadline) return `${node.name} (${node.host}:${node.port}): ${tableName(table)} is still without its last row ${SETTLE_MS / 1000} s after the load`;
        await sleep(250, undefined, { signal });
      }
    }
    return undefined;
  } catch (error) {
    signal.throwIfAborted();
    return `${node.name}: ${describe(error, node, spec.target)}`;
  } finally {
    session?.close();
  }
}

/** On Galera, the session's reads wait from here on until all that was committed before is applied; else nothing. */
export async function syncWait(session: Session, driver: RunSpec["target"]["driver"]): Promise<void> {
  if (driver !== "mysql") return;
  const rows = await session.query("SHOW VARIABLES LIKE 'wsrep_on'", 30_000);
  if (rows[0]?.["Value"] === "ON") await session.query("SET SESSION wsrep_sync_wait = 1", 30_000);
}

async function hasRow(session: Session, table: number, id: number): Promise<boolean> {
  if (id < 1) return true;
  try {
    return (await session.query(`SELECT id FROM ${tableName(table)} WHERE id = ${id}`, 60_000)).length > 0;
  } catch (error) {
    // An asynchronous replica may not have seen the CREATE TABLE yet.
    const { errno, code } = error as { errno?: number; code?: string };
    if (errno === 1146 || code === "42P01") return false;
    throw error;
  }
}
