/** What a MySQL primary and its replicas have in their configuration files. Pure. */
import type { DatabaseOf } from "../../config/engines.ts";
import { serverId } from "../values.ts";
import { mysqlConf } from "./conf.ts";

export type ReplicatedConfig = DatabaseOf<"mysql/async"> | DatabaseOf<"mysql/semi-sync">;

export const REPLICATION_OWNED = [
  "log_bin",
  "relay_log",
  "relay_log_recovery",
  "log_replica_updates",
  "binlog_expire_logs_seconds",
  "read_only",
  "super_read_only",
  "skip_replica_start",
  "rpl_semi_sync_source_enabled",
  "rpl_semi_sync_source_wait_point",
  "rpl_semi_sync_source_timeout",
  "rpl_semi_sync_source_wait_for_replica_count",
  "rpl_semi_sync_replica_enabled",
] as const;

export const semiSyncSettings = (database: ReplicatedConfig): Record<string, string> =>
  database.replication === "semi-sync"
    ? {
        rpl_semi_sync_source_wait_point: database.semiSync.waitPoint,
        rpl_semi_sync_source_timeout: String(database.semiSync.timeoutMs),
      }
    : {};

/**
 * Every node is read-only at its start, the primary too: one that comes back after another one was promoted takes no
 * writes. The primary's half of semi-sync is in no file either: on a replica, what it applies would wait for replicas of
 * its own, and be counted as commits that nobody has acknowledged. Binary logs are kept, so that a node that is added
 * later gets its data from the primary's first one on.
 */
export function replicatedConf(
  node: { meshAddress: string; maxConnections: number },
  database: ReplicatedConfig,
): string {
  const semiSync: [string, string][] =
    database.replication === "semi-sync"
      ? [
          ["plugin_load_add", "semisync_source.so"],
          ["plugin_load_add", "semisync_replica.so"],
          // loose: the package's own steps start the server without the plugin.
          ["loose_rpl_semi_sync_replica_enabled", "ON"],
          ...Object.entries(semiSyncSettings(database)).map(([name, value]): [string, string] => [
            `loose_${name}`,
            value,
          ]),
        ]
      : [];
  return mysqlConf(
    node,
    [
      ["server_id", serverId(node.meshAddress)],
      ["report_host", node.meshAddress],
      ["gtid_mode", "ON"],
      ["enforce_gtid_consistency", "ON"],
      ["log_bin", "mysql-bin"],
      ["relay_log", "mysql-relay"],
      ["relay_log_recovery", "ON"],
      ["log_replica_updates", "ON"],
      ["binlog_expire_logs_seconds", "0"],
      ["super_read_only", "ON"],
      ...semiSync,
    ],
    database.variables,
  );
}
