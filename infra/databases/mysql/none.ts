import { databaseNodes } from "../../config/counts.ts";
import type { DatabaseOf } from "../../config/engines.ts";
import type { Engine } from "../engine.ts";
import { INNODB_ROW_BYTES } from "../mariadb.ts";
import { checkSingle, checkVariables } from "../server-variables.ts";
import { checkVersion, MYSQL_HOST, MYSQL_LOCAL_RELEASE, MYSQL_OWNED } from "./facts.ts";

/** One standalone MySQL server. */
export const mysqlNone: Engine<DatabaseOf<"mysql/none">> = {
  title: "MySQL",
  protocol: "mysql",
  port: 3306,
  roleOf: () => "primary",
  roles: null,
  commit: "none",
  quorum: false,
  bytesPerRow: INNODB_ROW_BYTES,
  host: MYSQL_HOST,
  localRelease: MYSQL_LOCAL_RELEASE,
  inService: null,
  settings: ({ variables }) => variables,
  check: ({ variables, version }, config) => ({
    problems: [
      ...checkVersion(version, config),
      ...checkSingle(config, databaseNodes(config)),
      ...checkVariables(variables, MYSQL_OWNED, config),
    ],
    warnings: [],
  }),
  load: async () => (await import("./server.ts")).createMysql,
};
