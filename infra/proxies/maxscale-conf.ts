/** MaxScale's configuration file, and what it needs in the database. Pure. */
import { WRITER_PORT } from "./proxy.ts";

/** Stand in the rendered file until the node puts the passwords in their place. */
export const MONITOR_PASSWORD = "@monitor-password@";
export const SERVICE_PASSWORD = "@service-password@";
export const MONITOR_USER = "maxscale_monitor";
export const SERVICE_USER = "maxscale_service";
/** REST answers on the node's loopback only. */
export const REST_PORT = 8989;

export const MONITOR = "monitor";
export const SERVICE = "splitter";

export interface MaxscaleConf {
  /** Mesh address that clients connect to. */
  bind: string;
  servers: { name: string; address: string }[];
  /** Parameters by their own names; they win over the defaults below. */
  monitor: Record<string, string>;
  service: Record<string, string>;
}

/**
 * monitor_interval: galeramon's own default, written out because it decides how long a failover takes.
 * disable_master_failback: a primary that comes back from a pause is stale; taking the role back then cost 9 s of
 * errors where leaving it with its successor cost a second.
 */
export const MONITOR_DEFAULTS: Record<string, string> = { monitor_interval: "2000ms", disable_master_failback: "true" };

/**
 * A donor serves on under mariabackup, and is held under rsync (where galeramon would not heed the parameter either:
 * it asks the server for its method).
 */
export const monitorOf = (
  sstMethod: "rsync" | "mariabackup" | undefined,
  given: Record<string, string>,
): Record<string, string> => ({
  ...(sstMethod === "mariabackup" ? { available_when_donor: "true" } : {}),
  ...given,
});

/** Node names end in a number, so that none can be the name of another section. */
export function maxscaleConf({ bind, servers, monitor, service }: MaxscaleConf): string {
  return [
    section("maxscale", {
      threads: "auto",
      // Without reverse DNS, as on a mesh, each login would wait for a name.
      skip_name_resolve: "true",
      admin_host: "127.0.0.1",
      admin_port: String(REST_PORT),
      // Only the node itself reaches the port, and its default login is in every manual.
      admin_auth: "false",
      admin_gui: "false",
      // What an operator changed by hand must not outlive the file that the topology writes.
      load_persisted_configs: "false",
      persist_runtime_changes: "false",
    }),
    ...servers.map((s) => section(s.name, { type: "server", address: s.address, port: "3306" })),
    section(MONITOR, {
      type: "monitor",
      module: "galeramon",
      servers: servers.map((s) => s.name).join(","),
      user: MONITOR_USER,
      password: MONITOR_PASSWORD,
      ...MONITOR_DEFAULTS,
      ...monitor,
    }),
    section(SERVICE, {
      type: "service",
      router: "readwritesplit",
      cluster: MONITOR,
      user: SERVICE_USER,
      password: SERVICE_PASSWORD,
      ...service,
    }),
    section("listener", {
      type: "listener",
      service: SERVICE,
      protocol: "MariaDBProtocol",
      address: bind,
      port: String(WRITER_PORT),
    }),
  ].join("\n");
}

function section(name: string, settings: Record<string, string>): string {
  return `[${name}]\n${Object.entries(settings)
    .map(([k, v]) => `${k}=${v}\n`)
    .join("")}`;
}

/**
 * Tables that the service reads clients' accounts from: without any one of them but the last, every client is refused.
 */
const ACCOUNT_TABLES = ["user", "db", "tables_priv", "columns_priv", "proxies_priv", "roles_mapping", "procs_priv"];

/** Bash for a database node; stdin: the monitor's password, then the service's, a line each. */
export function accountsScript(network: string, monitor: Record<string, string>): string {
  const watcher = `'${MONITOR_USER}'@'${network}'`,
    reader = `'${SERVICE_USER}'@'${network}'`;
  // Writing wsrep_sst_donor on the nodes is the one thing of galeramon's that takes more than a login.
  const donors = ["true", "on", "yes", "1"].includes((monitor["set_donor_nodes"] ?? "").toLowerCase());
  return `read -r monitor_password
read -r service_password
mariadb <<SQL || { echo "$(hostname): could not create MaxScale's accounts" >&2; exit 1; }
CREATE USER IF NOT EXISTS ${watcher} IDENTIFIED BY '$monitor_password';
ALTER USER ${watcher} IDENTIFIED BY '$monitor_password';
GRANT ${donors ? "SUPER, " : ""}REPLICATION CLIENT ON *.* TO ${watcher};
CREATE USER IF NOT EXISTS ${reader} IDENTIFIED BY '$service_password';
ALTER USER ${reader} IDENTIFIED BY '$service_password';
GRANT SHOW DATABASES ON *.* TO ${reader};
${ACCOUNT_TABLES.map((table) => `GRANT SELECT ON mysql.${table} TO ${reader};`).join("\n")}
SQL`;
}
