/** PostgreSQL behind Debian's pgbouncer, over its socket, and over TLS by address; what a pooler can't do is said. */
import assert from "node:assert/strict";
import type { ChildProcess } from "node:child_process";
import { spawn } from "node:child_process";
import { chmodSync, chownSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import net from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { ensurePackages } from "../../../harness/servers/debian.ts";
import { only, runEngine, specFor } from "../../../harness/servers/engine.ts";
import { freePort } from "../../../harness/servers/mariadb.ts";
import type { PostgresServer } from "../../../harness/servers/postgres.ts";
import { postgresBinaries, startPostgres } from "../../../harness/servers/postgres.ts";
import type { RunSpec, RunSpecInput } from "../../../workloads/contract.ts";
import { checkCapacity } from "../../../workloads/prepare/capacity.ts";
import { prepare } from "../../../workloads/prepare/index.ts";

const binaries = await postgresBinaries();
const packages = await ensurePackages(["pgbouncer"]);
const reason = !binaries.ok ? binaries.reason : !packages.ok ? packages.reason : undefined;
const signal = new AbortController().signal;
const QUIET = { onProgress() {}, signal };

/** A pgbouncer of its own in front of the server, ended by its pid. */
class Pgbouncer {
  readonly port: number;
  readonly #directory: string;
  readonly #process: ChildProcess;

  private constructor(port: number, directory: string, child: ChildProcess) {
    this.port = port;
    this.#directory = directory;
    this.#process = child;
  }

  static async start(server: PostgresServer, mode: "transaction" | "session"): Promise<Pgbouncer> {
    const directory = mkdtempSync(join(tmpdir(), "meshbench-pgbouncer-"));
    const port = await freePort();
    const settings = [
      "[databases]",
      `* = host=127.0.0.1 port=${server.port}`,
      "[pgbouncer]",
      "listen_addr = 127.0.0.1",
      `listen_port = ${port}`,
      "unix_socket_dir =",
      "auth_type = plain",
      `auth_file = ${directory}/users`,
      `pool_mode = ${mode}`,
      "default_pool_size = 5",
      "max_client_conn = 500",
      "ignore_startup_parameters = extra_float_digits",
    ];
    writeFileSync(join(directory, "ini"), `${settings.join("\n")}\n`);
    writeFileSync(join(directory, "users"), `"${server.user}" "${server.password}"\n`);
    // It refuses to run as root; the server's own account is at hand.
    const owner = statSync(`/proc/${server.pid}`);
    for (const file of ["", "ini", "users"]) chownSync(join(directory, file), owner.uid, owner.gid);
    chmodSync(directory, 0o700);
    const log = join(directory, "log");
    const child = spawn(
      "setpriv",
      [
        `--reuid=${owner.uid}`,
        `--regid=${owner.gid}`,
        "--clear-groups",
        "--pdeathsig=TERM",
        "pgbouncer",
        join(directory, "ini"),
      ],
      { stdio: ["ignore", "ignore", "pipe"] },
    );
    let said = "";
    child.stderr?.on("data", (chunk) => (said += String(chunk)));
    for (let i = 0; i < 100; i++) {
      if (await listens(port)) return new Pgbouncer(port, directory, child);
      if (child.exitCode !== null) break;
      await sleep(100);
    }
    child.kill("SIGKILL");
    rmSync(directory, { recursive: true, force: true });
    throw new Error(`pgbouncer did not come up: ${said || log}`);
  }

  async stop(): Promise<void> {
    const gone = new Promise((resolve) => this.#process.once("exit", resolve));
    this.#process.kill("SIGKILL");
    await gone;
    rmSync(this.#directory, { recursive: true, force: true });
  }
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect(port, "127.0.0.1");
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}

describe("PostgreSQL's sessions", { skip: reason === undefined ? false : `SKIPPED: ${reason}` }, () => {
  let server: PostgresServer;
  before(async () => {
    assert.ok(binaries.ok);
    server = await startPostgres(binaries.bin, { max_connections: "20" });
    process.env["MESHBENCH_DB_PASSWORD"] = server.password;
    await prepare(spec(server.port), QUIET);
  });
  after(() => server?.stop());

  function spec(
    port: number,
    target: Partial<RunSpecInput["target"]> = {},
    threads = 8,
    at: { host?: string; socket?: string; role?: "proxy" } = {},
  ): RunSpec {
    return specFor(
      [port],
      [{ workload: "oltp_read_write", threads, warmupSeconds: 0, durationSeconds: 20, options: { events: 400 } }],
      {
        target: {
          driver: "postgres",
          user: server.user,
          endpoints: [{ name: "a", host: "127.0.0.1", port, ...at }],
          ...target,
        },
        data: { tables: 2, tableSize: 2000 },
      },
    );
  }
  const engine = (wanted: RunSpec) => runEngine(wanted, { password: server.password });

  test("pgbouncer in transaction mode: refused before the run with the way out, which works", async () => {
    const bouncer = await Pgbouncer.start(server, "transaction");
    try {
      assert.match(
        (await checkCapacity(spec(bouncer.port), { signal })).join("\n"),
        /^127\.0\.0\.1:\d+: a pooler that gives each transaction another server session .*use --db-ps-mode disable/,
      );
      const disabled = spec(bouncer.port, { preparedStatements: "disable" }, 40);
      assert.deepEqual(await checkCapacity(disabled, { signal }), [], "40 clients on 5 sessions are no shortage");
      const window = only(await engine(disabled));
      assert.deepEqual([window.complete, window.transactions, window.driver.path], [true, 400, "fast"]);
      assert.equal(window.errors.total - window.errors.restarts, 0, JSON.stringify(window.errors));
      // Without the check: no endless 42P05 without a word.
      const { result } = await engine({
        ...spec(bouncer.port),
        steps: spec(bouncer.port).steps.map((s) => ({ ...s, durationSeconds: 1 })),
      });
      assert.equal(result.complete, false);
      assert.match(result.incompleteReason ?? "", /--db-ps-mode disable/);
    } finally {
      await bouncer.stop();
    }
  });

  test("pgbouncer in session mode keeps statements", async () => {
    const bouncer = await Pgbouncer.start(server, "session");
    try {
      assert.deepEqual(await checkCapacity(spec(bouncer.port, {}, 4), { signal }), []);
      const window = only(await engine(spec(bouncer.port, {}, 4)));
      assert.deepEqual([window.complete, window.transactions], [true, 400]);
    } finally {
      await bouncer.stop();
    }
  });

  test("max_connections, less what is kept for superusers, and a role's own limit are known before the run", async () => {
    assert.deepEqual(await checkCapacity(spec(server.port), { signal }), []);
    assert.match(
      (await checkCapacity(spec(server.port, {}, 18), { signal })).join("\n"),
      /^max_connections: 20 on 127\.0\.0\.1:\d+, 17 of it free; expected 18 for oltp_read_write with 18 threads$/,
    );
    await server.admin(`ALTER ROLE ${server.user} CONNECTION LIMIT 6`);
    assert.match(
      (await checkCapacity(spec(server.port), { signal })).join("\n"),
      /CONNECTION LIMIT: 6 on .*expected 8/,
    );
    await server.admin(`ALTER ROLE ${server.user} CONNECTION LIMIT -1`);
  });

  test("over the server's socket, by the fast path and by the library", async () => {
    const at = { host: "localhost", socket: server.socket };
    assert.equal((await prepare(spec(server.port, {}, 4, at), QUIET)).reused, true);
    const window = only(await engine(spec(server.port, {}, 4, at)));
    assert.deepEqual([window.transactions, window.driver.path], [400, "fast"]);
    await assert.rejects(
      prepare(spec(server.port, {}, 4, { host: "localhost", socket: "/none" }), QUIET),
      /^Error: \/none: .*ENOENT/,
    );
    assert.ok(readFileSync("/proc/net/unix", "utf8").includes(`${server.socket}/.s.PGSQL.${server.port}`));
  });
});
