import type { DatabaseOf } from "../config/engines.ts";
import { checkGaleraOptions } from "../config/galera-options.ts";
import { withGaleraTuning } from "../config/tuning.ts";
import type { Engine } from "./engine.ts";
import { GALERA_CHECK } from "./galera-check.ts";
import { GALERA_REJOINED } from "./galera-rejoined.ts";
import { INNODB_ROW_BYTES, MARIADB_HOST, MARIADB_OWNED } from "./mariadb.ts";
import { checkVariables } from "./server-variables.ts";

/** MariaDB with wsrep on every database node. */
export const mariadbGalera: Engine<DatabaseOf<"mariadb/galera">> = {
  title: "MariaDB Galera",
  protocol: "mysql",
  port: 3306,
  roleOf: () => "any",
  roles: null,
  commit: "safe-delivery",
  quorum: true,
  bytesPerRow: INNODB_ROW_BYTES,
  host: MARIADB_HOST,
  inService: GALERA_CHECK,
  rejoined: GALERA_REJOINED,
  repair: "galera",
  complete: withGaleraTuning,
  settings: ({ options, variables }) => ({ ...options, ...variables }),
  check: ({ options, variables }, config) => ({
    problems: [
      ...checkGaleraOptions(options, Math.max(0, ...config.links.map((link) => link.rttMs + link.jitterMs))),
      ...checkVariables(variables, MARIADB_OWNED, config),
    ],
    warnings: [],
  }),
  load: async () => (await import("./galera.ts")).createMariaDb,
};
