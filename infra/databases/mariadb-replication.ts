import { databaseNodes } from "../config/counts.ts";
import type { Config } from "../config/schema.ts";
import type { Engine } from "./engine.ts";
import { INNODB_ROW_BYTES, MARIADB_HOST, MARIADB_OWNED } from "./mariadb.ts";
import { type ReplicatedConfig, ROLE_CHECK, STANDING } from "./mariadb-replication-conf.ts";
import { checkVariables } from "./server-variables.ts";

const OWNED = [
  ...MARIADB_OWNED,
  "server_id",
  "report_host",
  "log_bin",
  "relay_log",
  "log_slave_updates",
  "gtid_strict_mode",
  "expire_logs_days",
  "read_only",
  "rpl_semi_sync_master_enabled",
  "rpl_semi_sync_slave_enabled",
  "rpl_semi_sync_master_wait_point",
  "rpl_semi_sync_master_timeout",
] as const;

/** @param title for people */
const replicated = <D extends ReplicatedConfig>(
  replication: D["replication"],
  title: string,
  commit: Engine["commit"],
  settings: (database: D) => Record<string, string>,
): Engine<D> => ({
  title,
  protocol: "mysql",
  port: 3306,
  roleOf: (index) => (index === 0 ? "primary" : "replica"),
  roles: "read-only",
  commit,
  quorum: false,
  bytesPerRow: INNODB_ROW_BYTES,
  host: MARIADB_HOST,
  inService: ROLE_CHECK,
  standing: STANDING,
  settings,
  check: ({ variables }, config) => ({
    problems: [...atLeastTwo(replication, config), ...checkVariables(variables, OWNED, config)],
    warnings: [],
  }),
  load: async () => (await import("./mariadb-replicated.ts")).createReplicated,
});

function atLeastTwo(replication: string, config: Config): string[] {
  const nodes = databaseNodes(config);
  return nodes === 1
    ? [
        `meshbench:database.replication: "${replication}" with 1 database node in meshbench:sites; expected at least 2, a primary and a replica`,
      ]
    : [];
}

/** MariaDB with a primary that waits for nobody. */
export const mariadbAsync = replicated<Extract<ReplicatedConfig, { replication: "async" }>>(
  "async",
  "MariaDB asynchronous",
  "none",
  ({ variables }) => variables,
);

/** MariaDB with a primary whose commits wait for one replica. */
export const mariadbSemiSync = replicated<Extract<ReplicatedConfig, { replication: "semi-sync" }>>(
  "semi-sync",
  "MariaDB semi-synchronous",
  "nearest-member",
  ({ variables, semiSync }) => ({
    rpl_semi_sync_master_wait_point: semiSync.waitPoint,
    rpl_semi_sync_master_timeout: String(semiSync.timeoutMs),
    ...variables,
  }),
);
