/** PostgreSQL, and servers with its catalogs. */
import { setTimeout } from "node:timers/promises";
import { POOLED_ADVICE } from "../drivers/postgres/errors.ts";
import { postgresKind } from "../facts/names.ts";
import { rowCount } from "../rows.ts";
import type { Session } from "../sql-session.ts";
import { errorCode } from "../sql-session.ts";
import type { Column, ColumnType } from "../workload.ts";
import { createIndex, createTable, quotedNames, typesWith } from "./ddl.ts";
import type { Dialect, LoadPlan, LoadWish, Room } from "./dialect.ts";
import { NO_LIMIT } from "./dialect.ts";
import { samplerPostgres, variablesPostgres } from "./facts.ts";
import { outstandingPostgres } from "./outstanding.ts";

const ASK_MS = 10_000;
/** How long a replica is given to apply what the primary has. */

const typeSql = typesWith({ timestamp: "TIMESTAMP(6)", decimal: "NUMERIC" });

/** As information_schema.columns has it, with the sizes that `catalog` adds. Some servers widen INTEGER. */
function typeNames(type: ColumnType): readonly string[] {
  switch (type.type) {
    case "int":
      return ["integer", "bigint"];
    case "timestamp":
      return ["timestamp without time zone"];
    case "char":
      return [`character(${type.length})`];
    case "varchar":
      return [`character varying(${type.length})`];
    default:
      return [typeSql(type).toLowerCase()];
  }
}

const asText = ({ name, nullable }: Column): string => (nullable ? `COALESCE(${name}::text, '\\N')` : name);

export const postgres: Dialect = {
  name: "postgres",
  outsideDatabase: "postgres",
  createDatabase: (name) => `CREATE DATABASE "${name.replaceAll('"', '""')}"`,
  // There is no KEY clause; sysbench's own statement with --secondary is refused.
  createTable: (table) =>
    createTable(table, {
      typeSql,
      autoIncrement: ({ type }) => (type === "bigint" ? "BIGSERIAL" : "SERIAL"),
      storage: () => "",
    }),
  createIndex,
  catalog: (tables) => ({
    columns:
      "SELECT table_name AS t, column_name AS name, data_type || CASE WHEN data_type LIKE 'character%' THEN '(' || character_maximum_length || ')' " +
      "WHEN data_type = 'numeric' THEN '(' || numeric_precision || ',' || numeric_scale || ')' ELSE '' END AS type, is_nullable AS nullable " +
      `FROM information_schema.columns WHERE table_schema = current_schema() AND table_name IN (${quotedNames(tables)}) ORDER BY table_name, ordinal_position`,
    indexes:
      "SELECT tablename AS t, indexname AS name, regexp_replace(indexdef, '^.*\\((.*?)\\).*$', '\\1') AS columns FROM pg_indexes " +
      `WHERE schemaname = current_schema() AND tablename IN (${quotedNames(tables)})`,
  }),
  typeNames,
  primaryKeyName: (table) => `${table}_pkey`,
  // Ids were given, so the sequence behind SERIAL still stands at 1; and the planner should know the tables before a run.
  async finishTable(session, { name, columns, rows }, timeoutMs) {
    const counted = columns.find(({ autoIncrement }) => autoIncrement);
    if (counted !== undefined && rows !== undefined && rows.count > 0)
      await session.query(
        `SELECT setval(s, ${rowCount(rows)}) FROM (SELECT pg_get_serial_sequence('${name}', '${counted.name}') AS s) AS sequence WHERE s IS NOT NULL`,
        60_000,
      );
    await session.query(`ANALYZE ${name}`, timeoutMs);
  },
  async waitForReplication() {},
  outstanding: outstandingPostgres,
  position: {
    async of(primary) {
      const [row] = await primary.query("SELECT pg_current_wal_lsn()::text AS lsn", ASK_MS);
      return row?.["lsn"] as string | undefined;
    },
    async reached(node, position, seconds) {
      const sql = `SELECT (NOT pg_is_in_recovery() OR pg_last_wal_replay_lsn() >= '${position}')::text AS reached`;
      for (const deadline = performance.now() + 1000 * seconds; ; ) {
        if ((await node.query(sql, ASK_MS))[0]?.["reached"] === "true") return true;
        if (performance.now() > deadline) return false;
        await setTimeout(100);
      }
    },
  },
  /** Row count and the sum of 64 bits of each row's MD5: independent of order. */
  async checksum(session, { name, columns }, timeoutMs) {
    const row = columns.map(asText).join(" || ',' || ");
    const sql = `SELECT COUNT(*) || ':' || COALESCE(SUM(('x' || substr(md5(${row}), 1, 16))::bit(64)::bigint), 0) AS sum FROM ${name}`;
    return String((await session.query(sql, timeoutMs))[0]?.["sum"] ?? "");
  },
  planLoad,
  room,
  async preparedStatementsProblem(open) {
    return (await sharesSessions(open)) ? POOLED_ADVICE : null;
  },
  lockWait: {
    sql: "SELECT setting FROM pg_settings WHERE name = 'lock_timeout'",
    milliseconds: (row) => Number(row[0]),
  },
  roles: {
    "read-only": {
      sql: "SELECT pg_is_in_recovery()::text",
      role: ([recovering]) => (recovering === "false" ? "primary" : "replica"),
    },
  },
  sampler: samplerPostgres,
  variables: variablesPostgres,
  kindOf: postgresKind,
};

