/** The engine on a fake server: what it sends, what it counts, and that nothing hangs or is lost. */
import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { pathToFileURL } from "node:url";
import { CLI, only, runEngine, specFor } from "../../../harness/servers/engine.ts";
import type { FakeStatement } from "../../../harness/servers/fake-mysql.ts";
import { FakeMysql } from "../../../harness/servers/fake-mysql.ts";
import type { Interval } from "../../../workloads/contract.ts";
import { runResultSchema } from "../../../workloads/contract.ts";
import { Latencies } from "../../../workloads/engine/figures/histogram.ts";
import { merge } from "../../../workloads/engine/figures/merge.ts";
import { Attempts, PartialFile } from "../../../workloads/engine/output.ts";

let fake: FakeMysql;
let other: FakeMysql;
let directory: string;
beforeEach(async () => {
  [fake, other] = await Promise.all([FakeMysql.start(), FakeMysql.start()]);
  directory = mkdtempSync(join(tmpdir(), "meshbench-engine-"));
});
afterEach(async () => {
  await Promise.all([fake.stop(), other.stop()]);
  rmSync(directory, { recursive: true, force: true });
});

const events = (
  n: number,
  more = {},
): { warmupSeconds: 0; durationSeconds: number; options: Record<string, number | string> } => ({
  warmupSeconds: 0,
  durationSeconds: 60,
  options: { events: n, ...more },
});

async function stream(seed: number, workers?: number): Promise<Map<number, FakeStatement[]>> {
  fake.log.length = 0;
  fake.keepLog = true;
  await runEngine(
    specFor([fake.port], [{ workload: "oltp_read_only", threads: 3, ...events(30) }], {
      data: { tables: 3, tableSize: 1000 },
      spec: { seed, ...(workers ? { workers } : {}) },
    }),
  );
  // Connections are numbered as they come in: the first point select of a session tells which one it is.
  const byConnection = Map.groupBy(fake.log, (s) => s.connection);
  return new Map([...byConnection.values()].map((list, i) => [i, list]));
}

test("same seed, same statements per connection, however many event loops drive them; another seed, other ones", async () => {
  const key = (streams: Map<number, FakeStatement[]>): string[] =>
    [...streams.values()].map((list) => JSON.stringify(list.slice(0, 80).map((s) => [s.sql, s.params]))).toSorted();
  const first = key(await stream(7));
  assert.deepEqual(key(await stream(7)), first);
  assert.deepEqual(key(await stream(7, 3)), first);
  assert.notDeepEqual(key(await stream(8)), first);
});

test("an event is sysbench's sequence of statements, on one table per group", async () => {
  fake.keepLog = true;
  const window = only(
    await runEngine(
      specFor([fake.port], [{ workload: "oltp_read_write", threads: 1, ...events(20) }], {
        data: { tables: 5, tableSize: 1000 },
      }),
    ),
  );
  assert.equal(window.transactions, 20);
  assert.deepEqual(window.queries, { read: 280, write: 80, other: 40, total: 400 });
  const event = fake.log.slice(0, 20).map((s) => s.sql.replace(/sbtest\d+/, "T"));
  assert.deepEqual(event, [
    "BEGIN",
    ...Array.from({ length: 10 }, () => "SELECT c FROM T WHERE id=?"),
    "SELECT c FROM T WHERE id BETWEEN ? AND ?",
    "SELECT SUM(k) FROM T WHERE id BETWEEN ? AND ?",
    "SELECT c FROM T WHERE id BETWEEN ? AND ? ORDER BY c",
    "SELECT DISTINCT c FROM T WHERE id BETWEEN ? AND ? ORDER BY c",
    "UPDATE T SET k=k+1 WHERE id=?",
    "UPDATE T SET c=? WHERE id=?",
    "DELETE FROM T WHERE id=?",
    "INSERT INTO T (id, k, c, pad) VALUES (?, ?, ?, ?)",
    "COMMIT",
  ]);
  for (let at = 0; at < 400; at += 20) {
    const table = (i: number): string => /sbtest\d+/.exec(fake.log[at + i]!.sql)![0];
    assert.equal(
      new Set(Array.from({ length: 10 }, (_, i) => table(i + 1))).size,
      1,
      "point selects of an event stay on one table",
    );
    assert.equal(table(17), table(18), "DELETE and INSERT hit one table");
  }
  const range = fake.log[11]!.params;
  assert.equal(range[1], range[0]! + 99);
  assert.ok(new Set(fake.log.map((s) => /sbtest\d+/.exec(s.sql)?.[0])).size > 4);
});

