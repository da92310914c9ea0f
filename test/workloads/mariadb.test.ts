/** The engine on a real MariaDB: every workload, right answers, the server's own counters, TLS, and faults. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { only, runEngine, specFor } from "../../harness/servers/engine.ts";
import { CONNECT, Mariadb, mariadbPackages, PASSWORD } from "../../harness/servers/mariadb.ts";
import type { RunSpec, StepResult } from "../../workloads/contract.ts";
import { mysqlDriver } from "../../workloads/drivers/mysql/driver.ts";
import { cleanup, prepare } from "../../workloads/prepare/index.ts";
import { WORKLOADS } from "../../workloads/registry.ts";

let server: Mariadb;
let missing: string | null = null;
let tls = false;
let seed = 100;

before(async () => {
  const packages = await mariadbPackages();
  if (!packages.ok) {
    missing = packages.reason;
    return;
  }
  server = await Mariadb.start();
  process.env["MESHBENCH_DB_PASSWORD"] = PASSWORD;
  await prepare(specFor([server.port], [{ workload: "oltp_read_write", threads: 1 }], { data: DATA }), QUIET);
  tls = await withCertificate();
});
after(() => server?.stop());

const DATA = { tables: 2, tableSize: 2000 };
const QUIET = { onProgress() {}, signal: new AbortController().signal };

function ready(t: TestContext): boolean {
  if (missing !== null) t.skip(`no MariaDB to test with: ${missing}`);
  return missing === null;
}

/** A self-signed certificate for 127.0.0.1, and the server restarted with it. */
async function withCertificate(): Promise<boolean> {
  const [key, cert] = ["key.pem", "cert.pem"].map((name) => join(server.directory, name));
  const made = spawnSync("openssl", [
    "req",
    "-x509",
    "-newkey",
    "rsa:2048",
    "-nodes",
    "-days",
    "2",
    "-subj",
    "/CN=localhost",
    "-addext",
    "subjectAltName=IP:127.0.0.1,DNS:localhost",
    "-keyout",
    key!,
    "-out",
    cert!,
  ]);
  if (made.status !== 0) return false;
  spawnSync("chown", ["mysql", key!, cert!]);
  await server.kill();
  server.extra.push(`--ssl-key=${key}`, `--ssl-cert=${cert}`);
  await server.startAgain();
  return true;
}

async function fixed(
  workload: string,
  events: number,
  more: { options?: Record<string, string | number>; target?: Partial<RunSpec["target"]>; threads?: number } = {},
): Promise<StepResult> {
  const step = {
    workload,
    threads: more.threads ?? 3,
    warmupSeconds: 0,
    durationSeconds: 120,
    options: { events, ...more.options },
  };
  // A new seed each time: the same one would write texts that are there already, and MySQL counts such an update as no
  // change.
  return only(
    await runEngine(specFor([server.port], [step], { data: DATA, target: more.target ?? {}, spec: { seed: ++seed } })),
  );
}

function delta(before: Map<string, number>, names: string[]): Record<string, number> {
  const now = server.status();
  return Object.fromEntries(names.map((name) => [name, now.get(name)! - before.get(name)!]));
}

for (const workload of WORKLOADS.filter((w) => w !== "bulk_insert" && w !== "oltp_delete")) {
  test(`${workload}: runs without errors, answers have the expected rows and content`, async (t) => {
    if (!ready(t)) return;
    const window = await fixed(workload, 400);
    assert.equal(window.transactions, 400);
    assert.equal(window.errors.total - (window.errors.byCode["1213"] ?? 0), 0, JSON.stringify(window.errors));
    assert.equal(window.driver.path, "fast");
    const checks = window["checks"] as { mismatches: number; sampled: number; sampledWrong: number };
    assert.equal(checks.mismatches, 0);
    assert.equal(checks.sampledWrong, 0);
    if (window.queries.read > 3000) assert.ok(checks.sampled >= 3);
  });
}

test("the server counts what the engine counts", async (t) => {
  if (!ready(t)) return;
  const before = server.status();
  const window = await fixed("oltp_read_write", 100, { threads: 1 });
  const names = [
    "Com_select",
    "Com_update",
    "Com_delete",
    "Com_insert",
    "Com_begin",
    "Com_commit",
    "Com_stmt_execute",
    "Com_stmt_prepare",
  ];
  assert.deepEqual(delta(before, names), {
    Com_select: 1400,
    Com_update: 200,
    Com_delete: 100,
    Com_insert: 100,
    Com_begin: 100,
    Com_commit: 100,
    // BEGIN and COMMIT are prepared too, as sysbench does; nine templates on two tables.
    Com_stmt_execute: 2000,
    Com_stmt_prepare: 20,
  });
  assert.deepEqual(window.queries, { read: 1400, write: 400, other: 200, total: 2000 });
});

