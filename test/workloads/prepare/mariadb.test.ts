// Proves on a real MariaDB (one node): data are loaded, reused, continued and refused as they should be, and Debian's
// sysbench and this project accept each other's tables.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { ensurePackages } from "../../../harness/servers/debian.ts";
import { Mariadb, PASSWORD, USER } from "../../../harness/servers/mariadb.ts";
import type { RunSpec } from "../../../workloads/contract.ts";
import { runSpecSchema } from "../../../workloads/contract.ts";
import { checkData, cleanup, prepare, verify } from "../../../workloads/prepare/index.ts";

const packages = await ensurePackages(["mariadb-server", "sysbench"]);
const signal = new AbortController().signal;
process.env["MESHBENCH_DB_PASSWORD"] = PASSWORD;

describe("prepare on MariaDB", { skip: packages.ok ? false : `SKIPPED: ${packages.reason}` }, () => {
  let server: Mariadb;
  let lines: string[] = [];
  const options = { onProgress: (line: string): void => void lines.push(line), signal };

  function spec(data: object, target: object = {}): RunSpec {
    return runSpecSchema.parse({
      runId: "t",
      seed: 5,
      data,
      steps: [{ workload: "oltp_read_write", threads: 2 }],
      target: {
        driver: "mysql",
        endpoints: [{ name: "a", host: "127.0.0.1", port: server.port }],
        user: USER,
        ...target,
      },
      observe: [{ name: "n1", host: "127.0.0.1", port: server.port }],
    });
  }
  function sysbench(command: string, ...args: string[]): string {
    const ran = spawnSync(
      "sysbench",
      [
        "oltp_read_write",
        "--mysql-host=127.0.0.1",
        `--mysql-port=${server.port}`,
        `--mysql-user=${USER}`,
        `--mysql-password=${PASSWORD}`,
        ...args,
        command,
      ],
      { encoding: "utf8" },
    );
    assert.equal(ran.status, 0, ran.stdout + ran.stderr);
    return ran.stdout;
  }
  const said = (pattern: RegExp): boolean => lines.some((line) => pattern.test(line));

  before(async () => {
    server = await Mariadb.start();
  });
  after(() => server?.stop());

  test("load, check, reuse, clean up", async () => {
    const wanted = spec({ tables: 2, tableSize: 50_000 });
    const first = await prepare(wanted, options);
    assert.deepEqual([first.method, first.reused, first.rows, first["loaded"]], ["load-data", false, 100_000, 100_000]);
    const checked = await verify(wanted, { signal, consistency: true });
    assert.deepEqual(
      [checked.ok, checked.problems, checked.tables],
      [
        true,
        [],
        [
          { table: "sbtest1", rows: 50_000 },
          { table: "sbtest2", rows: 50_000 },
        ],
      ],
    );
    assert.deepEqual(await checkData(wanted, { signal }), { problems: [], notes: [] });
    assert.equal(
      server
        .sql(
          "SELECT CONCAT(MIN(id), ' ', MAX(id), ' ', COUNT(DISTINCT id), ' ', MIN(LENGTH(c)), ' ', MAX(LENGTH(pad)), ' ', MIN(k) >= 1, ' ', MAX(k) <= 50000) FROM sbtest2",
          "sbtest",
        )
        .trim(),
      "1 50000 50000 119 59 1 1",
    );
    const again = await prepare(wanted, options);
    assert.deepEqual([again.method, again.reused, again["loaded"]], ["none", true, 0]);
    assert.deepEqual(await cleanup(wanted, options), ["sbtest1", "sbtest2"]);
    assert.equal(server.sql("SHOW TABLES", "sbtest"), "");
    assert.match(
      (await checkData(wanted, { signal })).problems.join(),
      /sbtest1, sbtest2 are not there: run prepare first/,
    );
  });

  test("the schema is the one that sysbench makes, option by option", async () => {
    const create = (): string => server.sql("SHOW CREATE TABLE sbtest1", "sbtest").replace(/AUTO_INCREMENT=\d+ /, "");
    for (const [data, flags] of [
      [{}, []],
      [{ auto_inc: "off" }, ["--auto-inc=off"]],
      [{ secondary: "on" }, ["--secondary=on"]],
      [{ create_secondary: "off" }, ["--create-secondary=off"]],
    ] as const) {
      const wanted = spec({ tableSize: 200, options: data });
      await prepare(wanted, options);
      const ours = create();
      await cleanup(wanted, options);
      sysbench("prepare", "--table-size=200", ...flags);
      assert.equal(ours, create());
      assert.deepEqual((await verify(wanted, { signal })).problems, [], JSON.stringify(data));
      await cleanup(wanted, options);
    }
  });

  test("sysbench runs on our tables, and its tables are reused by us", async () => {
    const wanted = spec({ tables: 2, tableSize: 10_000 });
    await prepare(wanted, options);
    assert.match(
      sysbench("run", "--tables=2", "--table-size=10000", "--events=100", "--time=0"),
      /transactions:\s+100 /,
    );
    assert.equal((await verify(wanted, { signal })).ok, true);
    await cleanup(wanted, options);
    sysbench("prepare", "--tables=2", "--table-size=10000");
    assert.deepEqual(await checkData(wanted, { signal }), { problems: [], notes: [] });
    assert.equal((await prepare(wanted, options)).reused, true);
    await cleanup(wanted, options);
  });

  test("without LOCAL INFILE rows go in by INSERT, and it is said", async () => {
    server.sql("SET GLOBAL local_infile = 0");
    try {
      lines = [];
      const wanted = spec({ tableSize: 25_000 });
      const result = await prepare(wanted, options);
      assert.equal(result.method, "insert");
      assert.ok(
        said(
          /^local_infile: OFF on 127\.0\.0\.1:\d+: loading with multi-row INSERTs.*SET GLOBAL local_infile=ON, or --local-infile set/,
        ),
      );
      assert.equal((await verify(wanted, { signal })).ok, true);
      await assert.rejects(
        prepare(spec({ tableSize: 25_000, method: "load-data" }), options),
        /data\.method: "load-data" with local_infile: OFF on .*expected ON/,
      );
      await cleanup(wanted, options);
      lines = [];
      assert.equal((await prepare(spec({ tableSize: 25_000, localInfile: "set" }), options)).method, "load-data");
      assert.ok(said(/set ON while the load goes on, OFF again after it/));
      assert.equal(server.sql("SELECT @@GLOBAL.local_infile").trim(), "0", "put back");
      await cleanup(wanted, options);
      server.sql(
        `CREATE USER plain@'127.0.0.1' IDENTIFIED BY '${PASSWORD}'; GRANT ALL ON sbtest.* TO plain@'127.0.0.1'`,
      );
      lines = [];
      await prepare(spec({ tableSize: 100 }, { user: "plain" }), options);
      assert.ok(said(/SET GLOBAL local_infile=ON as an administrator/), "what the account may not do is not offered");
      await assert.rejects(
        prepare(spec({ tableSize: 100, localInfile: "set" }, { user: "plain" }), options),
        /local_infile: OFF on .*; expected ON, and user "plain" may not set it \(SYSTEM_VARIABLES_ADMIN or SUPER/,
      );
      await cleanup(wanted, options);
    } finally {
      server.sql("SET GLOBAL local_infile = 1");
    }
  });

  test("a half-loaded table is continued, one of another size is made anew, a missing index is made", async () => {
    const wanted = spec({ tableSize: 100_000 });
    await prepare(wanted, options);
    server.sql("DROP INDEX k_1 ON sbtest1; DELETE FROM sbtest1 WHERE id > 60000", "sbtest");
    lines = [];
    const rest = await prepare(wanted, options);
    assert.ok(said(/sbtest1: half loaded, continued from 60000 of 100000 rows/), lines.join("\n"));
    assert.equal(rest["loaded"], 40_000);
    assert.equal((await verify(wanted, { signal })).ok, true);

    server.sql("DROP INDEX k_1 ON sbtest1", "sbtest");
    assert.match((await checkData(wanted, { signal })).problems.join(), /sbtest1: no index k_1 on k/);
    lines = [];
    assert.equal((await prepare(wanted, options))["loaded"], 0);
    assert.ok(said(/only the index k_1 is made/));

    server.sql("DELETE FROM sbtest1 WHERE id = 77", "sbtest");
    const after = { signal, consistency: true, afterRun: true };
    assert.deepEqual((await verify(wanted, after)).problems, [
      "sbtest1: 99999 rows after the run; expected 100000, as before it",
    ]);
    for (const step of [{ workload: "oltp_delete" }, { workload: "oltp_read_write", options: { skip_trx: true } }])
      assert.deepEqual(
        (await verify({ ...wanted, steps: [{ ...wanted.steps[0]!, ...step }] } as RunSpec, after)).problems,
        [],
      );
    assert.match((await verify(wanted, { signal })).problems.join(), /sbtest1: 99999 rows, the spec says 100000/);
    lines = [];
    assert.equal((await prepare(wanted, options))["loaded"], 100_000);
    assert.ok(said(/sbtest1: it has 99999 rows, the spec says 100000: made anew/), lines.join("\n"));

    const smaller = spec({ tableSize: 1000 });
    assert.match(
      (await checkData(smaller, { signal })).notes.join(),
      /sbtest1: its ids go up to 100000, table_size is 1000/,
    );
    await prepare(smaller, options);
    assert.equal((await verify(smaller, { signal })).ok, true);
    await cleanup(smaller, options);
  });

  test("a table of another shape is somebody's data: left alone", async () => {
    server.sql(
      "CREATE TABLE sbtest1 (id INT PRIMARY KEY, name VARCHAR(20)); INSERT INTO sbtest1 VALUES (1, 'mine')",
      "sbtest",
    );
    await assert.rejects(
      prepare(spec({ tableSize: 100 }), options),
      /sbtest1: its columns are \(id int not null, name varchar\(20\)\).*left as it is/,
    );
    assert.equal(server.sql("SELECT name FROM sbtest1", "sbtest").trim(), "mine");
    server.sql("DROP TABLE sbtest1", "sbtest");
  });

  test("a missing database is made", async () => {
    const wanted = spec({ tableSize: 100 }, { database: "other-db" });
    await prepare(wanted, options);
    assert.equal((await verify(wanted, { signal })).ok, true);
    server.sql("DROP DATABASE `other-db`");
  });

  test("wrong password, nobody there: one line each", async () => {
    const _port = server.port;
    process.env["MESHBENCH_DB_PASSWORD"] = "wrong";
    await assert.rejects(
      prepare(spec({}), options),
      /^Error: 127\.0\.0\.1:\d+: the server refuses user "bench" with this password \(1045: Access denied/,
    );
    process.env["MESHBENCH_DB_PASSWORD"] = PASSWORD;
    await assert.rejects(prepare(spec({}, { endpoints: [{ name: "x", host: "127.0.0.1", port: 1 }] }), options), {
      message: "127.0.0.1:1: nothing listens there (ECONNREFUSED)",
    });
  });

  test("an observed node that is down is named at once", async () => {
    const wanted = {
      ...spec({ tableSize: 100 }),
      observe: [
        { name: "n1", host: "127.0.0.1", port: server.port },
        { name: "n2", host: "127.0.0.1", port: 1 },
      ],
    };
    await assert.rejects(prepare(wanted, options), {
      message: "n2: 127.0.0.1:1: nothing listens there (ECONNREFUSED)",
    });
    const checked = await verify(wanted, { signal, consistency: true });
    assert.deepEqual(checked.problems, ["n2: no checksum: 127.0.0.1:1: nothing listens there (ECONNREFUSED)"]);
    await cleanup(wanted, options);
  });

  test("stopped in the middle, then continued", async () => {
    const wanted = spec({ tables: 4, tableSize: 60_000, threads: 2 });
    const stop = new AbortController();
    const going = prepare(wanted, {
      signal: stop.signal,
      onProgress: (line) => line.includes("the index k_1") && stop.abort(),
    });
    await assert.rejects(going, /prepare was stopped; what is loaded stays/);
    const rest = await prepare(wanted, options);
    assert.ok(Number(rest["loaded"]) > 0 && Number(rest["loaded"]) < 240_000, String(rest["loaded"]));
    assert.equal((await verify(wanted, { signal })).ok, true);
    await cleanup(wanted, options);
  });

  test("the server is killed in the middle and comes back: the load goes on by itself", async () => {
    const wanted = spec({ tables: 3, tableSize: 60_000, threads: 2 });
    let killed: Promise<void> | undefined;
    const going = prepare(wanted, {
      signal,
      onProgress: (line) => {
        if (killed || !line.includes("the index k_1")) return;
        killed = server
          .kill()
          .then(() => sleep(300))
          .then(() => server.startAgain());
      },
    });
    await going;
    assert.ok(killed);
    await killed;
    assert.equal((await verify(wanted, { signal })).ok, true);
    await cleanup(wanted, options);
  });
});

test("a full tablespace is reported as such, and what is loaded stays", {
  skip: packages.ok ? false : `SKIPPED: ${packages.reason}`,
}, async () => {
  const small = await Mariadb.start({
    args: ["--skip-innodb-file-per-table", "--innodb-data-file-path=ibdata1:12M:autoextend:max:40M"],
  });
  try {
    const spec = runSpecSchema.parse({
      runId: "t",
      data: { tableSize: 200_000, threads: 2 },
      steps: [{ workload: "oltp_read_only", threads: 1 }],
      target: { driver: "mysql", endpoints: [{ name: "a", host: "127.0.0.1", port: small.port }], user: USER },
    });
    await assert.rejects(
      prepare(spec, { onProgress() {}, signal }),
      /no space left for the data \(1114: .*\n[\d,]+ of 200,000 rows were loaded by then/,
    );
  } finally {
    await small.stop();
  }
});
