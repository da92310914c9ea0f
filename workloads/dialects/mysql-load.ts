/** How rows get into MySQL and MariaDB fastest, and how large a transaction may be. */
import { shown } from "../drivers/address.ts";
import type { Session } from "../sql-session.ts";
import type { LoadPlan, LoadWish, TransactionLimits } from "./dialect.ts";
import { maySetVariables } from "./local-infile.ts";

export async function planMysqlLoad(session: Session, wish: LoadWish): Promise<LoadPlan> {
  const asked = wish.method;
  if (asked === "copy")
    throw new Error(
      'data.method: "copy", which is PostgreSQL\'s; expected auto, load-data or insert with driver mysql',
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
  const base = {
    version: variables.get("version") ?? "",
    ...(galera ? { limits: writesetLimits(number, variables.get("wsrep_load_data_splitting") === "ON") } : {}),
    maxStatementBytes: Math.max(65_536, number("max_allowed_packet")),
  };
  if (asked === "insert") return { ...base, method: "insert" };
  if (localInfile) return { ...base, method: "load-data" };
  const where = `local_infile: OFF on ${shown(session.address)}`;
  const may = await maySetVariables(session);
  if (wish.localInfile === "set") {
    if (!may)
      throw new Error(
        `${where}; expected ON, and user "${wish.user}" may not set it (SYSTEM_VARIABLES_ADMIN or SUPER is missing): SET GLOBAL local_infile=ON as an administrator, or leave --local-infile (data.localInfile) out`,
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

/** With splitting on, Galera commits a LOAD DATA every 10,000 rows; a chunk has to be one transaction. */
function writesetLimits(number: (name: string) => number, splitting: boolean): TransactionLimits {
  const maxRows = number("wsrep_max_ws_rows");
  return {
    maxRows: splitting ? Math.min(maxRows || Infinity, 10_000) : maxRows,
    maxBytes: number("wsrep_max_ws_size"),
  };
}