test("transaction control as text, for proxies, leaves the server's BEGIN and COMMIT counts the same", async (t) => {
  if (!ready(t)) return;
  const before = server.status();
  await fixed("oltp_read_only", 50, {
    threads: 1,
    target: { endpoints: [{ name: "p", host: "127.0.0.1", port: server.port, role: "proxy" }] },
  });
  assert.deepEqual(delta(before, ["Com_begin", "Com_commit", "Com_select", "Com_stmt_execute"]), {
    Com_begin: 50,
    Com_commit: 50,
    Com_select: 700,
    Com_stmt_execute: 700,
  });
});

test("without prepared statements the same work is sent as text", async (t) => {
  if (!ready(t)) return;
  const before = server.status();
  const window = await fixed("oltp_read_write", 50, { threads: 1, target: { preparedStatements: "disable" } });
  assert.deepEqual(
    delta(before, ["Com_select", "Com_update", "Com_delete", "Com_insert", "Com_begin", "Com_stmt_prepare"]),
    { Com_select: 700, Com_update: 100, Com_delete: 50, Com_insert: 50, Com_begin: 50, Com_stmt_prepare: 0 },
  );
  assert.equal((window["checks"] as { mismatches: number }).mismatches, 0);
});

test("over TLS mysql2's own execute does the same work, and the result says so", async (t) => {
  if (!ready(t)) return;
  if (!tls) return t.skip("no openssl to make a certificate with");
  const endpoint = (host: string): RunSpec["target"]["endpoints"] => [
    { name: "p", host, port: server.port, role: "any" },
  ];
  const target = {
    tls: { mode: "verify" as const, caFile: join(server.directory, "cert.pem") },
    endpoints: endpoint("localhost"),
  };
  const before = server.status();
  const window = await fixed("oltp_read_write", 200, { target });
  assert.equal(window.driver.path, "library");
  assert.equal(window.errors.total - window.errors.restarts, 0, JSON.stringify(window.errors));
  const checks = window["checks"] as { mismatches: number; sampled: number; sampledWrong: number };
  assert.deepEqual([checks.mismatches, checks.sampledWrong], [0, 0]);
  assert.ok(checks.sampled > 0);
  assert.ok(delta(before, ["Com_select"])["Com_select"]! >= 2800);
  const byAddress = await fixed("oltp_read_write", 5, { target: { ...target, endpoints: endpoint("127.0.0.1") } });
  assert.deepEqual([byAddress.transactions, byAddress.errors.total], [5, 0]);
});

test("both paths read the same rows", async (t) => {
  if (!ready(t)) return;
  const sql = "SELECT id, k, c, pad FROM sbtest1 WHERE id BETWEEN ? AND ?";
  const rows = await Promise.all(
    [false, true].map(async (forceLibrary) => {
      const connection = await mysqlDriver.connect(
        { name: "e", host: "127.0.0.1", port: server.port, role: "any" },
        {
          ...CONNECT,
          forceLibrary,
        },
      );
      assert.equal(connection.path, forceLibrary ? "library" : "fast");
      const [statement] = await connection.prepare([{ sql, kind: "read", params: [{ type: "int" }, { type: "int" }] }]);
      statement!.setInt(0, 10);
      statement!.setInt(1, 60);
      const count = await new Promise<number>((resolve, reject) => {
        connection.listener = { done: resolve, failed: reject, lost: reject };
        connection.captureNext();
        statement!.execute();
      });
      const captured = connection.takeRows();
      assert.equal(count, 51);
      await connection.close();
      return captured;
    }),
  );
  assert.equal(rows[0]!.length, 51);
  assert.deepEqual(rows[0], rows[1]);
});

