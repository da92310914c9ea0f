/** MySQL and MariaDB, with and without Galera. */
import { mysqlKind } from "../facts/names.ts";
import type { Session } from "../sql-session.ts";
import type { ColumnType } from "../workload.ts";
import { createIndex, createTable, quotedNames, typesWith } from "./ddl.ts";
import type { Dialect, Limit, Room } from "./dialect.ts";
import { sampleMysql, variablesMysql } from "./facts.ts";
import { planMysqlLoad } from "./mysql-load.ts";
import { outstandingMysql } from "./outstanding.ts";

const ASK_MS = 10_000;

const typeSql = typesWith({ timestamp: "DATETIME(6)", decimal: "DECIMAL" });

/** As information_schema.columns has it, with the sizes that `catalog` adds. */
function typeName(type: ColumnType): string {
  if (type.type === "timestamp") return "datetime";
  return type.type === "int" ? "int" : typeSql(type).toLowerCase();
}

export const mysql: Dialect = {
  name: "mysql",
  createDatabase: (name) => `CREATE DATABASE IF NOT EXISTS \`${name.replaceAll("`", "``")}\``,
  createTable: (table) =>
    createTable(table, {
      typeSql,
      autoIncrement: (type) => `${typeSql(type)} NOT NULL AUTO_INCREMENT`,
      inlineIndex: ({ name, columns }) => `KEY ${name} (${columns.join(", ")})`,
      storage: ({ storage }) => (storage === undefined ? "" : `ENGINE = ${storage}`),
    }),
  createIndex,
  catalog: (tables) => ({
    columns:
      "SELECT table_name AS t, column_name AS name, CONCAT(data_type, CASE WHEN data_type IN ('char', 'varchar') THEN CONCAT('(', character_maximum_length, ')') " +
      "WHEN data_type = 'decimal' THEN CONCAT('(', numeric_precision, ',', numeric_scale, ')') ELSE '' END) AS type, is_nullable AS nullable " +
      `FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name IN (${quotedNames(tables)}) ORDER BY table_name, ordinal_position`,
    indexes:
      "SELECT table_name AS t, index_name AS name, GROUP_CONCAT(column_name ORDER BY seq_in_index) AS columns FROM information_schema.statistics " +
      `WHERE table_schema = DATABASE() AND table_name IN (${quotedNames(tables)}) GROUP BY table_name, index_name`,
  }),
  typeNames: (type) => [typeName(type)],
  primaryKeyName: () => "PRIMARY",
  async finishTable() {},
  async waitForReplication(session) {
    const rows = await session.query("SHOW VARIABLES LIKE 'wsrep_on'", 30_000);
    if (rows[0]?.["Value"] === "ON") await session.query("SET SESSION wsrep_sync_wait = 1", 30_000);
  },
  outstanding: outstandingMysql,
  position: {
    // MariaDB has the first of the two, MySQL the second; without global transaction ids they are empty.
    async of(primary) {
      const rows = await primary.query(
        "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('gtid_binlog_pos', 'gtid_executed')",
        ASK_MS,
      );
      return String(rows[0]?.["Value"] ?? "").replace(/\s/g, "") || undefined;
    },
    async reached(node, position, seconds) {
      // A set of MySQL's names servers, "uuid:1-5".
      const ask = position.includes(":") ? "WAIT_FOR_EXECUTED_GTID_SET" : "MASTER_GTID_WAIT";
      // MariaDB waits for what comes through replication, which the primary's own transactions never do.
      if (ask === "MASTER_GTID_WAIT" && (await hasGtids(node, position))) return true;
      // 0: there; MariaDB's -1, MySQL's 1: not in time.
      const [row] = await node.query(`SELECT ${ask}('${position}', ${seconds}) AS code`, 1000 * seconds + ASK_MS);
      return Number(row?.["code"]) === 0;
    },
  },
  // A CRC over the rows.
  checksum: async (session, { name }, timeoutMs) =>
    String((await session.query(`CHECKSUM TABLE ${name}`, timeoutMs))[0]?.["Checksum"] ?? ""),
  planLoad: planMysqlLoad,
  room,
  preparedStatementsProblem: async () => null,
  // SHOW: no SELECT that the server's counters would show beside the workload's.
  lockWait: {
    sql: "SHOW VARIABLES LIKE 'innodb_lock_wait_timeout'",
    milliseconds: (row) => 1000 * Number(row[1]),
  },
  roles: {
    // MySQL's super_read_only sets it too.
    "read-only": {
      sql: "SHOW GLOBAL VARIABLES LIKE 'read_only'",
      role: ([, value]) => (value === "OFF" ? "primary" : "replica"),
    },
    // A member on the losing side of a cut goes on as PRIMARY, ONLINE by its own account: it has to see a majority.
    group: {
      sql:
        "SELECT MAX(IF(MEMBER_ID = @@server_uuid AND MEMBER_STATE = 'ONLINE', MEMBER_ROLE, '')), " +
        "SUM(MEMBER_STATE <> 'UNREACHABLE') * 2 > COUNT(*) FROM performance_schema.replication_group_members",
      role: ([role, majority]) =>
        role === "PRIMARY" && Number(majority) === 1 ? "primary" : role === "SECONDARY" ? "replica" : undefined,
    },
  },
  sampler: () => sampleMysql,
  variables: variablesMysql,
  kindOf: mysqlKind,
};

/** MariaDB: whether the node's own position is as far in every domain, "domain-server-sequence" each. */
async function hasGtids(node: Session, position: string): Promise<boolean> {
  const [row] = await node.query("SHOW GLOBAL VARIABLES LIKE 'gtid_current_pos'", ASK_MS);
  const parse = (text: string): Map<string, number> =>
    new Map(text.split(",").map((gtid) => [gtid.split("-")[0] ?? "", Number(gtid.split("-")[2])]));
  const own = parse(String(row?.["Value"] ?? ""));
  return [...parse(position)].every(([domain, sequence]) => (own.get(domain) ?? -1) >= sequence);
}

async function room(session: Session, alone: boolean, servers: number): Promise<Room> {
  const values = new Map<string, number>();
  for (const sql of [
    "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('max_connections', 'max_prepared_stmt_count')",
    // The account's own limit shows as the session's value.
    "SHOW SESSION VARIABLES WHERE Variable_name = 'max_user_connections'",
    "SHOW GLOBAL STATUS WHERE Variable_name IN ('Threads_connected', 'Prepared_stmt_count')",
  ])
    for (const row of await session.query(sql, ASK_MS)) values.set(String(row["Variable_name"]), Number(row["Value"]));
  const limit = (key: string, used: number): Limit => {
    const set = values.get(key) ?? Infinity;
    return { key, set, free: Math.max(0, set - (alone ? used : 0)) * servers };
  };
  // Less this very session.
  const connected = (values.get("Threads_connected") ?? 1) - 1;
  const server = limit("max_connections", connected);
  const account = limit("max_user_connections", 0);
  return {
    sessions: account.set > 0 && account.free < server.free ? account : server,
    statements: limit("max_prepared_stmt_count", values.get("Prepared_stmt_count") ?? 0),
  };
}
