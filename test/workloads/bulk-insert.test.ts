/** bulk_insert: an event is a row that the server has taken, whatever happens to the INSERT that carries it. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import fc from "fast-check";
import { only, runEngine, specFor } from "../../harness/servers/engine.ts";
import { FakeMysql } from "../../harness/servers/fake-mysql.ts";
import { Mariadb, mariadbPackages, PASSWORD } from "../../harness/servers/mariadb.ts";
import type { StepResult } from "../../workloads/contract.ts";
import { prepare } from "../../workloads/prepare/index.ts";
import { rowsThatFit } from "../../workloads/sysbench/others.ts";

let server: Mariadb | null = null;
let missing = "";
before(async () => {
  const packages = await mariadbPackages();
  if (packages.ok) server = await Mariadb.start();
  else missing = packages.reason;
  process.env["MESHBENCH_DB_PASSWORD"] = PASSWORD;
});
after(() => server?.stop());

const QUIET = { onProgress() {}, signal: new AbortController().signal };
const LIMITED = "limited";

/** A database of the test's own, its tables, and an account that read_only stops. */
async function database(on: Mariadb, name: string, threads: number, step: Record<string, unknown>) {
  on.sql(`CREATE DATABASE ${name}; CREATE USER IF NOT EXISTS ${LIMITED}@'127.0.0.1' IDENTIFIED BY '${PASSWORD}'`);
  on.sql(`GRANT ALL ON ${name}.* TO ${LIMITED}@'127.0.0.1'`);
  const spec = specFor(
    [on.port],
    [{ workload: "bulk_insert", threads, warmupSeconds: 0, durationSeconds: 1, intervalSeconds: 0.25, ...step }],
    { target: { database: name, user: LIMITED } },
  );
  await prepare(spec, QUIET);
  const rows = (): number =>
    Array.from({ length: threads }, (_, i) => Number(on.sql(`SELECT COUNT(*) FROM sbtest${i + 1}`, name))).reduce(
      (a, b) => a + b,
    );
  return { spec, rows };
}

/** Rows that the window counts, and those whose INSERT was under way at its close and was taken in the drain. */
const taken = (window: StepResult): number => window.transactions + window.outside!.drain.transactions;

test("every row that counts is in the tables, and every row in the tables counts, over several windows", async (t) => {
  if (server === null) return t.skip(`no MariaDB to test with: ${missing}`);
  const { spec, rows } = await database(server, "whole", 2, { repeats: 2 });
  const { result } = await runEngine(spec);
  const counted = result.steps.map(taken);
  assert.ok(counted.every((n) => n > 0));
  assert.equal(counted[0]! + counted[1]!, rows());
  assert.equal(
    result.steps.reduce((n, s) => n + s.errors.total, 0),
    0,
  );
  const [window] = result.steps;
  assert.ok(window!.queries.write < window!.transactions / 100, "many rows in one INSERT");
  assert.ok(window!.latency!.p50 > 0.5, `the latency is that of an INSERT: ${JSON.stringify(window!.latency)}`);
});

test("a limited number of rows is inserted to the row, by each session its share", async (t) => {
  if (server === null) return t.skip(`no MariaDB to test with: ${missing}`);
  const { spec, rows } = await database(server, "some", 3, { durationSeconds: 60, options: { events: 100_001 } });
  assert.equal(only(await runEngine(spec)).transactions, 100_001);
  assert.equal(rows(), 100_001);
});

test("a server that takes no packet of that size: nothing counts but errors, and connections are paced", async (t) => {
  if (server === null) return t.skip(`no MariaDB to test with: ${missing}`);
  const { spec, rows } = await database(server, "small", 2, {});
  server.sql("SET GLOBAL max_allowed_packet = 65536");
  const window = only(await runEngine(spec));
  server.sql("SET GLOBAL max_allowed_packet = 16777216");
  assert.deepEqual([window.transactions, window.queries.write, rows()], [0, 0, 0]);
  assert.ok(window.errors.total >= 4 && window.errors.total < 60, JSON.stringify(window.errors));
});