test("behind a proxy, transaction control is text and types go with every execution", async () => {
  fake.keepLog = true;
  const spec = specFor([fake.port], [{ workload: "oltp_read_only", threads: 1, ...events(2) }], {
    target: { endpoints: [{ name: "p", host: "127.0.0.1", port: fake.port, role: "proxy" }] },
  });
  assert.equal(only(await runEngine(spec)).transactions, 2);
  assert.equal(fake.log.filter((s) => s.sql === "BEGIN").length, 2);
  assert.equal(fake.log.filter((s) => s.sql === "COMMIT").length, 2);
});

test("a deadlock restarts the event inside its timer and is counted; after a lock timeout the half transaction is rolled back first", async () => {
  fake.keepLog = true;
  let updates = 0;
  fake.refuse = ({ sql }) => {
    if (!/^UPDATE.*k=k/.test(sql)) return null;
    updates++;
    return updates === 2
      ? { code: 1213, message: "Deadlock found" }
      : updates === 4
        ? { code: 1205, message: "Lock wait timeout exceeded" }
        : null;
  };
  fake.delay = ({ sql }) => (sql === "BEGIN" ? 20 : 0);
  const window = only(
    await runEngine(specFor([fake.port], [{ workload: "oltp_write_only", threads: 1, ...events(5) }])),
  );
  assert.equal(window.transactions, 5);
  assert.deepEqual(window.errors, {
    total: 2,
    byCode: { 1213: 1, 1205: 1 },
    restarts: 2,
    messages: { 1213: "Deadlock found (1213)", 1205: "Lock wait timeout exceeded (1205)" },
  });
  assert.equal(fake.log.filter((s) => s.sql === "ROLLBACK").length, 1);
  assert.equal(fake.log[fake.log.findIndex((s) => s.sql === "ROLLBACK") + 1]!.sql, "BEGIN");
  assert.equal(fake.log.filter((s) => s.sql === "BEGIN").length, 7);
  assert.ok(window.latency!.max >= 39, `the restarted event took two BEGINs: ${window.latency!.max}`);
});

test("a node that can't serve is backed off from, and left for another endpoint", async () => {
  fake.refuse = ({ sql }) =>
    sql === "BEGIN" ? { code: 1047, message: "WSREP has not yet prepared node for application use" } : null;
  const window = only(
    await runEngine(
      specFor(
        [fake.port, other.port],
        [{ workload: "oltp_write_only", threads: 4, warmupSeconds: 0, durationSeconds: 2 }],
      ),
    ),
  );
  assert.ok(window.transactions > 50);
  assert.ok(
    window.errors.byCode["1047"]! >= 4 && window.errors.byCode["1047"]! < 400,
    `${window.errors.byCode["1047"]} refusals: backed off`,
  );
  assert.ok(window.reconnects >= 2);
  assert.ok(window.complete);
});

test("cut connections are counted and made again, elsewhere when there is somewhere else", async () => {
  const before = other.connections;
  const timer = setTimeout(() => {
    fake.cut();
    fake.greeting = { code: 1053, message: "Server shutdown in progress" };
  }, 700);
  const window = only(
    await runEngine(
      specFor(
        [fake.port, other.port],
        [{ workload: "oltp_read_write", threads: 6, warmupSeconds: 0, durationSeconds: 2 }],
        { target: { policy: "first-alive" } },
      ),
    ),
  );
  clearTimeout(timer);
  assert.ok(window.reconnects >= 6);
  assert.ok(other.connections - before >= 6, "all went to the other endpoint");
  assert.ok(
    (window.errors.byCode["2013"] ?? 0) + (window.errors.byCode["ECONNRESET"] ?? 0) >= 6,
    JSON.stringify(window.errors),
  );
  assert.ok(window.intervals.at(-1)!.tps > 0);
});