async function planLoad(session: Session, { method }: LoadWish): Promise<LoadPlan> {
  if (method === "load-data")
    throw new Error('data.method: "load-data", which is MySQL\'s; expected auto, copy or insert with driver postgres');
  const version = String((await session.query("SELECT version() AS v", 30_000))[0]?.["v"] ?? "");
  return { version, method: method === "insert" ? "insert" : "copy", maxStatementBytes: Infinity };
}

async function room(session: Session, alone: boolean): Promise<Room> {
  const none = { sessions: NO_LIMIT, statements: NO_LIMIT };
  const [row] = await session.query(
    `SELECT current_setting('max_connections')::int AS set, COALESCE(current_setting('superuser_reserved_connections', true), '0')::int
      + COALESCE(current_setting('reserved_connections', true), '0')::int AS reserved,
      (SELECT rolconnlimit FROM pg_roles WHERE rolname = current_user) AS account, pg_backend_pid() AS pid,
      (SELECT COUNT(*)::int FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()) AS used`,
    ASK_MS,
  );
  // Behind a pooler, which makes up the session's number, many clients share few sessions.
  if (row === undefined || (session.backend !== undefined && session.backend !== Number(row["pid"]))) return none;
  const set = Number(row["set"]);
  const used = alone ? Number(row["used"]) : 0;
  const server = { key: "max_connections", set, free: Math.max(0, set - Number(row["reserved"]) - used) };
  const own = Number(row["account"]);
  const account = { key: "the role's CONNECTION LIMIT", set: own, free: own };
  return { ...none, sessions: own >= 0 && own < server.free ? account : server };
}

/**
 * Whether two clients can get one and the same server session, as behind pgbouncer with pool_mode = transaction: a
 * statement that the first one prepared is there for the second one. (pgbouncer 1.21 and later may keep each client's
 * statements apart; then it isn't.)
 */
async function sharesSessions(openSession: () => Promise<Session>): Promise<boolean> {
  const open: Session[] = [];
  try {
    const name = `meshbench_${process.pid}`;
    const first = await openSession();
    open.push(first);
    await first.query(`PREPARE ${name} AS SELECT 1`, ASK_MS);
    const second = await openSession();
    open.push(second);
    try {
      await second.query(`PREPARE ${name} AS SELECT 1`, ASK_MS);
    } catch (error) {
      if (errorCode(error) !== "42P05") return false;
      await second.query(`DEALLOCATE ${name}`, ASK_MS);
      return true;
    }
    await second.query(`DEALLOCATE ${name}`, ASK_MS);
    await first.query(`DEALLOCATE ${name}`, ASK_MS);
    return false;
  } catch {
    return false;
  } finally {
    for (const session of open) session.close();
  }
}
