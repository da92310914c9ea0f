/** MariaDB's configuration file for a node of a Galera cluster, or for one alone. Pure. */
import { createHash } from "node:crypto";
import type { DatabaseOf } from "../config/engines.ts";

export type MariaDbConfig = DatabaseOf<"mariadb/none"> | DatabaseOf<"mariadb/galera">;

/** gcomm carries a group's name in 32 bytes: with a longer one no node can join (seen with galera-4 26.4.23). */
const LONGEST_CLUSTER_NAME = 32;

/** The stack's own, shortened by a hash of the whole where it is too long. */
export function clusterName(project: string, stack: string): string {
  const whole = `${project}-${stack}`;
  if (Buffer.byteLength(whole) <= LONGEST_CLUSTER_NAME) return whole;
  const hash = createHash("sha256").update(whole).digest("hex").slice(0, 8);
  return `${stack.replace(/[^a-zA-Z0-9-]/g, "-").slice(0, LONGEST_CLUSTER_NAME - 9)}-${hash}`;
}

export interface ServerConf {
  nodeName: string;
  meshAddress: string;
  clusterName: string;
  /** Mesh addresses of all database nodes, this one included. Empty: a standalone server. */
  members: string[];
  segment: number;
  maxConnections: number;
}

/** Only the last wsrep_provider_options line of a configuration counts, so there is one, with everything in it. */
export function providerOptions(options: Record<string, string>, segment: number): string {
  const all: Record<string, string> = { ...(segment === 0 ? {} : { "gmcast.segment": String(segment) }), ...options };
  return Object.entries(all)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([k, v]) => `${k}=${v}`)
    .join("; ");
}

/** What a server has on every design. */
export function baseSettings(node: Pick<ServerConf, "meshAddress" | "maxConnections">): [string, string][] {
  return [
    // Debian's own file binds to loopback; the mesh is the only other place that may reach the server.
    ["bind_address", node.meshAddress],
    ["port", "3306"],
    // Without reverse DNS, as on a mesh, each connection would wait ten seconds for a name.
    ["skip_name_resolve", "ON"],
    ["max_connections", String(node.maxConnections)],
    ["local_infile", "ON"],
    ["binlog_format", "ROW"],
    ["default_storage_engine", "InnoDB"],
    ["innodb_autoinc_lock_mode", "2"],
  ];
}

export function serverConf(node: ServerConf, database: MariaDbConfig): string {
  const settings = baseSettings(node);
  if (database.replication === "galera") {
    settings.push(
      ["wsrep_on", "ON"],
      ["wsrep_provider", "/usr/lib/galera/libgalera_smm.so"],
      ["wsrep_cluster_name", `"${node.clusterName}"`],
      ["wsrep_cluster_address", `"gcomm://${node.members.join(",")}"`],
      ["wsrep_node_name", `"${node.nodeName}"`],
      ["wsrep_node_address", `"${node.meshAddress}"`],
      ["wsrep_sst_method", database.sstMethod],
    );
    // mariabackup logs in over the socket as the system user mysql: no password has to exist.
    if (database.sstMethod === "mariabackup") settings.push(["wsrep_sst_auth", '"mysql:"']);
    const options = providerOptions(
      {
        "gmcast.listen_addr": `tcp://${node.meshAddress}:4567`,
        "ist.recv_bind": `${node.meshAddress}:4568`,
        ...database.options,
      },
      node.segment,
    );
    settings.push(["wsrep_provider_options", `"${options}"`]);
  }
  return optionFile(settings, database.variables);
}

/** @param variables win over settings of the same name */
export function optionFile(settings: [string, string][], variables: Record<string, string>): string {
  const given = Object.entries(variables);
  const names = new Set(given.map(([k]) => k));
  return [
    "[mysqld]",
    ...[
      ...settings.filter(([k]) => !names.has(k)),
      ...given.map(([k, v]): [string, string] => [k, optionValue(v)]),
    ].map(([k, v]) => `${k} = ${v}`),
    "",
  ].join("\n");
}

/**
 * A value as an option file must have it to arrive as it is: outside quotes `#` begins a comment and spaces at the ends
 * are dropped, and everywhere a backslash escapes what follows. (MariaDB, "Configuring MariaDB with Option Files".)
 */
export function optionValue(value: string): string {
  if (!/[#\\"']|^\s|\s$/.test(value)) return value;
  return `"${value.replace(/[\\"]/g, "\\$&")}"`;
}