test("a silent server holds no session past the statement timeout, and the outage is in the result", async () => {
  const timer = setTimeout(() => fake.stall(), 600);
  const window = only(
    await runEngine(
      specFor(
        [fake.port],
        [{ workload: "oltp_point_select", threads: 3, warmupSeconds: 0, durationSeconds: 2, intervalSeconds: 0.5 }],
        { target: { statementTimeoutMs: 300, connectTimeoutMs: 300 } },
      ),
    ),
  );
  clearTimeout(timer);
  assert.ok((window.errors.byCode["statement-timeout"] ?? 0) >= 3, JSON.stringify(window.errors));
  assert.ok(
    window.outage!.longestGapSeconds > 1 && window.outage!.firstSuccessAfter === null,
    JSON.stringify(window.outage),
  );
  assert.equal(window.intervals.at(-1)!.tps, 0);
  assert.equal(window.intervals.at(-1)!.p95, null);
});

test("events under way when the window closes end in the drain: in the latencies, in no count and no length", async () => {
  fake.delay = () => 400;
  const run = await runEngine(
    specFor([fake.port], [{ workload: "oltp_point_select", threads: 5, warmupSeconds: 0, durationSeconds: 1 }]),
  );
  const window = only(run);
  assert.equal(window.transactions, 10);
  assert.equal(window.queries.read, 10);
  assert.deepEqual(window.drain, { drained: 5, abandoned: 0 });
  assert.equal(window.outside!.drain.queries, 5);
  assert.equal(window.windowSeconds, 1);
  assert.equal(Latencies.decode(window.histogram!, window.latency).count, 15);
  assert.equal(window.complete, true);
});

test("wrong numbers of rows are mismatches", async () => {
  fake.missing = ({ sql }) => (/WHERE id BETWEEN/.test(sql) ? 1 : 0);
  const window = only(
    await runEngine(
      specFor(
        [fake.port],
        [
          {
            workload: "oltp_read_only",
            threads: 1,
            ...events(4, { point_selects: 3, range_size: 2, sum_ranges: 0, order_ranges: 0, distinct_ranges: 0 }),
          },
        ],
        // Ranges that go beyond the end may return anything.
        { data: { tableSize: 1_000_000 } },
      ),
    ),
  );
  assert.deepEqual(window["checks"], { mismatches: 4, sampled: 1, sampledWrong: 0 });
});

test("reconnect every N events, and randomly", async () => {
  const connections = async (reconnect: "random" | number): Promise<number> => {
    const before = fake.connections;
    const window = only(
      await runEngine(
        specFor([fake.port], [{ workload: "oltp_point_select", threads: 1, ...events(100) }], {
          target: { reconnect },
        }),
      ),
    );
    assert.equal(window.transactions, 100);
    assert.equal(window.reconnects, fake.connections - before - 1);
    return fake.connections - before;
  };
  assert.equal(await connections(10), 10);
  const random = await connections("random");
  assert.ok(random > 30 && random < 70, `${random} connections`);
});

test("read/write split by role: reads to the replica, writes to the primary, a transaction as a whole to the primary", async () => {
  const target = {
    policy: "read-write-split" as const,
    endpoints: [
      { name: "w", host: "127.0.0.1", port: fake.port, role: "primary" as const },
      { name: "r", host: "127.0.0.1", port: other.port, role: "replica" as const },
    ],
  };
  fake.keepLog = other.keepLog = true;
  await runEngine(
    specFor([fake.port], [{ workload: "oltp_read_write", threads: 2, ...events(5, { skip_trx: "on" }) }], { target }),
  );
  assert.deepEqual([fake.log.length, other.log.length], [20, 70]);
  assert.ok(other.log.every((s) => /^SELECT/.test(s.sql)));
  fake.log.length = other.log.length = 0;
  await runEngine(specFor([fake.port], [{ workload: "oltp_read_write", threads: 2, ...events(5) }], { target }));
  assert.deepEqual([fake.log.length, other.log.length], [100, 0]);
  fake.log.length = 0;
  await runEngine(specFor([fake.port], [{ workload: "oltp_read_only", threads: 2, ...events(5) }], { target }));
  assert.deepEqual([fake.log.length, other.log.length], [0, 80]);
});

