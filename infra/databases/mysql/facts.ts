/** What MySQL is on a node, whatever its replication. Pure. */
import type { Config } from "../../config/schema.ts";
import type { DatabaseHost } from "../engine.ts";
import { MYSQL_DATA } from "../mysql-data.ts";

/** Read after the packages' own mysqld.cnf, which binds to loopback: files come in the order of their names. */
export const CONF_PATH = "/etc/mysql/mysql.conf.d/zz-meshbench.cnf";
export const DATA = "/var/lib/mysql";

/** Set by the topology, or by what the topology needs. */
export const MYSQL_OWNED = [
  "bind_address",
  "mysqlx",
  "port",
  "socket",
  "datadir",
  "server_id",
  "gtid_mode",
  "enforce_gtid_consistency",
  "plugin_load_add",
  "report_host",
] as const;

export const MYSQL_HOST: DatabaseHost = {
  ...MYSQL_DATA,
  units: ["mysql"],
  packages: ["mysql-"],
  files: [
    CONF_PATH,
    "/etc/systemd/system/mysql.service.d/10-meshbench.conf",
    "/etc/apt/sources.list.d/meshbench-mysql.list",
    "/etc/apt/keyrings/meshbench-mysql.gpg",
  ],
  directories: ["/etc/systemd/system/mysql.service.d"],
};

/** What local nodes have: Debian has MySQL in its unstable suite alone. */
export const MYSQL_LOCAL_RELEASE = "sid";

/**
 * No release of Debian has MySQL: local nodes take what the unstable suite has just now, all others an exact version of the
 * vendor's repository.
 */
export function checkVersion(version: string, { sites }: Pick<Config, "sites">): string[] {
  const key = "meshbench:database.version";
  const local = sites.filter((site) => site.kind === "local" && site.nodes > 0).map(({ name }) => name);
  const others = sites.filter((site) => site.kind !== "local" && site.nodes > 0).map(({ name }) => name);
  if (version !== "debian" && local.length > 0)
    return [
      `${key}: ${version}; expected "debian" with local nodes (${local.join(", ")}), which have the MySQL of Debian's unstable suite; the result says which one that was`,
    ];
  if (version === "debian" && others.length > 0)
    return [
      `${key}: "debian"; expected an exact version of the vendor's repository such as 8.4.6 on ${others.join(", ")}, since no release of Debian has MySQL`,
    ];
  return [];
}
