/**
 * A Galera cluster on loopback for tests: one mariadbd per node, private directories, state transfer by rsync, ended by
 * pid.
 */

import type { ChildProcess } from "node:child_process";
import { spawn, spawnSync } from "node:child_process";
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ensurePackages } from "./debian.ts";
import { DATABASE, freePort, PASSWORD, USER } from "./mariadb.ts";

const PROVIDER = "/usr/lib/galera/libgalera_smm.so";

export function galeraPackages(): ReturnType<typeof ensurePackages> {
  return ensurePackages(["mariadb-server", "galera-4", "rsync", "lsof"]);
}

export type GaleraNode = { name: string; port: number; sql(statement: string, database?: string): string };

export class Galera {
  readonly nodes: GaleraNode[] = [];
  readonly #directory: string;
  readonly #processes: ChildProcess[] = [];

  private constructor(directory: string) {
    this.#directory = directory;
  }

  /** Throws with the end of the log of the node that did not come up. */
  static async start(size: number): Promise<Galera> {
    const cluster = new Galera(mkdtempSync(join(tmpdir(), "meshbench-galera-")));
    chmodSync(cluster.#directory, 0o755);
    try {
      const group: number[] = [];
      for (let i = 0; i < size; i++) {
        const port = await freePort();
        const own = await freePort();
        await cluster.#startNode(i, port, own, group);
        group.push(own);
        if (i === 0) {
          cluster.nodes[0]!.sql(
            `CREATE DATABASE ${DATABASE}; CREATE USER ${USER}@'127.0.0.1' IDENTIFIED BY '${PASSWORD}'; GRANT ALL ON *.* TO ${USER}@'127.0.0.1'`,
          );
        }
      }
      return cluster;
    } catch (error) {
      await cluster.stop();
      throw error;
    }
  }

  async stop(): Promise<void> {
    await Promise.all(
      this.#processes.map(async (child) => {
        if (child.exitCode !== null || child.signalCode !== null) return;
        const gone = new Promise((resolve) => child.once("exit", resolve));
        child.kill("SIGKILL");
        await gone;
      }),
    );
    rmSync(this.#directory, { recursive: true, force: true });
  }

  async #startNode(index: number, port: number, groupPort: number, group: number[]): Promise<void> {
    const directory = join(this.#directory, `n${index + 1}`);
    const root = process.getuid?.() === 0;
    // A server deletes all temporary tables that it finds in its tmpdir when it starts: each has its own.
    const scratch = join(directory, "tmp");
    mkdirSync(scratch, { recursive: true });
    if (root) {
      const [uid, gid] = ["-u", "-g"].map((flag) =>
        Number(spawnSync("id", [flag, "mysql"], { encoding: "utf8" }).stdout),
      );
      for (const path of [directory, scratch]) chownSync(path, uid!, gid!);
    }
    const data = join(directory, "data");
    const installed = spawnSync(
      "mariadb-install-db",
      [
        `--datadir=${data}`,
        `--tmpdir=${scratch}`,
        "--auth-root-authentication-method=normal",
        "--skip-test-db",
        ...(root ? ["--user=mysql"] : []),
      ],
      { encoding: "utf8" },
    );
    if (installed.status !== 0) throw new Error(`mariadb-install-db: ${installed.stderr}`);
    const provider = [
      `gmcast.listen_addr=tcp://127.0.0.1:${groupPort}`,
      `ist.recv_addr=127.0.0.1:${await freePort()}`,
      "gcache.size=64M",
      `base_host=127.0.0.1`,
      `base_port=${groupPort}`,
    ].join(";");
    const socket = join(directory, "socket");
    const child = spawn(
      "mariadbd",
      [
        "--no-defaults",
        `--datadir=${data}`,
        `--tmpdir=${scratch}`,
        `--socket=${socket}`,
        `--port=${port}`,
        "--bind-address=127.0.0.1",
        `--pid-file=${join(directory, "pid")}`,
        `--log-error=${join(directory, "log")}`,
        "--skip-name-resolve",
        "--innodb-buffer-pool-size=64M",
        "--innodb-flush-log-at-trx-commit=2",
        "--binlog-format=ROW",
        "--innodb-autoinc-lock-mode=2",
        "--wsrep-on=ON",
        `--wsrep-provider=${PROVIDER}`,
        `--wsrep-provider-options=${provider}`,
        `--wsrep-cluster-address=gcomm://${group.map((other) => `127.0.0.1:${other}`).join(",")}`,
        "--wsrep-cluster-name=meshbench-test",
        `--wsrep-node-name=n${index + 1}`,
        "--wsrep-node-address=127.0.0.1",
        "--wsrep-sst-method=rsync",
        `--wsrep-sst-receive-address=127.0.0.1:${await freePort()}`,
        ...(index === 0 ? ["--wsrep-new-cluster"] : []),
        ...(root ? ["--user=mysql"] : []),
      ],
      { stdio: "ignore" },
    );
    this.#processes.push(child);
    const sql = (statement: string, database = ""): string => {
      const ran = spawnSync(
        "mariadb",
        ["--no-defaults", `--socket=${socket}`, "-uroot", "-N", "-B", ...(database ? [database] : []), "-e", statement],
        { encoding: "utf8" },
      );
      if (ran.status !== 0) throw new Error(`n${index + 1}: ${ran.stderr}`);
      return ran.stdout;
    };
    for (let i = 0; i < 300 && child.exitCode === null; i++) {
      try {
        if (sql("SHOW STATUS LIKE 'wsrep_local_state_comment'").includes("Synced")) {
          this.nodes.push({ name: `n${index + 1}`, port, sql });
          return;
        }
      } catch {
        // Not up yet.
      }
      await sleep(200);
    }
    const log = join(directory, "log");
    throw new Error(
      `Galera node n${index + 1} did not get in sync:\n${existsSync(log) ? readFileSync(log, "utf8").split("\n").slice(-15).join("\n") : "(no log)"}`,
    );
  }
}