test("ids that the client makes are new in every window of a run, and the same in the same run", async () => {
  fake.keepLog = true;
  const step = { workload: "oltp_insert", threads: 2, ...events(200, { auto_inc: "off" }), repeats: 2 };
  const ids = async (): Promise<string[]> => {
    fake.log.length = 0;
    await runEngine(specFor([fake.port], [step, { ...step, threads: 3, repeats: 1 }]));
    return fake.log.flatMap(({ sql }) => /VALUES \((-?\d+),/.exec(sql)?.[1] ?? []);
  };
  const first = await ids();
  assert.equal(first.length, 600);
  assert.equal(new Set(first).size, 600, "no id twice");
  assert.deepEqual((await ids()).toSorted(), first.toSorted());
});

test("connections are opened at the limited rate", async () => {
  const started = performance.now();
  await runEngine(
    specFor([fake.port], [{ workload: "oltp_point_select", threads: 10, ...events(10) }], {
      target: { connectRate: 20 },
    }),
  );
  assert.ok(performance.now() - started > 440, "ten connections at 20 per second");
});

test("several event loops together: nothing is lost", async () => {
  const window = only(
    await runEngine(
      specFor([fake.port], [{ workload: "oltp_point_select", threads: 6, ...events(600) }], { spec: { workers: 3 } }),
    ),
  );
  assert.equal(window.transactions, 600);
  assert.equal(window.driver["loops"], 3);
});

test("a load thread that dies leaves a result of the others, marked incomplete", async () => {
  const entry = join(directory, "entry.mjs");
  writeFileSync(
    entry,
    `import { workerData } from "node:worker_threads";
    if (workerData.task.loop === 1) setTimeout(() => { throw new Error("killed by the test"); }, 1500);
    await import(${JSON.stringify(CLI.href)});`,
  );
  const { result } = await runEngine(
    specFor([fake.port], [{ workload: "oltp_point_select", threads: 4, warmupSeconds: 0, durationSeconds: 3 }], {
      spec: { workers: 2 },
    }),
    { entry: pathToFileURL(entry) },
  );
  const window = result.steps[0]!;
  assert.equal(window.complete, false);
  assert.match(window.incompleteReason!, /a load thread died: killed by the test/);
  assert.ok(window.transactions > 0);
  assert.equal(window.intervals.length, 3, "the intervals go on without the dead thread");
});

test("an aborted run keeps what it has, marked incomplete, and the file is a valid result", async () => {
  const out = join(directory, "result.json");
  const stop = new AbortController();
  const spec = specFor(
    [fake.port],
    [1, 2, 3].map((threads) => ({
      workload: "oltp_point_select",
      threads,
      warmupSeconds: 0,
      durationSeconds: threads === 2 ? 60 : 0.5,
      intervalSeconds: 0.25,
    })),
  );
  const { result } = await runEngine(spec, {
    signal: stop.signal,
    out,
    onLine(line) {
      if (/^2\/3 \[ 0\.25s/.test(line)) stop.abort("SIGTERM");
      if (/^2\/3/.test(line)) assert.ok(existsSync(`${out}.partial`) || stop.signal.aborted);
    },
  });
  assert.equal(result.complete, false);
  assert.match(result.incompleteReason!, /SIGTERM/);
  assert.equal(result.steps.length, 2);
  assert.equal(result.steps[0]!.complete, true);
  assert.equal(result.steps[1]!.complete, false);
  assert.ok(result.steps[1]!.transactions > 0 && result.steps[1]!.windowSeconds < 10);
  const kept = runResultSchema.parse(JSON.parse(readFileSync(out, "utf8")));
  assert.equal(kept.steps.length, 2);
  assert.equal(existsSync(`${out}.partial`), false);
});

test("files that can't be written any more are said, and the windows are kept", async () => {
  const folder = join(directory, "gone");
  mkdirSync(folder);
  const step = {
    workload: "oltp_point_select",
    threads: 1,
    warmupSeconds: 0,
    durationSeconds: 0.6,
    intervalSeconds: 0.1,
  };
  const out = join(folder, "result.json");
  const { result, lines } = await runEngine(specFor([fake.port], [{ ...step, repeats: 2 }]), {
    out,
    status: "/dev/full",
    onLine(line) {
      if (line.startsWith("2/2 [")) rmSync(folder, { recursive: true, force: true });
    },
  });
  assert.equal(result.complete, true);
  assert.deepEqual(
    result.steps.map((s) => s.intervals.length),
    [6, 6],
  );
  assert.match(String(result["unsaved"]), /result\.json: cannot be written: the folder .* does not exist/);
  const said = (pattern: RegExp): number => lines.filter((line) => pattern.test(line)).length;
  assert.equal(said(/\.partial: cannot be written: the folder/), 1, "once, not with every interval");
  assert.equal(said(/\/dev\/full: cannot be written: no space is left/), 1);
  await assert.rejects(
    runEngine(specFor([fake.port], [step]), { out }),
    /cannot be written/,
    "but before a run it is refused",
  );
});

test("a file that can be written again gets the next intervals, after a line that may be half", () => {
  const said: string[] = [];
  const partial = new PartialFile(join(directory, "late", "x.json"), new Attempts((line) => said.push(line)));
  const entry = (t: number) => ({ step: 0, repeat: 0, interval: { t } as Interval });
  partial.append(entry(1));
  partial.append(entry(2));
  mkdirSync(join(directory, "late"));
  partial.append(entry(3));
  partial.append(entry(4));
  assert.equal(said.length, 2);
  assert.match(said[1]!, /can be written again/);
  const lines = readFileSync(join(directory, "late", "x.json.partial"), "utf8")
    .split("\n")
    .filter(Boolean);
  assert.deepEqual(
    lines.map((line) => (JSON.parse(line) as { interval: Interval }).interval.t),
    [3, 4],
  );
});

test("drivers that start together: each takes its share, the merged result adds up", async () => {
  const startAt = new Date(Date.now() + 1500).toISOString();
  const step = { workload: "oltp_point_select", threads: 5, warmupSeconds: 0.5, durationSeconds: 1, repeats: 2 };
  const shares = await Promise.all(
    [0, 1].map((index) =>
      runEngine(specFor([fake.port], [{ ...step, repeats: 1 }], { spec: { drivers: { index, count: 2, startAt } } })),
    ),
  );
  const results = shares.map((share) => share.result);
  const merged = merge(results);
  const window = merged.steps[0]!;
  assert.equal(
    window.transactions,
    results.reduce((n, r) => n + r.steps[0]!.transactions, 0),
  );
  assert.ok(Math.abs(window.tps - results.reduce((n, r) => n + r.steps[0]!.tps, 0)) < 0.01);
  // Written down by the clock of the day, which is read a little after the one that counts.
  assert.ok(Math.abs(Date.parse(results[0]!.steps[0]!.startedAt) - Date.parse(results[1]!.steps[0]!.startedAt)) <= 100);
  assert.equal(window.latency!.max, Math.max(...results.map((r) => r.steps[0]!.latency!.max)));
  assert.equal(merged.complete, true);
  runResultSchema.parse(merged);
  assert.equal(merge([results[0]!]).complete, false, "a driver's result is missing");
  assert.throws(() => merge([results[0]!, results[0]!]), /driver 1 of 2 is there twice/);
  assert.throws(() => merge([results[0]!, { ...results[1]!, runId: "another" }]), /different runs/);
});
