import { databaseNodes } from "../config/counts.ts";
import type { DatabaseOf } from "../config/engines.ts";
import type { Engine } from "./engine.ts";
import { INNODB_ROW_BYTES, MARIADB_HOST, MARIADB_OWNED } from "./mariadb.ts";
import { checkSingle, checkVariables } from "./server-variables.ts";

/** One standalone MariaDB server. */
export const mariadbNone: Engine<DatabaseOf<"mariadb/none">> = {
  title: "MariaDB",
  protocol: "mysql",
  port: 3306,
  roleOf: () => "primary",
  roles: null,
  commit: "none",
  quorum: false,
  bytesPerRow: INNODB_ROW_BYTES,
  host: MARIADB_HOST,
  inService: null,
  settings: ({ variables }) => variables,
  check: ({ variables }, config) => ({
    problems: [...checkSingle(config, databaseNodes(config)), ...checkVariables(variables, MARIADB_OWNED, config)],
    warnings: [],
  }),
  load: async () => (await import("./galera.ts")).createMariaDb,
};
