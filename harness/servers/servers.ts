/** One private server of each protocol, with an account that may make tables, for tests that run on both. */
import type { RunSpecInput } from "../../workloads/contract.ts";
import type { Driver } from "../../workloads/drivers/driver.ts";
import { mysqlDriver } from "../../workloads/drivers/mysql/driver.ts";
import { postgresDriver } from "../../workloads/drivers/postgres/driver.ts";
import { DATABASE, Mariadb, mariadbPackages, PASSWORD, USER } from "./mariadb.ts";
import { Mysql, mysqlRoot } from "./mysql.ts";
import { postgresBinaries, startPostgres } from "./postgres.ts";

export interface AnyServer {
  readonly driver: Driver;
  readonly target: RunSpecInput["target"];
  readonly password: string;
  stop(): Promise<void>;
}

export interface Kind {
  readonly name: string;
  /** Why it can't be started here; false: it can. */
  readonly skip: string | false;
  start(): Promise<AnyServer>;
}

const endpoints = (port: number): RunSpecInput["target"]["endpoints"] => [{ name: "a", host: "127.0.0.1", port }];

/** MariaDB, MySQL and PostgreSQL; the last one with the counters of pg_stat_statements. */
export async function everyServer(): Promise<Kind[]> {
  const [mariadb, postgres] = (await bothServers({ shared_preload_libraries: "pg_stat_statements" })) as [Kind, Kind];
  const root = await mysqlRoot();
  const mysql: Kind = {
    name: "MySQL",
    skip: root.ok ? false : `SKIPPED, no MySQL: ${root.reason}`,
    async start() {
      const server = await Mysql.start(root.ok ? root.root : "");
      return {
        driver: mysqlDriver,
        target: { driver: "mysql", user: USER, database: DATABASE, endpoints: endpoints(server.port) },
        password: PASSWORD,
        stop: () => server.stop(),
      };
    },
  };
  return [mariadb, mysql, postgres];
}

/** @param settings of PostgreSQL, beside its defaults */
export async function bothServers(settings: Record<string, string> = {}): Promise<Kind[]> {
  const packages = await mariadbPackages();
  const binaries = await postgresBinaries();
  return [
    {
      name: "MariaDB",
      skip: packages.ok ? false : `SKIPPED, no MariaDB: ${packages.reason}`,
      async start() {
        const server = await Mariadb.start();
        return {
          driver: mysqlDriver,
          target: { driver: "mysql", user: USER, database: DATABASE, endpoints: endpoints(server.port) },
          password: PASSWORD,
          stop: () => server.stop(),
        };
      },
    },
    {
      name: "PostgreSQL",
      skip: binaries.ok ? false : `SKIPPED, no PostgreSQL: ${binaries.reason}`,
      async start() {
        if (!binaries.ok) throw new Error(binaries.reason);
        const server = await startPostgres(binaries.bin, settings);
        if ("shared_preload_libraries" in settings) await server.admin("CREATE EXTENSION pg_stat_statements");
        return {
          driver: postgresDriver,
          target: {
            driver: "postgres",
            user: server.user,
            database: server.database,
            endpoints: endpoints(server.port),
          },
          password: server.password,
          stop: async () => {
            await server.stop();
          },
        };
      },
    },
  ];
}
