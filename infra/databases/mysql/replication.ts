import { databaseNodes } from "../../config/counts.ts";
import type { Config } from "../../config/schema.ts";
import type { Engine } from "../engine.ts";
import { INNODB_ROW_BYTES } from "../mariadb.ts";
import { checkVariables } from "../server-variables.ts";
import { checkVersion, MYSQL_HOST, MYSQL_LOCAL_RELEASE, MYSQL_OWNED } from "./facts.ts";
import { REPLICATION_OWNED, type ReplicatedConfig, semiSyncSettings } from "./replication-conf.ts";
import { REPLICATION_REJOINED, ROLE_CHECK, STANDING } from "./replication-standing.ts";

/** @param title for people */
const replicated = <D extends ReplicatedConfig>(
  replication: D["replication"],
  title: string,
  commit: Engine["commit"],
): Engine<D> => ({
  title,
  protocol: "mysql",
  port: 3306,
  roleOf: (index) => (index === 0 ? "primary" : "replica"),
  roles: "read-only",
  commit,
  quorum: false,
  bytesPerRow: INNODB_ROW_BYTES,
  host: MYSQL_HOST,
  localRelease: MYSQL_LOCAL_RELEASE,
  inService: ROLE_CHECK,
  standing: STANDING,
  rejoined: REPLICATION_REJOINED,
  settings: (database) => ({ ...semiSyncSettings(database), ...database.variables }),
  check: ({ variables, version }, config) => ({
    problems: [
      ...checkVersion(version, config),
      ...atLeastTwo(replication, config),
      ...checkVariables(variables, [...MYSQL_OWNED, ...REPLICATION_OWNED], config),
    ],
    warnings: [],
  }),
  load: async () => (await import("./replicated.ts")).createReplicated,
});

function atLeastTwo(replication: string, config: Config): string[] {
  return databaseNodes(config) === 1
    ? [
        `meshbench:database.replication: "${replication}" with 1 database node in meshbench:sites; expected at least 2, a primary and a replica`,
      ]
    : [];
}

/** MySQL with a primary that waits for nobody. */
export const mysqlAsync = replicated<Extract<ReplicatedConfig, { replication: "async" }>>(
  "async",
  "MySQL asynchronous",
  "none",
);

/** MySQL with a primary whose commits wait for one replica. */
export const mysqlSemiSync = replicated<Extract<ReplicatedConfig, { replication: "semi-sync" }>>(
  "semi-sync",
  "MySQL semi-synchronous",
  "nearest-member",
);
