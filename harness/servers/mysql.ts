/**
 * A private MySQL server for tests. Debian 12 has none, so it runs in a root directory of its own with Debian's
 * unstable suite, which is built once per recipe and kept in the cache; it listens on loopback only and is ended by its
 * pid.
 */
import type { ChildProcess } from "node:child_process";
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { cacheBase } from "../../lab/image/cache.ts";
import { machineAptOptions, machineSources } from "../../lab/image/mirror.ts";
import { withLock } from "../../lab/lock.ts";
import { ensurePackages } from "./debian.ts";
import { DATABASE, freePort, PASSWORD, USER } from "./mariadb.ts";

const SUITE = "sid";
const PACKAGES = ["mysql-server"];
const BUILD_LIMIT_MS = 900_000;
/** Where a server's own directory appears inside of the root. */
const INSIDE = "/srv";

export type MysqlRoot = { ok: true; root: string; version: string } | { ok: false; reason: string };

/** The root directory with MySQL in it, built when it is not there; or why it can't be had. */
export async function mysqlRoot(): Promise<MysqlRoot> {
  if (process.getuid?.() !== 0) return { ok: false, reason: "a root directory for MySQL needs root" };
  const recipe = createHash("sha256")
    .update(JSON.stringify([SUITE, PACKAGES]))
    .digest("hex")
    .slice(0, 12);
  const root = join(cacheBase(), "mysql", recipe, "root");
  try {
    if (!existsSync(root))
      await withLock(`mysql ${recipe}`, BUILD_LIMIT_MS, async () => {
        if (!existsSync(root)) await build(root);
      });
  } catch (error) {
    return { ok: false, reason: (error as Error).message };
  }
  const said = spawnSync("chroot", [root, "mysqld", "--no-defaults", "--version"], { encoding: "utf8" });
  const version = /Ver (\S+)/.exec(said.stdout ?? "")?.[1];
  if (version === undefined)
    return { ok: false, reason: `${root}: its mysqld does not run: ${(said.stderr || String(said.error)).trim()}` };
  return { ok: true, root, version };
}

async function build(root: string): Promise<void> {
  const packages = await ensurePackages(["mmdebstrap"]);
  if (!packages.ok) throw new Error(packages.reason);
  const base = dirname(root);
  await rm(base, { recursive: true, force: true });
  await mkdir(base, { recursive: true });
  const partial = join(base, "partial");
  // The same mirror as the machine's own; security updates of a stable suite are none of this one's.
  const mirrors = (await machineSources())
    .map((line) => line.split(" ")[1] ?? "")
    .filter((uri) => /\/debian\/?$/.test(uri));
  const options = [
    'APT::Install-Recommends "false"',
    // This suite's lists are good for a week only, and a mirror that is a cache may be older.
    'Acquire::Check-Valid-Until "false"',
    ...(await machineAptOptions()),
  ];
  const ended = await finished(
    spawn(
      "setpriv",
      [
        ...["--pdeathsig", "KILL", "unshare", "--mount", "--pid", "--fork", "--kill-child=KILL", "--mount-proc", "--"],
        "mmdebstrap",
        "--mode=root",
        "--variant=minbase",
        `--include=${PACKAGES.join(",")}`,
        ...options.map((option) => `--aptopt=${option}`),
        SUITE,
        partial,
        ...new Set(mirrors.map((uri) => `deb ${uri} ${SUITE} main`)),
      ],
      { stdio: ["ignore", "ignore", "pipe"] },
    ),
  );
  if (ended.code !== 0) {
    await rm(base, { recursive: true, force: true });
    const errors = ended.stderr.split("\n").filter((line) => /^(E|Err|W):|error/i.test(line));
    throw new Error(
      `Debian's ${SUITE} suite with ${PACKAGES.join(", ")} can't be had: ${errors.slice(0, 2).join("; ") || `mmdebstrap ended with code ${ended.code}`}`,
    );
  }
  await rename(partial, root);
}

function finished(child: ChildProcess): Promise<{ code: number | null; stderr: string }> {
  return new Promise((resolve, reject) => {
    let stderr = "";
    const late = setTimeout(() => child.kill("SIGKILL"), BUILD_LIMIT_MS);
    child.stderr?.on("data", (chunk) => (stderr += String(chunk)));
    child.once("error", reject);
    child.once("close", (code) => {
      clearTimeout(late);
      resolve({ code, stderr });
    });
  });
}

export interface MysqlOptions {
  /** Extra mysqld arguments; paths as the server sees them, its own directory as /srv. */
  args?: string[];
}

export class Mysql {
  readonly directory: string;
  /** As clients outside of the root see it. */
  readonly socket: string;
  readonly port: number;
  /** More arguments for the next start. */
  readonly extra: string[];
  readonly #root: string;
  #process: ChildProcess | null = null;

