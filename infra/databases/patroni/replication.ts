import { databaseNodes } from "../../config/counts.ts";
import type { Config } from "../../config/schema.ts";
import { withPatroniTuning } from "../../config/tuning.ts";
import type { Engine } from "../engine.ts";
import { POSTGRESQL_HOST } from "../postgresql-none.ts";
import { checkVariables } from "../server-variables.ts";
import { CONF_PATH, PATRONI_DROP_IN, type PatroniConfig, REST_PORT, SECRETS_PATH } from "./conf.ts";
import { checkEtcd, ETCD_DATA, ETCD_DROP_IN, ETCD_INITIAL } from "./etcd-conf.ts";
import { checkPatroniOptions } from "./options.ts";
import { STANDING } from "./scripts.ts";

/** Set by the topology, or by Patroni. */
const OWNED = [
  "listen_addresses",
  "port",
  "data_directory",
  "hba_file",
  "ident_file",
  "config_file",
  "ssl",
  "cluster_name",
  "hot_standby",
  "wal_level",
  "wal_log_hints",
  "unix_socket_directories",
  "password_encryption",
  "primary_conninfo",
  "primary_slot_name",
  "synchronous_standby_names",
] as const;

/** @param title for people */
const replicated = <D extends PatroniConfig>(
  replication: D["replication"],
  title: string,
  commit: Engine["commit"],
  own: {
    settings(database: D): Record<string, string>;
    check(database: D, config: Config): { problems: string[]; warnings: string[] };
  },
): Engine<D> => ({
  title,
  protocol: "postgres",
  port: 5432,
  roleOf: (index) => (index === 0 ? "primary" : "replica"),
  roles: "read-only",
  commit,
  quorum: false,
  // Measured with PostgreSQL 15 on 200,000 rows: heap and both indexes take 264 bytes a row.
  bytesPerRow: 270,
  localRelease: "patroni",
  host: {
    ...POSTGRESQL_HOST,
    undo: `rm -rf ${ETCD_DATA}`,
    units: ["etcd", "patroni"],
    packages: [...POSTGRESQL_HOST.packages, "patroni", "python3-etcd", "etcd-"],
    files: [CONF_PATH, SECRETS_PATH, PATRONI_DROP_IN, ETCD_DROP_IN, ETCD_INITIAL],
    directories: ["/etc/systemd/system/patroni.service.d", "/etc/systemd/system/etcd.service.d"],
  },
  inService: { port: REST_PORT, primary: "/primary", replica: "/replica", any: "/read-only" },
  standing: STANDING,
  complete: withPatroniTuning,
  settings: (database) => ({ ...database.options, ...database.variables, ...own.settings(database) }),
  check(database, config) {
    const nodes = databaseNodes(config);
    const { problems, warnings } = own.check(database, config);
    return {
      problems: [
        ...(nodes === 1
          ? [
              `meshbench:database.replication: "${replication}" with 1 database node in meshbench:sites; expected at least 2, a primary and a standby`,
            ]
          : []),
        ...checkPatroniOptions(database.options, replication === "sync"),
        ...checkEtcd(database.etcd, Math.max(0, ...config.links.map((link) => link.rttMs + link.jitterMs))),
        ...problems,
        ...checkVariables(database.variables, OWNED, config),
      ],
      warnings: [
        ...(nodes === 2
          ? [
              "meshbench:sites: 2 database nodes, of which the first alone keeps the cluster's state in etcd; expected at least 3 where the loss of any one is to be survived",
            ]
          : []),
        ...warnings,
      ],
    };
  },
  load: async () => (await import("./cluster.ts")).createPatroni,
});

/** PostgreSQL with a primary that waits for nobody. */
export const postgresqlAsync = replicated<Extract<PatroniConfig, { replication: "async" }>>(
  "async",
  "PostgreSQL asynchronous",
  "none",
  { settings: () => ({}), check: () => ({ problems: [], warnings: [] }) },
);

/** Values of synchronous_commit with which a commit waits for a standby. */
const WAITING = ["on", "remote_write", "remote_apply"];

/** PostgreSQL with a primary whose commits wait for the standby that Patroni has named. */
export const postgresqlSync = replicated<Extract<PatroniConfig, { replication: "sync" }>>(
  "sync",
  "PostgreSQL synchronous",
  // Patroni stays with the standby that it has picked first, whichever that is: no commit is faster than the nearest allows.
  "nearest-member",
  {
    settings: ({ standbys }): Record<string, string> =>
      standbys === undefined ? {} : { standbys: standbys.join(", ") },
    check: ({ standbys, options, variables }, config) => {
      const names = config.sites.flatMap((site) =>
        Array.from({ length: site.nodes }, (_, i) => `${site.name}-${i + 1}`),
      );
      const problems: string[] = [];
      for (const name of standbys ?? [])
        if (!names.includes(name))
          problems.push(`meshbench:database.standbys: "${name}"; expected database nodes: ${names.join(", ")}`);
      const able = names.filter((name, i) => i > 0 && (standbys ?? names).includes(name)).length;
      if (standbys !== undefined && problems.length === 0 && able === 0)
        problems.push(
          `meshbench:database.standbys: ${standbys.join(", ")}, which begins as the primary; expected another database node`,
        );
      const wanted = Number(options["synchronous_node_count"] ?? 1);
      if (able > 0 && wanted > able)
        problems.push(
          `meshbench:database.options.synchronous_node_count: ${wanted}; expected at most ${able}, the nodes that can be synchronous standbys`,
        );
      const waits = variables["synchronous_commit"];
      if (waits !== undefined && !WAITING.includes(waits))
        problems.push(
          `meshbench:database.variables.synchronous_commit: ${waits}; expected ${WAITING.join(", ")} with replication "sync"`,
        );
      return { problems, warnings: [] };
    },
  },
);
