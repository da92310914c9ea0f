/** What a node has still to apply of what others have committed, as the node itself tells. */
import type { Session, SqlRow } from "../sql-session.ts";
import { errorCode } from "../sql-session.ts";

export interface Outstanding {
  /**
   * none: everything is applied, a primary's own state. some: on its way. stopped: it does not come any more by itself.
   * unknown: the account may not ask, or the server does not tell.
   */
  state: "none" | "some" | "stopped" | "unknown";
  /** In words; empty for none. */
  what: string;
}

const NONE: Outstanding = { state: "none", what: "" };
const unknown = (error: unknown): Outstanding => ({
  state: "unknown",
  what: `the state of its replication cannot be asked (${errorCode(error)})`,
});

export async function outstandingMysql(session: Session, timeoutMs: number): Promise<Outstanding> {
  const wsrep = await named(
    session,
    "SHOW GLOBAL STATUS WHERE Variable_name IN ('wsrep_local_state_comment', 'wsrep_local_recv_queue', 'wsrep_cluster_status', 'wsrep_ready')",
    timeoutMs,
  );
  if (wsrep.get("wsrep_ready") === "ON" || wsrep.get("wsrep_cluster_status") === "Primary") return ofGalera(wsrep);
  const server = await named(
    session,
    "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('version', 'group_replication_group_name')",
    timeoutMs,
  );
  const version = server.get("version") ?? "";
  try {
    if (server.get("group_replication_group_name")) return await ofGroup(session, timeoutMs);
    return worst((await session.query(replicaStatus(version), timeoutMs)).map(ofReplica));
  } catch (error) {
    // A lost session is no answer.
    if (/^\d+$/.test(errorCode(error)) && !["2006", "2013"].includes(errorCode(error))) return unknown(error);
    throw error;
  }
}

/** What was read with wsrep_sync_wait has waited for all that the cluster had committed by then. */
function ofGalera(wsrep: Map<string, string>): Outstanding {
  const state = wsrep.get("wsrep_local_state_comment") ?? "";
  const queue = Number(wsrep.get("wsrep_local_recv_queue") ?? 0);
  if (state === "Synced" && queue === 0) return NONE;
  return { state: "some", what: `${state}, ${queue} writesets wait to be applied` };
}

function replicaStatus(version: string): string {
  if (/mariadb/i.test(version)) return "SHOW ALL SLAVES STATUS";
  const [major = 0, minor = 0, patch = 0] = version.split(/[.-]/).map(Number);
  return major > 8 || (major === 8 && (minor > 0 || patch >= 22)) ? "SHOW REPLICA STATUS" : "SHOW SLAVE STATUS";
}

/** One connection of a replica; MySQL has said Source and Replica since 8.0.22, MariaDB says Master and Slave. */
export function ofReplica(row: SqlRow): Outstanding {
  const value = (name: string): string =>
    String(row[name] ?? row[name.replace("Source", "Master").replace("Replica", "Slave")] ?? "");
  const applied =
    value("Relay_Source_Log_File") === value("Source_Log_File") &&
    value("Exec_Source_Log_Pos") === value("Read_Source_Log_Pos");
  const stopped = (error: string): Outstanding => ({
    state: "stopped",
    what: `its replication is stopped${error ? `: ${error}` : ""}`,
  });
  if (value("Replica_SQL_Running") === "No") return stopped(value("Last_SQL_Error"));
  // What has been received is applied all the same.
  if (value("Replica_IO_Running") === "No" && applied) return stopped(value("Last_IO_Error"));
  const receives = /^Waiting for (source|master) to send event/i.test(value("Replica_IO_State"));
  if (applied && receives && value("Replica_IO_Running") === "Yes") return NONE;
  const behind = value("Seconds_Behind_Source");
  return { state: "some", what: `it is behind its source${/^\d+$/.test(behind) ? ` by ${behind} s` : ""}` };
}

async function ofGroup(session: Session, timeoutMs: number): Promise<Outstanding> {
  const [row] = await session.query(
    "SELECT m.MEMBER_STATE AS state, s.COUNT_TRANSACTIONS_IN_QUEUE + s.COUNT_TRANSACTIONS_REMOTE_IN_APPLIER_QUEUE AS queued " +
      "FROM performance_schema.replication_group_members m JOIN performance_schema.replication_group_member_stats s USING (MEMBER_ID) WHERE m.MEMBER_ID = @@server_uuid",
    timeoutMs,
  );
  const state = String(row?.["state"] ?? "OFFLINE");
  const queued = Number(row?.["queued"] ?? 0);
  if (state === "ONLINE" && queued === 0) return NONE;
  return {
    state: state === "ERROR" || state === "OFFLINE" ? "stopped" : "some",
    what: `${state} in its group, ${queued} transactions wait to be applied`,
  };
}

export async function outstandingPostgres(session: Session, timeoutMs: number): Promise<Outstanding> {
  try {
    const [row] = await session.query(
      `SELECT pg_is_in_recovery() AS standby, (SELECT COUNT(*)::int FROM pg_stat_wal_receiver) AS receivers,
        CASE WHEN pg_is_in_recovery() THEN COALESCE(pg_last_wal_receive_lsn() - pg_last_wal_replay_lsn(), 0)::float8 END AS behind,
        CASE WHEN pg_is_in_recovery() THEN pg_is_wal_replay_paused() END AS paused,
        (SELECT COUNT(*)::int FROM pg_stat_subscription) AS subscriptions`,
      timeoutMs,
    );
    if (row === undefined) return unknown({ code: "no answer" });
    if (row["standby"] !== true)
      return Number(row["subscriptions"]) === 0
        ? NONE
        : { state: "unknown", what: "it takes part in logical replication, whose end a subscriber does not know" };
    if (row["paused"] === true) return { state: "stopped", what: "its replay is paused" };
    if (Number(row["receivers"]) === 0) return { state: "some", what: "it receives nothing from its primary" };
    return Number(row["behind"]) <= 0 ? NONE : { state: "some", what: `${row["behind"]} bytes wait to be replayed` };
  } catch (error) {
    // Servers with PostgreSQL's protocol that have no such functions.
    if (/^(42|0A|XX)/.test(errorCode(error))) return unknown(error);
    throw error;
  }
}

async function named(session: Session, sql: string, timeoutMs: number): Promise<Map<string, string>> {
  const rows = await session.query(sql, timeoutMs);
  return new Map(rows.map((row) => [String(row["Variable_name"]).toLowerCase(), String(row["Value"])]));
}

const ORDER: Outstanding["state"][] = ["none", "unknown", "some", "stopped"];
const worst = (all: Outstanding[]): Outstanding =>
  all.reduce((found, one) => (ORDER.indexOf(one.state) > ORDER.indexOf(found.state) ? one : found), NONE);
