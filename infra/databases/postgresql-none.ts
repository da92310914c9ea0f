import { databaseNodes } from "../config/counts.ts";
import type { DatabaseOf } from "../config/engines.ts";
import { DATABASE_NAME, DATABASE_USER } from "./database.ts";
import type { DatabaseHost, Engine } from "./engine.ts";
import { checkSingle, checkVariables } from "./server-variables.ts";

/** Set by the topology, or by what the topology needs. */
const OWNED = ["listen_addresses", "port", "data_directory", "hba_file", "config_file", "ssl"] as const;

export const POSTGRESQL_HOST: DatabaseHost = {
  dataDirectory: "/var/lib/postgresql",
  // Debian's clusters lie in <version>/<name> below it.
  keepsDataIn: `if command -v pg_lsclusters >/dev/null; then pg_lsclusters -h | awk '{ print $6 }' | sed -E 's#/[0-9.]+/[^/]+$##'; fi`,
  // A cluster's own databases and tables have numbers below 16384 (FirstNormalObjectId in access/transam.h).
  foreign: `if [ -d /var/lib/postgresql ]; then
  find /var/lib/postgresql -regextype posix-extended -regex '.*/base/([0-9]+/)?[0-9]+' | awk -F/ '$NF >= 16384'
  find /var/lib/postgresql -path '*/pg_tblspc/*'
fi`,
  undo: `sed -i '/^host ${DATABASE_NAME} ${DATABASE_USER} /d' /etc/postgresql/*/main/pg_hba.conf 2>/dev/null`,
  units: ["postgresql"],
  packages: ["postgresql", "libpq5"],
  files: [
    "/etc/postgresql/*/main/conf.d/99-meshbench.conf",
    "/etc/systemd/system/postgresql@.service.d/10-meshbench.conf",
  ],
  directories: ["/etc/systemd/system/postgresql@.service.d"],
};

/** One standalone PostgreSQL server. */
export const postgresqlNone: Engine<DatabaseOf<"postgresql/none">> = {
  title: "PostgreSQL",
  protocol: "postgres",
  port: 5432,
  roleOf: () => "primary",
  roles: null,
  commit: "none",
  quorum: false,
  // Measured with PostgreSQL 15 on 200,000 rows: heap and both indexes take 264 bytes a row.
  bytesPerRow: 270,
  host: POSTGRESQL_HOST,
  inService: null,
  settings: ({ variables }) => variables,
  check: ({ variables }, config) => ({
    problems: [...checkSingle(config, databaseNodes(config)), ...checkVariables(variables, OWNED, config)],
    warnings: [],
  }),
  load: async () => (await import("./postgresql.ts")).createPostgreSql,
};