test("read-only, and tables that are dropped in mid-run: what was taken before counts, nothing after", async (t) => {
  if (server === null) return t.skip(`no MariaDB to test with: ${missing}`);
  const on = server;
  const stopped = await database(on, "stopped", 2, { durationSeconds: 2 });
  setTimeout(() => on.sql("SET GLOBAL read_only = ON"), 700);
  const window = only(await runEngine(stopped.spec));
  on.sql("SET GLOBAL read_only = OFF");
  assert.equal(taken(window), stopped.rows());
  assert.ok(window.errors.byCode["1290"]! > 0 && window.transactions > 0, JSON.stringify(window.errors));
  assert.equal(window.intervals.at(-1)!.tps, 0);

  const dropped = await database(on, "dropped", 2, { durationSeconds: 2 });
  setTimeout(() => on.sql("DROP TABLE sbtest1, sbtest2", "dropped"), 700);
  const after = only(await runEngine(dropped.spec));
  assert.ok(after.errors.byCode["1146"]! > 0 && after.transactions > 0, JSON.stringify(after.errors));
  assert.ok(after.errors.total < 100, "backed off");
  assert.equal(after.intervals.at(-1)!.tps, 0);
});

test("an answer that is lost: the session goes on after the rows that are there", async (t) => {
  if (server === null) return t.skip(`no MariaDB to test with: ${missing}`);
  const on = server;
  const { spec, rows } = await database(on, "lost", 2, { durationSeconds: 4 });
  const kill = (): void => {
    const ids = on.sql(`SELECT id FROM information_schema.processlist WHERE user = '${LIMITED}'`).trim().split("\n");
    // A session can be gone before it is killed.
    on.sql(ids.map((id) => (id === "" ? "" : `KILL ${id};`)).join(" "), "", true);
  };
  const kills = [500, 1100].map((at) => setTimeout(kill, at));
  const window = only(await runEngine(spec));
  kills.forEach(clearTimeout);
  assert.ok(window.reconnects > 0, JSON.stringify(window.errors));
  assert.ok(
    window.intervals.slice(8).some((i) => i.tps > 0),
    `it goes on: ${JSON.stringify([window.intervals.map((i) => i.tps), window.errors, window.outside])}`,
  );
  // A row whose answer was lost is in the table and does not count.
  assert.ok(window.transactions > 0 && taken(window) <= rows());
});

test("rows that are there already: a new connection asks where to go on, it does not send the same ones for ever", async () => {
  const fake = await FakeMysql.start();
  fake.refuse = ({ sql, connection }) =>
    sql.startsWith("INSERT") && connection === 1 ? { code: 1062, message: "Duplicate entry" } : null;
  try {
    const step = {
      workload: "bulk_insert",
      threads: 1,
      warmupSeconds: 0,
      durationSeconds: 60,
      options: { events: 10 },
    };
    const window = only(await runEngine(specFor([fake.port], [step])));
    assert.deepEqual([window.transactions, window.errors.byCode], [10, { 1062: 2 }]);
  } finally {
    await fake.stop();
  }
});

test("open loop: rows that are due go out together, as many as are offered", async () => {
  const fake = await FakeMysql.start();
  fake.delay = ({ sql }) => (sql.startsWith("INSERT") ? 20 : 0);
  try {
    const step = { workload: "bulk_insert", threads: 1, warmupSeconds: 0, durationSeconds: 1 };
    const window = only(
      await runEngine(specFor([fake.port], [{ ...step, rate: { perSecond: 5000, arrivals: "constant" } }])),
    );
    const { dropped, backlogAtEnd } = window.openLoop as unknown as { dropped: number; backlogAtEnd: number };
    assert.ok(Math.abs(taken(window) + dropped + backlogAtEnd - 5000) <= 2);
    assert.ok(window.transactions > 4000 && window.queries.write < 60, `${window.queries.write} INSERTs`);
  } finally {
    await fake.stop();
  }
});

test("the rows of an INSERT fill the packet, and do not spill over it", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 10_000_000 }), fc.integer({ min: 30, max: 5000 }), (first, bytes) => {
      const n = rowsThatFit(first, bytes);
      const length = (rows: number): number => {
        let sum = 0;
        for (let i = 0; i < rows; i++) sum += `(${first + i},${first + i}),`.length;
        return sum;
      };
      assert.ok(length(n) <= bytes && length(n + 1) > bytes, `${n} rows of ${length(n)} bytes in ${bytes}`);
    }),
  );
});