test("deadlocks on a small hot table restart events and lose no row", async (t) => {
  if (!ready(t)) return;
  server.sql("CREATE DATABASE hot");
  const spec = specFor(
    [server.port],
    [{ workload: "oltp_write_only", threads: 16, warmupSeconds: 0, durationSeconds: 4 }],
    { data: { tableSize: 100 }, target: { database: "hot" } },
  );
  await prepare(spec, QUIET);
  const window = only(await runEngine(spec));
  assert.ok(window.transactions > 100 && window.errors.restarts > 0, JSON.stringify(window.errors));
  assert.equal(server.sql("SELECT COUNT(*) FROM sbtest1", "hot").trim(), "100", "every deleted row was inserted again");
  server.sql("DROP DATABASE hot");
});

test("bulk_insert: an event is a row, a second window goes on where the first one stopped", async (t) => {
  if (!ready(t)) return;
  server.sql("CREATE DATABASE bulk");
  const step = { workload: "bulk_insert", threads: 2, warmupSeconds: 0, durationSeconds: 1, repeats: 2 };
  const spec = specFor([server.port], [step], { target: { database: "bulk" } });
  await prepare(spec, QUIET);
  const { result } = await runEngine(spec);
  const rows = Number(server.sql("SELECT (SELECT COUNT(*) FROM sbtest1) + (SELECT COUNT(*) FROM sbtest2)", "bulk"));
  const counted = result.steps.reduce((n, s) => n + s.transactions, 0);
  assert.equal(
    result.steps.reduce((n, s) => n + s.errors.total, 0),
    0,
  );
  // A batch that is under way at a window's end is still answered, and counted apart, with the drain.
  const drained = result.steps.reduce((n, s) => n + (s.outside?.drain.transactions ?? 0), 0);
  assert.ok(counted > 0);
  assert.equal(rows, counted + drained);
  server.sql("DROP DATABASE bulk");
});

test("oltp_delete empties the table and its misses count as other", async (t) => {
  if (!ready(t)) return;
  server.sql("CREATE DATABASE gone");
  const spec = specFor(
    [server.port],
    [{ workload: "oltp_delete", threads: 2, warmupSeconds: 0, durationSeconds: 60, options: { events: 500 } }],
    { data: { tableSize: 300 }, target: { database: "gone" } },
  );
  await prepare(spec, QUIET);
  const window = only(await runEngine(spec));
  const left = Number(server.sql("SELECT COUNT(*) FROM sbtest1", "gone"));
  assert.equal(window.queries.write, 300 - left);
  assert.equal(window.queries.write + window.queries.other, 500);
  await cleanup(spec, QUIET);
  server.sql("DROP DATABASE gone");
});

test("a server that is frozen and goes on: the stall is in the intervals, nothing is lost", async (t) => {
  if (!ready(t)) return;
  const spec = specFor(
    [server.port],
    [{ workload: "oltp_read_write", threads: 4, warmupSeconds: 0, durationSeconds: 5, intervalSeconds: 0.5 }],
    { data: DATA },
  );
  const frozen = sleep(1500).then(async () => {
    server.signal("SIGSTOP");
    await sleep(1500);
    server.signal("SIGCONT");
  });
  const window = only(await runEngine(spec));
  await frozen;
  assert.ok(window.outage!.longestGapSeconds > 1.3, JSON.stringify(window.outage));
  assert.ok(window.outage!.firstSuccessAfter! > window.outage!.gapStartedAt!);
  assert.ok(window.intervals.some((i) => i.tps === 0) && window.intervals.at(-1)!.tps > 0);
  assert.equal(window.errors.total - window.errors.restarts, 0);
  assert.ok(window.complete && window.latency!.max > 1300);
});

test("a server that is killed and comes back: errors are counted, sessions come back, the outage is measured", async (t) => {
  if (!ready(t)) return;
  const spec = specFor(
    [server.port],
    [{ workload: "oltp_read_write", threads: 4, warmupSeconds: 0, durationSeconds: 10, intervalSeconds: 0.5 }],
    { data: DATA },
  );
  const killed = sleep(1500).then(async () => {
    await server.kill();
    await server.startAgain();
  });
  const window = only(await runEngine(spec));
  await killed;
  assert.ok(window.reconnects >= 4 && window.errors.total >= 4, JSON.stringify([window.reconnects, window.errors]));
  assert.ok(
    window.outage!.longestGapSeconds > 0.3 && window.outage!.firstSuccessAfter !== null,
    JSON.stringify(window.outage),
  );
  assert.ok(window.intervals.at(-1)!.tps > 0, "the last interval has transactions again");
  assert.equal(window.intervals.length, 20);
});
