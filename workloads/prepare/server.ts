/** What the load has to know of the server: how rows get in fastest and how large a transaction may be. */
import type { RunSpec } from "../contract.ts";
import { shown } from "../drivers/address.ts";
import { chunkRows } from "./chunks.ts";
import type { Method } from "./loader.ts";
import { maySetVariables } from "./local-infile.ts";
import type { Session } from "./session.ts";

export type LoadPlan = {
  version: string;
  method: Method;
  /** Why the method is not the fastest one, for the user. */
  methodNote?: string;
  chunkRows: number;
  /** local_infile has to be set ON on the server before the load, and back after it. */
  setLocalInfile?: true;
  maxStatementBytes: number;
  /** The server replicates by Galera: the session waits for what was committed when it asks for wsrep_sync_wait. */
  galera: boolean;
};

export async function planLoad(session: Session, spec: RunSpec): Promise<LoadPlan> {
  const asked = spec.data.method;
  if (spec.target.driver === "postgres") {
    if (asked === "load-data")
      throw new Error(
        'data.method: got "load-data", which is MySQL\'s; auto, copy or insert are allowed with driver postgres',
      );
    const version = String((await session.query("SELECT version() AS v", 30_000))[0]?.["v"] ?? "");
    return {
      version,
      method: asked === "insert" ? "insert" : "copy",
      chunkRows: chunkRows(undefined),
      maxStatementBytes: Infinity,
      galera: false,
    };
  }
  if (asked === "copy")
    throw new Error(
      'data.method: got "copy", which is PostgreSQL\'s; auto, load-data or insert are allowed with driver mysql',
    );
  const variables = new Map<string, string>();
  const rows = await session.query(
    "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('version', 'local_infile', 'max_allowed_packet', 'wsrep_on', 'wsrep_max_ws_rows', 'wsrep_max_ws_size', 'wsrep_load_data_splitting')",
    30_000,
  );
  for (const row of rows) variables.set(String(row["Variable_name"]), String(row["Value"]));
  const number = (name: string): number => Number(variables.get(name) ?? 0);
  const galera = variables.get("wsrep_on") === "ON";
  const localInfile = variables.get("local_infile") === "ON";
  let rowsPerChunk = chunkRows(
    galera ? { maxRows: number("wsrep_max_ws_rows"), maxBytes: number("wsrep_max_ws_size") } : undefined,
  );
  // With splitting on, Galera commits a LOAD DATA every 10,000 rows; a chunk has to be one transaction.
  if (galera && variables.get("wsrep_load_data_splitting") === "ON") rowsPerChunk = Math.min(rowsPerChunk, 10_000);
  const base = {
    version: variables.get("version") ?? "",
    chunkRows: rowsPerChunk,
    galera,
    maxStatementBytes: Math.max(65_536, number("max_allowed_packet")),
  };
  if (asked === "insert") return { ...base, method: "insert" };
  if (localInfile) return { ...base, method: "load-data" };
  const where = `local_infile: OFF on ${shown(session.address)}`;
  const may = await maySetVariables(session);
  if (spec.data.localInfile === "set") {
    if (!may)
      throw new Error(
        `${where}; expected ON, and user "${spec.target.user}" may not set it (SYSTEM_VARIABLES_ADMIN or SUPER is missing): SET GLOBAL local_infile=ON as an administrator, or leave --local-infile (data.localInfile) out`,
      );
    return {
      ...base,
      method: "load-data",
      methodNote: `${where}: set ON while the load goes on, OFF again after it`,
      setLocalInfile: true,
    };
  }
  const remedy = `SET GLOBAL local_infile=ON${may ? ", or --local-infile set (data.localInfile), which sets it while the load goes on" : " as an administrator"}`;
  if (asked === "load-data")
    throw new Error(`data.method: "load-data" with ${where}; expected ON for it: ${remedy}; or use auto or insert`);
  return {
    ...base,
    method: "insert",
    methodNote: `${where}: loading with multi-row INSERTs, which is slower; faster: ${remedy}`,
  };
}
