/** Versions of the client libraries, for the result. Imported and not looked up, so that they are in the bundle too. */
import mysql2 from "mysql2/package.json" with { type: "json" };
import pg from "pg/package.json" with { type: "json" };

const VERSIONS = { mysql2: mysql2.version, pg: pg.version };

export function version(name: keyof typeof VERSIONS): string {
  return VERSIONS[name];
}
