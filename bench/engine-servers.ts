/**
 * The server under load: the benchmark's own, on loopback, pinned to one core, all data in memory, commits not synced.
 */
import { ensurePackages } from "../harness/servers/debian.ts";
import { Mariadb, PASSWORD, USER } from "../harness/servers/mariadb.ts";
import { postgresBinaries, startPostgres } from "../harness/servers/postgres.ts";

export type BenchServer = {
  driver: "mysql" | "postgres";
  version: string;
  pid: number;
  port: number;
  user: string;
  password: string;
  stop(): Promise<void>;
};

export const SERVER_CORE = "0";
export const LOAD_CORE = "1";

/** Throws with the reason when the server or sysbench cannot be had here. */
export async function startServer(driver: "mysql" | "postgres"): Promise<BenchServer> {
  const packages = await ensurePackages(driver === "mysql" ? ["mariadb-server", "sysbench"] : ["sysbench"]);
  if (!packages.ok) throw new Error(packages.reason);
  if (driver === "mysql") {
    const server = await Mariadb.start({
      cpu: SERVER_CORE,
      args: [
        "--innodb-buffer-pool-size=512M",
        "--innodb-log-file-size=512M",
        "--max-connections=500",
        "--max-prepared-stmt-count=100000",
      ],
    });
    return {
      driver,
      version: server.sql("SELECT VERSION()").trim(),
      pid: server.pid,
      port: server.port,
      user: USER,
      password: PASSWORD,
      stop: () => server.stop(),
    };
  }
  const binaries = await postgresBinaries();
  if (!binaries.ok) throw new Error(binaries.reason);
  const settings = {
    shared_buffers: "512MB",
    max_connections: "300",
    synchronous_commit: "off",
    max_wal_size: "4GB",
    checkpoint_timeout: "30min",
  };
  const { pid, port, user, password, version, stop } = await startPostgres(binaries.bin, settings, [
    "taskset",
    "-c",
    SERVER_CORE,
  ]);
  return { driver, version: `PostgreSQL ${version}`, pid, port, user, password, stop };
}
