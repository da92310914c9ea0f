/**
 * What happens to real servers while a load runs: statements that are killed, more threads than rows, a server that is
 * frozen, a clock that is set back, a primary that moves. Each on a private MariaDB.
 */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath, pathToFileURL } from "node:url";
import { ask, CLI, only, runEngine, specFor } from "../../harness/servers/engine.ts";
import { CONNECT, DATABASE, Mariadb, mariadbPackages, PASSWORD } from "../../harness/servers/mariadb.ts";
import type { RunSpecInput, StepResult } from "../../workloads/contract.ts";
import { runResultSchema } from "../../workloads/contract.ts";
import type { Connection } from "../../workloads/drivers/driver.ts";
import { mysqlDriver } from "../../workloads/drivers/mysql/driver.ts";
import { prepare } from "../../workloads/prepare/index.ts";

const packages = await mariadbPackages();
const QUIET = { onProgress() {}, signal: new AbortController().signal };

/** A session that does not block this process, in which the load runs. */
const admin = (server: Mariadb): Promise<Connection> =>
  mysqlDriver.connect(
    { name: "admin", host: "127.0.0.1", port: server.port, role: "any" },
    {
      ...CONNECT,
    },
  );

/** Whatever happened, the window is the sum of its intervals. */
function addsUp(window: StepResult): void {
  const sum = (pick: (i: StepResult["intervals"][number]) => number | undefined): number =>
    window.intervals.reduce((n, i) => n + (pick(i) ?? Number.NaN), 0);
  assert.deepEqual(
    {
      transactions: sum((i) => i.transactions),
      read: sum((i) => i.queries?.read),
      write: sum((i) => i.queries?.write),
      other: sum((i) => i.queries?.other),
      errors: sum((i) => i.errors),
      restarts: sum((i) => i.restarts),
      reconnects: sum((i) => i.reconnects),
      byCode: Object.values(window.errors.byCode).reduce((a, b) => a + b, 0),
      seconds: Math.round(1000 * sum((i) => i.seconds)),
    },
    {
      transactions: window.transactions,
      read: window.queries.read,
      write: window.queries.write,
      other: window.queries.other,
      errors: window.errors.total,
      restarts: window.errors.restarts,
      reconnects: window.reconnects,
      byCode: window.errors.total,
      seconds: Math.round(1000 * window.windowSeconds),
    },
  );
}

