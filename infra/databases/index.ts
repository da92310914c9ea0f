/** The engines: a member of the union in config/engines.ts without a description here does not compile. */
import { type DatabaseConfig, type DatabaseOf, type EngineKey, engineKey } from "../config/engines.ts";
import type { Engine } from "./engine.ts";
import { mariadbGalera } from "./mariadb-galera.ts";
import { mariadbNone } from "./mariadb-none.ts";
import { mariadbAsync, mariadbSemiSync } from "./mariadb-replication.ts";
import { mysqlGroup } from "./mysql/group.ts";
import { mysqlNone } from "./mysql/none.ts";
import { mysqlAsync, mysqlSemiSync } from "./mysql/replication.ts";
import { postgresqlAsync, postgresqlSync } from "./patroni/replication.ts";
import { postgresqlNone } from "./postgresql-none.ts";

export const ENGINES: { readonly [K in EngineKey]: Engine<DatabaseOf<K>> } = {
  "mariadb/none": mariadbNone,
  "mariadb/galera": mariadbGalera,
  "mariadb/async": mariadbAsync,
  "mariadb/semi-sync": mariadbSemiSync,
  "mysql/none": mysqlNone,
  "mysql/async": mysqlAsync,
  "mysql/semi-sync": mysqlSemiSync,
  "mysql/group": mysqlGroup,
  "postgresql/none": postgresqlNone,
  "postgresql/async": postgresqlAsync,
  "postgresql/sync": postgresqlSync,
};

/** The description takes the very configuration that it was found by. */
export function engineOf(database: DatabaseConfig): Engine {
  const engine = ENGINES[engineKey(database)] as unknown as Engine;
  return { ...engine, ...engine.by?.(database) };
}
