/**
 * A PostgreSQL server of a test's own: Debian's binaries, a private data directory, loopback only, stopped by its
 * process id.
 */

import type { ChildProcess } from "node:child_process";
import { spawn, spawnSync } from "node:child_process";
import { chownSync, existsSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { ensurePackages } from "./debian.ts";

export type PostgresServer = {
  port: number;
  user: string;
  password: string;
  database: string;
  /** As superuser, over the socket, which asks for no password. */
  admin(sql: string): Promise<Record<string, unknown>[]>;
  pid: number;
  /** The directory of its socket. */
  socket: string;
  version: string;
  stop(): Promise<void>;
};

const ROOT = "/usr/lib/postgresql";

/** The newest installed server's bin directory, or why there is none. */
export async function postgresBinaries(): Promise<{ ok: true; bin: string } | { ok: false; reason: string }> {
  const find = (): string | undefined => {
    if (!existsSync(ROOT)) return undefined;
    const versions = readdirSync(ROOT)
      .filter((v) => existsSync(join(ROOT, v, "bin/postgres")))
      .sort((a, b) => Number(b) - Number(a));
    return versions[0] === undefined ? undefined : join(ROOT, versions[0], "bin");
  };
  if (find() === undefined) {
    const packages = await ensurePackages(["postgresql-15"]);
    if (!packages.ok) return packages;
  }
  const bin = find();
  return bin === undefined ? { ok: false, reason: `no PostgreSQL server under ${ROOT}` } : { ok: true, bin };
}

/**
 * `settings`: lines for the command line (`-c name=value`). `wrapper`: a command that the server runs under, e.g.
 * taskset.
 * Throws when the server does not come up within 30 s, with the last lines of its log.
 */
export async function startPostgres(
  bin: string,
  settings: Record<string, string> = {},
  wrapper: string[] = [],
): Promise<PostgresServer> {
  const directory = mkdtempSync(join(tmpdir(), "meshbench-postgres-"));
  // The server refuses to run as root.
  const account = process.getuid?.() === 0 ? ownAccount() : undefined;
  if (account) chownSync(directory, account.uid, account.gid);
  const asOwner = account ? ["setpriv", `--reuid=${account.uid}`, `--regid=${account.gid}`, "--clear-groups"] : [];
  const user = "meshbench";
  const password = "meshbench-test";
  const data = join(directory, "data");
  const init = run([
    ...asOwner,
    join(bin, "initdb"),
    "-D",
    data,
    "-U",
    "postgres",
    "--auth-local=trust",
    "--auth-host=scram-sha-256",
    "--no-sync",
    "-E",
    "UTF8",
    "--locale=C",
  ]);
  if (init.status !== 0) {
    rmSync(directory, { recursive: true, force: true });
    throw new Error(`initdb failed: ${init.stderr.trim().split("\n").at(-1)}`);
  }
  const port = await freePort();
  const options = {
    listen_addresses: "127.0.0.1",
    unix_socket_directories: directory,
    port: String(port),
    fsync: "off",
    ...settings,
  };
  const [command, ...args] = [
    ...wrapper,
    ...asOwner,
    join(bin, "postgres"),
    "-D",
    data,
    ...Object.entries(options).flatMap(([k, v]) => ["-c", `${k}=${v}`]),
  ];
  const log = join(directory, "log");
  const file = openSync(log, "w");
  const child = spawn(command!, args, { stdio: ["ignore", file, file] });
  const stop = async (): Promise<void> => {
    await end(child);
    rmSync(directory, { recursive: true, force: true });
  };
  const admin = async (sql: string, database = "sbtest"): Promise<Record<string, unknown>[]> => {
    const client = new pg.Client({ host: directory, port, user: "postgres", database });
    await client.connect();
    try {
      const result = await client.query(sql);
      return Array.isArray(result) ? [] : (result.rows as Record<string, unknown>[]);
    } finally {
      await client.end();
    }
  };
  try {
    await ready(child, () => admin("SELECT 1", "postgres"), log);
    await admin(`CREATE ROLE ${user} LOGIN PASSWORD '${password}'`, "postgres");
    await admin(`CREATE DATABASE sbtest OWNER ${user}`, "postgres");
    const version = String((await admin("SHOW server_version"))[0]?.["server_version"]);
    return {
      port,
      user,
      password,
      database: "sbtest",
      admin: (sql) => admin(sql),
      pid: child.pid!,
      socket: directory,
      version,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function ready(child: ChildProcess, probe: () => Promise<unknown>, log: string): Promise<void> {
  const deadline = Date.now() + 30_000;
  for (;;) {
    try {
      await probe();
      return;
    } catch (error) {
      if (child.exitCode !== null || Date.now() > deadline) {
        throw new Error(
          `the server did not come up: ${readFileSync(log, "utf8").trim().split("\n").slice(-3).join(" | ")}`,
          { cause: error },
        );
      }
      await sleep(100);
    }
  }
}

/** SIGINT is PostgreSQL's fast shutdown. */
async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  child.kill("SIGINT");
  const timer = setTimeout(() => child.kill("SIGQUIT"), 10_000);
  await gone;
  clearTimeout(timer);
}

function ownAccount(): { uid: number; gid: number } {
  for (const name of ["postgres", "nobody"]) {
    const entry = run(["getent", "passwd", name]).stdout.split(":");
    if (entry.length > 3) return { uid: Number(entry[2]), gid: Number(entry[3]) };
  }
  throw new Error("no account to run PostgreSQL under: neither postgres nor nobody exists");
}

function run(command: string[]): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(command[0]!, command.slice(1), { encoding: "utf8" });
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}
