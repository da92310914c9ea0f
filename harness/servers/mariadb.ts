/**
 * A private mariadbd for tests: its own data directory, socket and port under the system's temp directory, ended by its
 * pid.
 * Needs Debian's mariadb-server (ensurePackages installs it without starting anything).
 */

import type { ChildProcess } from "node:child_process";
import { spawn, spawnSync } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import net from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ensurePackages } from "./debian.ts";

export interface MariadbOptions {
  /** Extra mariadbd arguments. */
  args?: string[];
  /** CPU list for taskset, e.g. "0". */
  cpu?: string;
  /** A fixed port, to start again on the same data. */
  port?: number;
}

export const USER = "bench";
/** A password for a server that only listens on loopback and lives for one test. */
export const PASSWORD = "bench-test";
export const DATABASE = "sbtest";

/** How tests connect to it with the engine's own driver. */
export const CONNECT = {
  database: DATABASE,
  user: USER,
  password: PASSWORD,
  tls: { mode: "off" },
  connectTimeoutMs: 5000,
  preparedStatements: "auto",
} as const;

export class Mariadb {
  readonly directory: string;
  readonly socket: string;
  readonly port: number;
  /** More arguments for the next start. */
  readonly extra: string[];
  readonly #cpu: string | undefined;
  #process: ChildProcess | null = null;

  private constructor(directory: string, port: number, options: MariadbOptions) {
    this.directory = directory;
    this.socket = join(directory, "socket");
    this.port = port;
    this.extra = [...(options.args ?? [])];
    this.#cpu = options.cpu;
  }

  /**
   * Installs the data directory and starts the server, with database `sbtest` and user `bench`. Throws with the end of
   * the server's log.
   */
  static async start(options: MariadbOptions = {}): Promise<Mariadb> {
    const directory = mkdtempSync(join(tmpdir(), "meshbench-mariadb-"));
    const server = new Mariadb(directory, options.port ?? (await freePort()), options);
    try {
      const root = process.getuid?.() === 0;
      // A server that starts deletes every #sql* file of its temporary directory, another server's too.
      mkdirSync(join(directory, "tmp"));
      if (root) {
        const [uid, gid] = ["-u", "-g"].map((flag) =>
          Number(spawnSync("id", [flag, "mysql"], { encoding: "utf8" }).stdout),
        );
        for (const mine of [directory, join(directory, "tmp")]) chownSync(mine, uid as number, gid as number);
      }
      chmodSync(directory, 0o755);
      const installed = spawnSync(
        "mariadb-install-db",
        [
          `--datadir=${join(directory, "data")}`,
          `--tmpdir=${join(directory, "tmp")}`,
          "--auth-root-authentication-method=normal",
          "--skip-test-db",
          ...(root ? ["--user=mysql"] : []),
        ],
        { encoding: "utf8" },
      );
      if (installed.status !== 0) throw new Error(`mariadb-install-db: ${installed.stderr}${installed.stdout}`);
      await server.startAgain();
      server.sql(
        `CREATE DATABASE ${DATABASE}; CREATE USER ${USER}@'127.0.0.1' IDENTIFIED BY '${PASSWORD}'; GRANT ALL ON *.* TO ${USER}@'127.0.0.1'`,
      );
      return server;
    } catch (error) {
      await server.stop();
      throw error;
    }
  }

  get pid(): number {
    return this.#process?.pid ?? 0;
  }

  /** Starts the server on the data it has. */
  async startAgain(): Promise<void> {
    const args = [
      "--no-defaults",
      `--datadir=${join(this.directory, "data")}`,
      `--tmpdir=${join(this.directory, "tmp")}`,
      `--socket=${this.socket}`,
      `--port=${this.port}`,
      "--bind-address=127.0.0.1",
      `--pid-file=${join(this.directory, "pid")}`,
      `--log-error=${join(this.directory, "log")}`,
      "--skip-name-resolve",
      "--innodb-buffer-pool-size=256M",
      "--innodb-flush-log-at-trx-commit=2",
      "--max-connections=400",
      ...(process.getuid?.() === 0 ? ["--user=mysql"] : []),
      ...this.extra,
    ];
    const command = this.#cpu === undefined ? ["mariadbd", ...args] : ["taskset", "-c", this.#cpu, "mariadbd", ...args];
    const child = spawn(command[0] as string, command.slice(1), { stdio: "ignore" });
    this.#process = child;
    for (let i = 0; i < 300; i++) {
      if (child.exitCode !== null) break;
      if (await answers(this.port)) return;
      await sleep(100);
    }
    throw new Error(`mariadbd did not come up on port ${this.port}:\n${this.#log()}`);
  }

  #log(): string {
    try {
      return readFileSync(join(this.directory, "log"), "utf8").split("\n").slice(-15).join("\n");
    } catch {
      return "(no log)";
    }
  }

  /**
   * Runs SQL as root over the socket; returns mariadb's tab-separated output without headings. Throws what the server
   * says, unless it is to go on after errors.
   */
  sql(statement: string, database = "", force = false): string {
    const ran = spawnSync(
      "mariadb",
      [
        "--no-defaults",
        `--socket=${this.socket}`,
        "-uroot",
        "-N",
        "-B",
        ...(force ? ["--force"] : []),
        ...(database ? [database] : []),
        "-e",
        statement,
      ],
      { encoding: "utf8" },
    );
    if (ran.status !== 0 && !force) throw new Error(`mariadb: ${ran.stderr}`);
    return ran.stdout;
  }

  /** Global status counters by name. */
  status(like = "%"): Map<string, number> {
    return new Map(
      this.sql(`SHOW GLOBAL STATUS LIKE '${like}'`)
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => line.split("\t"))
        .map(([name, value]) => [name ?? "", Number(value)]),
    );
  }

  signal(name: NodeJS.Signals): void {
    if (this.pid > 0) process.kill(this.pid, name);
  }

  /** Ends the server at once (its data stay). */
  async kill(): Promise<void> {
    const child = this.#process;
    this.#process = null;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGKILL");
    await gone;
  }

  /** Ends the server and removes its directory. */
  async stop(): Promise<void> {
    await this.kill();
    rmSync(this.directory, { recursive: true, force: true });
  }
}

/** Installs what a private MariaDB needs; a reason to skip when that is not possible here. */
export function mariadbPackages(): ReturnType<typeof ensurePackages> {
  return ensurePackages(["mariadb-server"]);
}

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = net.createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as net.AddressInfo;
      server.close(() => resolve(port));
    });
  });
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect(port, "127.0.0.1");
    socket.once("data", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}