  private constructor(root: string, directory: string, port: number, options: MysqlOptions) {
    this.#root = root;
    this.directory = directory;
    this.socket = join(directory, "socket");
    this.port = port;
    this.extra = [...(options.args ?? [])];
  }

  /**
   * Starts a server on fresh data, with database `sbtest` and user `bench` (caching_sha2_password). Throws with the end
   * of its log.
   */
  static async start(root: string, options: MysqlOptions = {}): Promise<Mysql> {
    const directory = mkdtempSync(join(tmpdir(), "meshbench-mysql-"));
    const server = new Mysql(root, directory, await freePort(), options);
    try {
      const [uid, gid] = server.#account();
      for (const path of [directory, join(directory, "tmp")]) {
        mkdirSync(path, { recursive: true });
        chownSync(path, uid, gid);
      }
      chmodSync(directory, 0o755);
      const made = spawnSync("unshare", server.#command(["--initialize-insecure"]), { encoding: "utf8" });
      if (made.status !== 0) throw new Error(`mysqld --initialize-insecure: ${made.stderr}${server.#log()}`);
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
    const child = spawn(
      "unshare",
      this.#command([
        `--port=${this.port}`,
        "--bind-address=127.0.0.1",
        "--mysqlx=OFF",
        "--skip-name-resolve",
        "--innodb-buffer-pool-size=256M",
        "--innodb-flush-log-at-trx-commit=2",
        "--max-connections=400",
        ...this.extra,
      ]),
      { stdio: "ignore" },
    );
    this.#process = child;
    for (let i = 0; i < 600; i++) {
      if (child.exitCode !== null || child.signalCode !== null) break;
      if (existsSync(this.socket) && this.#ask("SELECT 1").status === 0) return;
      await sleep(100);
    }
    throw new Error(`mysqld did not come up on port ${this.port}:\n${this.#log()}`);
  }

  /** The command, after `unshare`: its mounts end with it, and it ends with the test. */
  #command(args: string[]): string[] {
    const mysqld = [
      "mysqld",
      "--no-defaults",
      `--datadir=${INSIDE}/data`,
      `--tmpdir=${INSIDE}/tmp`,
      `--socket=${INSIDE}/socket`,
      `--pid-file=${INSIDE}/pid`,
      `--log-error=${INSIDE}/log`,
      "--secure-file-priv=NULL",
      ...args,
    ];
    const own = ["--reuid=mysql", "--regid=mysql", "--clear-groups", "--pdeathsig=KILL"];
    const script =
      'mount --bind "$1" "$2$3" && mount -t proc proc "$2/proc" && root="$2" && shift 3 && exec chroot "$root" "$@"';
    return [
      "--mount",
      "--",
      "sh",
      "-c",
      script,
      "sh",
      this.directory,
      this.#root,
      INSIDE,
      "setpriv",
      ...own,
      ...mysqld,
    ];
  }

  #account(): [uid: number, gid: number] {
    const line = readFileSync(join(this.#root, "etc/passwd"), "utf8")
      .split("\n")
      .find((l) => l.startsWith("mysql:"));
    const [, , uid, gid] = (line ?? "").split(":");
    if (gid === undefined) throw new Error(`${this.#root} has no account mysql`);
    return [Number(uid), Number(gid)];
  }

  #log(): string {
    try {
      return readFileSync(join(this.directory, "log"), "utf8").split("\n").slice(-15).join("\n");
    } catch {
      return "(no log)";
    }
  }

  #ask(statement: string, database = ""): ReturnType<typeof spawnSync> & { stdout: unknown; stderr: unknown } {
    const client = ["mysql", "--no-defaults", `--socket=${INSIDE}/socket`, "-uroot", "-N", "-B"];
    return spawnSync(
      "nsenter",
      [`--target=${this.pid}`, "--mount", "--root", ...client, ...(database ? [database] : []), "-e", statement],
      { encoding: "utf8", cwd: "/" },
    );
  }

  /** Runs SQL as root over the socket; returns tab-separated output without headings. */
  sql(statement: string, database = ""): string {
    const ran = this.#ask(statement, database);
    if (ran.status !== 0) throw new Error(`mysql: ${String(ran.stderr)}`);
    return String(ran.stdout);
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

  /** Ends the server at once (its data stay). */
  async kill(): Promise<void> {
    const child = this.#process;
    this.#process = null;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGKILL");
    await gone;
    rmSync(this.socket, { force: true });
  }

  /** Ends the server and removes its directory. */
  async stop(): Promise<void> {
    await this.kill();
    rmSync(this.directory, { recursive: true, force: true });
  }
}