describe("faults on MariaDB", { skip: packages.ok ? false : `SKIPPED: ${packages.reason}` }, () => {
  let server: Mariadb;
  let other: Mariadb;
  const DATA = { tables: 1, tableSize: 2000 };
  const step = (workload: string, threads: number, durationSeconds: number, more: object = {}) => ({
    workload,
    threads,
    durationSeconds,
    warmupSeconds: 0,
    intervalSeconds: 0.5,
    ...more,
  });

  before(async () => {
    process.env["MESHBENCH_DB_PASSWORD"] = PASSWORD;
    [server, other] = await Promise.all([Mariadb.start(), Mariadb.start()]);
    for (const one of [server, other]) {
      // Without READ ONLY ADMIN, which ALL ON *.* holds.
      one.sql(
        `CREATE USER plain@'127.0.0.1' IDENTIFIED BY '${PASSWORD}'; GRANT ALL ON ${DATABASE}.* TO plain@'127.0.0.1'`,
      );
      await prepare(specFor([one.port], [step("oltp_read_write", 1, 1)], { data: DATA }), QUIET);
    }
  });
  after(() => Promise.all([server?.stop(), other?.stop()]));

  test("KILL QUERY of prepared statements: counted as 1317, the events begin again on the same connections", async () => {
    const [locker, killer] = await Promise.all([admin(server), admin(server)]);
    let killed = 0;
    const killing = (async () => {
      await sleep(700);
      for (let round = 0; round < 3; round++) {
        // Whoever comes to this row waits for it, in a prepared statement.
        await ask(locker, "BEGIN");
        await ask(locker, "SELECT id FROM sbtest1 FOR UPDATE");
        await sleep(200);
        const waiting = await ask(
          killer,
          "SELECT ID FROM information_schema.PROCESSLIST WHERE COMMAND = 'Execute' AND STATE LIKE 'Updating%'",
        );
        for (const [id] of waiting) {
          await ask(killer, `KILL QUERY ${String(id)}`);
          killed++;
        }
        await sleep(50);
        await ask(locker, "ROLLBACK");
        await sleep(200);
      }
    })();
    const window = only(await runEngine(specFor([server.port], [step("oltp_write_only", 4, 3)], { data: DATA })));
    await killing;
    await Promise.all([locker.close(), killer.close()]);
    assert.ok(killed >= 6, `${killed} statements were killed`);
    assert.equal(window.errors.byCode["1317"], killed, JSON.stringify(window.errors));
    assert.match(window.errors.messages!["1317"]!, /interrupted/);
    assert.equal(window.errors.restarts, window.errors.total, "all of them conflicts that begin again at once");
    assert.equal(window.reconnects, 0);
    assert.ok(window.complete && window.intervals.at(-1)!.tps > 0);
    addsUp(window);
  });

  test("64 threads on 200 rows end on time, every COMMIT counts, no row is lost", async () => {
    server.sql("CREATE DATABASE crowd");
    const spec = specFor([server.port], [step("oltp_read_write", 64, 3, { warmupSeconds: 0.5 })], {
      data: { tables: 1, tableSize: 200 },
      target: { database: "crowd" },
    });
    await prepare(spec, QUIET);
    const commits = (): number => server.status("Com_commit").get("Com_commit")!;
    const earlier = commits();
    const started = performance.now();
    const window = only(await runEngine(spec));
    const took = performance.now() - started;
    assert.ok(window.errors.restarts > 0, "rows that are fought for");
    assert.equal(window.windowSeconds, 3);
    assert.ok(took < 3500 + 10_000, `${took} ms: what waits for a lock holds the end off for ten seconds at most`);
    const { warmup, drain } = window.outside!;
    assert.equal(commits() - earlier, window.transactions + warmup.transactions + drain.transactions);
    assert.equal(server.sql("SELECT COUNT(*) FROM sbtest1", "crowd").trim(), "200");
    addsUp(window);
    server.sql("DROP DATABASE crowd");
  });

  test("frozen for 8 s and back: closed and open loop end on time, the open loop's latencies show the 8 s", async () => {
    const [seconds, perSecond] = [12, 50];
    const started = performance.now();
    const frozen = sleep(2000).then(async () => {
      server.signal("SIGSTOP");
      await sleep(8000);
      server.signal("SIGCONT");
    });
    const [closed, open] = await Promise.all(
      [{}, { rate: { perSecond, arrivals: "constant" as const } }].map(async (more) =>
        only(await runEngine(specFor([server.port], [step("oltp_point_select", 4, seconds, more)], { data: DATA }))),
      ),
    );
    const took = (performance.now() - started) / 1000;
    await frozen;
    assert.ok(took < seconds + 8, `both ended after ${took} s`);
    for (const window of [closed!, open!]) {
      addsUp(window);
      assert.deepEqual([window.complete, window.errors.total, window.reconnects], [true, 0, 0]);
      assert.equal(window.windowSeconds, seconds);
      assert.ok(window.latency!.max > 7500 && window.latency!.max < 10_000, `max ${window.latency!.max} ms`);
      const { longestGapSeconds, gapStartedAt, firstSuccessAfter } = window.outage!;
      assert.ok(longestGapSeconds > 7.5 && longestGapSeconds < 10, JSON.stringify(window.outage));
      assert.ok(gapStartedAt! > 1 && firstSuccessAfter! < seconds, JSON.stringify(window.outage));
      assert.ok(window.intervals.filter((i) => i.transactions === 0).length >= 14);
    }
    // Closed: four events waited. Open: two thirds of all events were due while the server stood still, and each has
    // waited from its due moment on, so half of all have waited for more than a second.
    assert.ok(closed!.latency!.p95 < 1000, `closed loop: p95 ${closed!.latency!.p95} ms`);
    assert.ok(open!.latency!.p50 > 1000 && open!.latency!.p95 > 6000, JSON.stringify(open!.latency));
    assert.ok(open!.serviceLatency!.p50 < open!.latency!.p50 / 4, JSON.stringify(open!.serviceLatency));
    const { offered, dropped, backlogAtEnd } = open!.openLoop!;
    assert.deepEqual([offered, dropped, backlogAtEnd], [seconds * perSecond, 0, 0]);
    assert.equal(open!.transactions + open!.drain!.drained, seconds * perSecond);
  });

  test("the clock is set back by a minute during a run: nothing but the clock's own times shows it", async () => {
    const directory = mkdtempSync(join(tmpdir(), "meshbench-clock-"));
    try {
      const preload = join(directory, "clock.mjs");
      // In the main thread and in each load thread. JavaScript knows the wall clock through Date alone.
      writeFileSync(
        preload,
        `const Real = Date;
        const began = performance.now();
        const back = () => (performance.now() - began > 2500 ? 60_000 : 0);
        globalThis.Date = class extends Real {
          constructor(...given) { given.length === 0 ? super(Real.now() - back()) : super(...given); }
          static now() { return Real.now() - back(); }
        };`,
      );
      const specFile = join(directory, "spec.json");
      const out = join(directory, "out.json");
      const spec = specFor(
        [server.port],
        [
          step("oltp_point_select", 4, 3, { warmupSeconds: 0.5 }),
          step("oltp_point_select", 4, 2, { rate: { perSecond: 200 } }),
        ],
        {
          data: DATA,
          spec: { workers: 2, observe: [{ name: "n", host: "127.0.0.1", port: server.port }] },
        },
      );
      writeFileSync(specFile, JSON.stringify(spec));
      const started = performance.now();
      const ran = await new Promise<{ code: number | null; err: string }>((resolve) => {
        const child = spawn(process.execPath, [fileURLToPath(CLI), "run", "--spec", specFile, "--out", out], {
          env: { ...process.env, NODE_OPTIONS: `--import=${pathToFileURL(preload).href}` },
          stdio: ["ignore", "ignore", "pipe"],
        });
        let err = "";
        child.stderr.on("data", (chunk) => (err += String(chunk)));
        child.on("close", (code) => resolve({ code, err }));
      });
      assert.equal(ran.code, 0, ran.err);
      assert.ok(performance.now() - started < 30_000, "no minute is waited for");
      const result = runResultSchema.parse(JSON.parse(readFileSync(out, "utf8")));
      assert.ok(Date.parse(result.finishedAt!) < Date.parse(result.startedAt), "the clock was set back");
      const [closed, open] = result.steps;
      assert.deepEqual(
        [closed!.intervals.map((i) => i.t), open!.intervals.map((i) => i.t)],
        [
          [0.5, 1, 1.5, 2, 2.5, 3],
          [0.5, 1, 1.5, 2],
        ],
      );
      for (const window of result.steps) {
        addsUp(window);
        assert.deepEqual([window.complete, window.errors.total], [true, 0], window.incompleteReason);
        assert.ok(window.latency!.max < 10_000, `max ${window.latency!.max} ms`);
      }
      assert.ok(open!.openLoop!.offered! > 300 && open!.openLoop!.offered! < 500, JSON.stringify(open!.openLoop));
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  });

  for (const [policy, refusal, code] of [
    ["first-alive", "read_only", "1290"],
    ["round-robin", "tx_read_only", "1792"],
  ] as const)
    test(`${policy}: the primary moves to the other server and back; writes follow it (${code})`, async () => {
      // read_only waits for transactions that may wait for a row of one that waits for it.
      for (const one of [server, other]) one.sql("SET GLOBAL innodb_lock_wait_timeout = 1");
      const both = await Promise.all([server, other].map(admin));
      const [first, second] = both as [Connection, Connection];
      const refuse = async (one: Connection, on: 0 | 1): Promise<void> => {
        await ask(one, `SET GLOBAL ${refusal} = ${on}`);
        // A default of new sessions: those that are there end, as they do when a primary is demoted by force.
        if (refusal === "tx_read_only" && on === 1) await ask(one, "KILL CONNECTION USER plain@'127.0.0.1'");
      };
      await refuse(second, 1);
      const moves = (async () => {
        await sleep(1500);
        await refuse(first, 1);
        await refuse(second, 0);
        await sleep(2000);
        await refuse(second, 1);
        await refuse(first, 0);
      })();
      const target: Partial<RunSpecInput["target"]> = { policy, user: "plain" };
      const spec = specFor([server.port, other.port], [step("oltp_write_only", 4, 7)], { data: DATA, target });
      const window = only(await runEngine(spec));
      await moves;
      for (const one of both) {
        await ask(one, `SET GLOBAL ${refusal} = 0`);
        await one.close();
      }
      const { byCode } = window.errors;
      assert.ok(byCode[code]! >= 4 && byCode[code]! < 400, JSON.stringify(window.errors));
      assert.ok(window.reconnects >= 4, `${window.reconnects} reconnects`);
      assert.ok(window.complete, window.incompleteReason);
      const rate = (from: number, to: number): number => {
        const those = window.intervals.filter((i) => i.t > from && i.t <= to);
        return those.reduce((n, i) => n + i.tps, 0) / those.length;
      };
      const [before, moved, back] = [rate(0.5, 1.5), rate(2.5, 3.5), rate(5.5, 7)];
      assert.ok(
        Math.min(moved, back) > 0.1 * before,
        `no session stays behind: ${before}, then ${moved}, then ${back} tps`,
      );
      addsUp(window);
    });
});
