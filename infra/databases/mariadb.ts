/** What MariaDB is on a node, whatever its replication. */
import type { DatabaseHost } from "./engine.ts";
import { MYSQL_DATA } from "./mysql-data.ts";

/** Set by the topology, or by what the topology needs. */
export const MARIADB_OWNED = [
  "bind_address",
  "wsrep_on",
  "wsrep_provider",
  "wsrep_provider_options",
  "wsrep_cluster_address",
  "wsrep_cluster_name",
  "wsrep_node_address",
  "wsrep_node_name",
  "wsrep_sst_method",
  "wsrep_sst_auth",
  "port",
  "socket",
  "datadir",
] as const;

export const MARIADB_HOST: DatabaseHost = {
  ...MYSQL_DATA,
  units: ["mariadb"],
  packages: ["mariadb-", "galera-", "libmariadb"],
  files: ["/etc/mysql/mariadb.conf.d/99-meshbench.cnf", "/etc/systemd/system/mariadb.service.d/10-meshbench.conf"],
  directories: ["/etc/systemd/system/mariadb.service.d"],
};

/** A row of sbtest (int, int, char(120), char(60)) with both trees and InnoDB's free space, rounded up. */
export const INNODB_ROW_BYTES = 260;
