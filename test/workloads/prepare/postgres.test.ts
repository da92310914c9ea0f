// Proves on a real PostgreSQL: data are loaded by COPY, continued and checked, and Debian's sysbench accepts them.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { after, before, describe, test } from "node:test";
import { ensurePackages } from "../../../harness/servers/debian.ts";
import type { PostgresServer } from "../../../harness/servers/postgres.ts";
import { postgresBinaries, startPostgres } from "../../../harness/servers/postgres.ts";
import type { RunSpec } from "../../../workloads/contract.ts";
import { runSpecSchema } from "../../../workloads/contract.ts";
import { outstandingPostgres } from "../../../workloads/dialects/outstanding.ts";
import { deltas, openObserver } from "../../../workloads/facts/observer.ts";
import { checkData, cleanup, prepare, verify } from "../../../workloads/prepare/index.ts";
import { openSession } from "../../../workloads/sql-session.ts";

const binaries = await postgresBinaries();
const packages = await ensurePackages(["sysbench"]);
const reason = !binaries.ok ? binaries.reason : !packages.ok ? packages.reason : undefined;
const signal = new AbortController().signal;

describe("prepare on PostgreSQL", { skip: reason === undefined ? false : `SKIPPED: ${reason}` }, () => {
  let server: PostgresServer;
  const lines: string[] = [];
  const options = { onProgress: (line: string): void => void lines.push(line), signal };

  function spec(data: object, target: object = {}): RunSpec {
    return runSpecSchema.parse({
      runId: "t",
      data,
      steps: [{ workload: "oltp_read_write", threads: 2 }],
      target: {
        driver: "postgres",
        endpoints: [{ name: "a", host: "127.0.0.1", port: server.port }],
        user: server.user,
        ...target,
      },
      observe: [{ name: "n1", host: "127.0.0.1", port: server.port }],
    });
  }
  function sysbench(workload: string, command: string, ...args: string[]): string {
    const ran = spawnSync(
      "sysbench",
      [
        workload,
        "--db-driver=pgsql",
        "--pgsql-host=127.0.0.1",
        `--pgsql-port=${server.port}`,
        `--pgsql-user=${server.user}`,
        `--pgsql-password=${server.password}`,
        "--pgsql-db=sbtest",
        ...args,
        command,
      ],
      { encoding: "utf8" },
    );
    assert.equal(ran.status, 0, ran.stdout + ran.stderr);
    return ran.stdout;
  }

  before(async () => {
    assert.ok(binaries.ok);
    server = await startPostgres(binaries.bin);
    process.env["MESHBENCH_DB_PASSWORD"] = server.password;
    await server.admin(`ALTER ROLE ${server.user} CREATEDB`);
  });
  after(() => server?.stop());

  test("load by COPY, check, reuse, continue, clean up; the server's counters show it", async () => {
    const wanted = spec({ tables: 2, tableSize: 50_000 });
    const observer = await openObserver(wanted.target, wanted.observe);
    const start = await observer.sample();
    const first = await prepare(wanted, options);
    assert.deepEqual([first.method, first.reused, first["loaded"]], ["copy", false, 100_000]);
    const checked = await verify(wanted, { signal, consistency: true });
    assert.deepEqual([checked.ok, checked.problems], [true, []]);
    assert.equal((await prepare(wanted, options)).reused, true);
    assert.deepEqual(await checkData(wanted, { signal }), { problems: [], notes: [] });
    assert.match(String((await observer.variables())["n1"]?.["shared_buffers"]), /^\d+ x 8kB$/);
    const session = await openSession(wanted.target, wanted.observe[0]!);
    assert.deepEqual(await outstandingPostgres(session, 10_000), { state: "none", what: "" });
    session.close();

    await server.admin("DROP INDEX k_1; DELETE FROM sbtest1 WHERE id > 40000");
    assert.equal((await prepare(wanted, options))["loaded"], 10_000);
    assert.equal((await verify(wanted, { signal })).ok, true);
    // Statistics reach the shared counters when a session ends or after a second; those of the load have ended.
    const [facts] = deltas("postgres", start, await observer.sample());
    observer.close();
    assert.ok(Number(facts?.delta?.["tup_inserted"]) >= 110_000, JSON.stringify(facts));
    assert.deepEqual(await cleanup(wanted, options), ["sbtest1", "sbtest2"]);
  });

  test("sysbench runs on our tables - also its INSERT without an id - and its tables are reused by us", async () => {
    const wanted = spec({ tables: 2, tableSize: 10_000 });
    await prepare(wanted, options);
    assert.match(
      sysbench("oltp_read_write", "run", "--tables=2", "--table-size=10000", "--events=100", "--time=0"),
      /transactions:\s+100 /,
    );
    assert.equal((await verify(wanted, { signal })).ok, true);
    assert.match(
      sysbench("oltp_insert", "run", "--tables=2", "--table-size=10000", "--events=20", "--time=0"),
      /transactions:\s+20 /,
    );
    await cleanup(wanted, options);
    sysbench("oltp_read_write", "prepare", "--tables=2", "--table-size=10000");
    assert.deepEqual(await checkData(wanted, { signal }), { problems: [], notes: [] });
    assert.equal((await prepare(wanted, options)).reused, true);
    await cleanup(wanted, options);
  });

  test("INSERT when it is asked for, a plain index in place of the primary key, a missing database", async () => {
    const wanted = spec(
      { tableSize: 3000, method: "insert", options: { secondary: "on", auto_inc: "off" } },
      { database: "other-db" },
    );
    assert.equal((await prepare(wanted, options)).method, "insert");
    assert.deepEqual((await verify(wanted, { signal })).problems, []);
    await assert.rejects(
      prepare(spec({ method: "load-data" }), options),
      /data\.method: "load-data", which is MySQL's/,
    );
  });
});
