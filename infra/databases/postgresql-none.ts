import { databaseNodes } from "../config/counts.ts";
import type { DatabaseOf } from "../config/engines.ts";
import type { Engine } from "./engine.ts";
import { checkSingle, checkVariables } from "./server-variables.ts";

/** Set by the topology, or by what the topology needs. */
const OWNED = ["listen_addresses", "port", "data_directory", "hba_file", "config_file", "ssl"] as const;

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
  host: {
    dataDirectory: "/var/lib/postgresql",
    units: ["postgresql"],
    files: [
      "/etc/postgresql/*/main/conf.d/99-meshbench.conf",
      "/etc/systemd/system/postgresql@.service.d/10-meshbench.conf",
    ],
    directories: ["/etc/systemd/system/postgresql@.service.d"],
  },
  inService: null,
  settings: ({ variables }) => variables,
  check: ({ variables }, config) => ({
    problems: [...checkSingle(config, databaseNodes(config)), ...checkVariables(variables, OWNED, config)],
    warnings: [],
  }),
  load: async () => (await import("./postgresql.ts")).createPostgreSql,
};
