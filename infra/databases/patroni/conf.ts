/** Patroni's configuration: of a node, and of all nodes together. Pure. */
import { stringify } from "yaml";
import type { DatabaseOf } from "../../config/engines.ts";
import { DATABASE_NAME, DATABASE_USER } from "../database.ts";
import { clientUrl } from "./etcd-conf.ts";
import { patroniOptions } from "./options.ts";

export type PatroniConfig = DatabaseOf<"postgresql/async"> | DatabaseOf<"postgresql/sync">;

export const CONF_PATH = "/etc/patroni/config.yml";
/** Passwords and what only the node knows; read by systemd as root, and taken out of its environment by Patroni. */
export const SECRETS_PATH = "/etc/patroni/meshbench.env";
export const PATRONI_DROP_IN = "/etc/systemd/system/patroni.service.d/10-meshbench.conf";
export const REST_PORT = 8008;
export const SCOPE = "meshbench";
/** Below which all of the cluster's keys in etcd lie. */
export const NAMESPACE = "/service/";
export const ETCD_USER = "patroni";
export const REST_USER = "meshbench";

/**
 * When Patroni ends without having stopped its server, the server ends with it: nobody else would keep it from taking writes
 * when another node has become the primary.
 */
export const PATRONI_UNIT = `[Unit]
After=wg-quick@wg0.service etcd.service
Wants=wg-quick@wg0.service
StartLimitIntervalSec=0

[Service]
EnvironmentFile=${SECRETS_PATH}
KillMode=mixed
TimeoutStopSec=120
Restart=always
RestartSec=1
`;

/** What etcd keeps for all nodes; it is set as a whole. */
export function dynamicConf(database: PatroniConfig, maxConnections: number): Record<string, unknown> {
  return {
    ttl: 30,
    loop_wait: 10,
    retry_timeout: 10,
    ...patroniOptions(database.options),
    ...(database.replication === "sync" ? { synchronous_mode: true } : {}),
    postgresql: {
      use_pg_rewind: true,
      use_slots: true,
      parameters: { max_connections: String(maxConnections), ...database.variables },
    },
  };
}

export interface PatroniNode {
  name: string;
  meshAddress: string;
  /** May not be picked as the synchronous standby. */
  nosync: boolean;
}

/**
 * config.yml. Root of the server is who has the system's account postgres, over the socket; everybody else comes over the
 * mesh with a password.
 */
export function patroniConf(
  { name, meshAddress, nosync }: PatroniNode,
  cluster: { members: readonly string[]; network: string; dynamic: Record<string, unknown> },
): string {
  const access = (database: string, user: string): string =>
    `host ${database} ${user} ${cluster.network} scram-sha-256`;
  return stringify(
    {
      scope: SCOPE,
      namespace: NAMESPACE,
      name,
      restapi: { listen: `${meshAddress}:${REST_PORT}`, connect_address: `${meshAddress}:${REST_PORT}` },
      etcd3: { hosts: cluster.members.map((address) => clientUrl(address).replace("http://", "")) },
      bootstrap: {
        dcs: cluster.dynamic,
        initdb: [
          { encoding: "UTF8" },
          { locale: "C.UTF-8" },
          { "auth-local": "peer" },
          { "auth-host": "scram-sha-256" },
        ],
      },
      postgresql: {
        listen: `${meshAddress}:5432`,
        connect_address: `${meshAddress}:5432`,
        pgpass: "/var/lib/postgresql/.meshbench-pgpass",
        use_unix_socket: true,
        authentication: {
          superuser: { username: "postgres" },
          replication: { username: "replicator" },
          rewind: { username: "rewinder" },
        },
        parameters: { unix_socket_directories: "/var/run/postgresql", password_encryption: "scram-sha-256" },
        pg_hba: [
          "local all postgres peer",
          access("replication", "replicator"),
          access("postgres", "rewinder"),
          access(DATABASE_NAME, DATABASE_USER),
        ],
      },
      ...(nosync ? { tags: { nosync: true } } : {}),
    },
    { lineWidth: 0 },
  );
}
