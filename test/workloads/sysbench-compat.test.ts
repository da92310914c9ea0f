// Proves on real servers: N transactions of each workload cost the server the same statements and row accesses as N
// transactions of Debian's sysbench. Counters of a run of MANY events minus those of a run of FEW: what a session costs
// at its start drops out.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { after, before, describe, test } from "node:test";
import { ensurePackages } from "../../harness/servers/debian.ts";
import { Mariadb, PASSWORD, USER } from "../../harness/servers/mariadb.ts";
import { Mysql, mysqlRoot } from "../../harness/servers/mysql.ts";
import type { PostgresServer } from "../../harness/servers/postgres.ts";
import { postgresBinaries, startPostgres } from "../../harness/servers/postgres.ts";
import type { RunSpecInput } from "../../workloads/contract.ts";
import { runSpecSchema } from "../../workloads/contract.ts";
import { run } from "../../workloads/engine/run.ts";
import { cleanup, prepare } from "../../workloads/prepare/index.ts";
import { WORKLOADS } from "../../workloads/registry.ts";

const CLI = new URL("../../workloads/cli.ts", import.meta.url);
const FEW = 20;
const MANY = 120;
const TABLES = 2;
const SIZE = 10_000;
const signal = new AbortController().signal;
const packages = await ensurePackages(["mariadb-server", "sysbench"]);
const binaries = await postgresBinaries();

/**
 * Counters that random ids move: equal ids in an IN list are looked up once, a row that an earlier event deleted is not
 * found again. Everything else has to be equal.
 */
const MOVED_BY_CHANCE: Record<string, RegExp> = {
  select_random_points: /^Handler_(read_|icp_|tmp_)|^Sort|^Rows/,
  select_random_ranges: /^Handler_(read_|icp_|tmp_)/,
  // MySQL counts a commit where a row was changed.
  oltp_delete: /^Handler_(delete|update|read_|commit|prepare)/,
};

/**
 * Never the same twice: with the seed of an earlier run on the same tables an update writes the text that is there, and
 * MySQL counts no change then. (By default sysbench takes the second in which it starts.)
 */
const nextSeed = (
  (last) => () =>
    ++last
)(1000);

type Counters = Map<string, number>;

function difference(more: Counters, less: Counters): Record<string, number> {
  const names = [...new Set([...more.keys(), ...less.keys()])].sort();
  return Object.fromEntries(
    names
      .map((name) => [name, (more.get(name) ?? 0) - (less.get(name) ?? 0)] as const)
      .filter(([, value]) => value !== 0),
  );
}

function target(driver: "mysql" | "postgres", port: number, user: string): RunSpecInput["target"] {
  return { driver, endpoints: [{ name: "a", host: "127.0.0.1", port }], user };
}

async function makeTables(workload: string, to: RunSpecInput["target"]): Promise<void> {
  const spec = runSpecSchema.parse({
    runId: "t",
    target: to,
    data: { tables: TABLES, tableSize: SIZE },
    steps: [{ workload, threads: 1 }],
  });
  const options = { onProgress() {}, signal };
  // bulk_insert counts its ids from 1 in every run, and the OLTP tables have other columns than its own.
  if (workload === "bulk_insert") await cleanup(spec, options);
  await prepare(spec, options);
}

/** The engine alone: the command line's own look at the tables before a run would count on the server as well. */
async function ours(workload: string, to: RunSpecInput["target"], events: number): Promise<void> {
  const spec = runSpecSchema.parse({
    runId: "t",
    seed: nextSeed(),
    target: to,
    data: { tables: TABLES, tableSize: SIZE },
    workers: 1,
    steps: [{ workload, threads: 1, warmupSeconds: 0, durationSeconds: 15, options: { events } }],
  });
  const result = await run(spec, {
    password: process.env["MESHBENCH_DB_PASSWORD"] ?? "",
    entry: CLI,
    signal,
    onLine() {},
  });
  assert.equal(result.complete, true, result.incompleteReason);
  assert.equal(result.steps[0]?.errors.total, 0);
}

async function sysbench(workload: string, connection: string[], events: number): Promise<void> {
  const ran = spawnSync(
    "sysbench",
    [
      workload,
      ...connection,
      "--threads=1",
      `--events=${events}`,
      `--rand-seed=${nextSeed()}`,
      "--time=0",
      ...(workload === "bulk_insert" ? [] : [`--tables=${TABLES}`, `--table-size=${SIZE}`]),
      "run",
    ],
    { encoding: "utf8" },
  );
  assert.equal(ran.status, 0, ran.stdout + ran.stderr);
}

const root = await mysqlRoot();
const mysqlReason = !packages.ok ? packages.reason : !root.ok ? root.reason : undefined;
describe("sysbench's work on MariaDB", { skip: packages.ok ? false : `SKIPPED: ${packages.reason}` }, () =>
  compareOn(() => Mariadb.start()),
);
describe(
  `sysbench's work on MySQL${root.ok ? ` ${root.version}` : ""}`,
  { skip: mysqlReason === undefined ? false : `SKIPPED: no MySQL to test with: ${mysqlReason}` },
  () => compareOn(() => Mysql.start(root.ok ? root.root : "")),
);

function compareOn(startServer: () => Promise<Mariadb | Mysql>): void {
  let server: Mariadb | Mysql;
  before(async () => {
    server = await startServer();
    process.env["MESHBENCH_DB_PASSWORD"] = PASSWORD;
    // The first session of a new server reads the dictionary (MySQL 9.7: 3 commits, 12 keys), which no later one does.
    const to = target("mysql", server.port, USER);
    await makeTables("oltp_read_only", to);
    await ours("oltp_read_only", to, FEW);
  });
  after(() => server?.stop());

  const counters = (): Counters =>
    new Map([
      ...server.status("Com\\_%"),
      ...server.status("Handler\\_%"),
      ...server.status("Sort\\_%"),
      ...server.status("Rows\\_sent"),
    ]);
  const around = async (work: () => Promise<void>): Promise<Counters> => {
    const start = counters();
    await work();
    // Looking costs the same each time, so it drops out of the difference of two runs.
    return new Map(Object.entries(difference(counters(), start)));
  };

  for (const workload of WORKLOADS) {
    test(workload, async () => {
      const to = target("mysql", server.port, USER);
      const connection = [
        "--mysql-host=127.0.0.1",
        `--mysql-port=${server.port}`,
        `--mysql-user=${USER}`,
        `--mysql-password=${PASSWORD}`,
      ];
      const cost = async (work: (events: number) => Promise<void>): Promise<Record<string, number>> => {
        const sides: Counters[] = [];
        for (const events of [FEW, MANY]) {
          await makeTables(workload, to);
          // MariaDB reads its statistics of a table (8 keys of its own tables) with the first statement that is planned
          // over it.
          if (workload !== "bulk_insert")
            for (let table = 1; table <= TABLES; table++)
              server.sql(`SELECT c FROM sbtest${table} WHERE id = 1`, "sbtest");
          sides.push(await around(() => work(events)));
        }
        return difference(sides[1]!, sides[0]!);
      };
      const mine = await cost((events) => ours(workload, to, events));
      const theirs = await cost((events) => sysbench(workload, connection, events));
      const moved = MOVED_BY_CHANCE[workload];
      const fixed = (all: Record<string, number>): Record<string, number> =>
        Object.fromEntries(Object.entries(all).filter(([name]) => !moved?.test(name)));
      assert.ok(Object.keys(fixed(theirs)).length > 0, "nothing to compare");
      assert.deepEqual(fixed(mine), fixed(theirs));
      await cleanup(
        runSpecSchema.parse({ runId: "t", target: to, data: { tables: TABLES }, steps: [{ workload, threads: 1 }] }),
        { onProgress() {}, signal },
      );
    });
  }
}

const reason = !binaries.ok ? binaries.reason : !packages.ok ? packages.reason : undefined;
describe("sysbench's work on PostgreSQL", { skip: reason === undefined ? false : `SKIPPED: ${reason}` }, () => {
  let server: PostgresServer;
  before(async () => {
    assert.ok(binaries.ok);
    server = await startPostgres(binaries.bin, { shared_preload_libraries: "pg_stat_statements" });
    await server.admin("CREATE EXTENSION pg_stat_statements");
    process.env["MESHBENCH_DB_PASSWORD"] = server.password;
  });
  after(() => server?.stop());

  /** Calls and rows by statement, over both tables; literals and parameters come normalised as $1, $2, ... */
  const statements = async (): Promise<Record<string, string>> => {
    const found = new Map<string, { calls: number; rows: number }>();
    for (const row of await server.admin(
      "SELECT query, calls::int, rows::int FROM pg_stat_statements WHERE query ~ 'sbtest[0-9]|^(BEGIN|COMMIT|ROLLBACK)' AND query !~ 'pg_|MAX\\(id\\)|information_schema'",
    )) {
      const text = String(row["query"])
        .replaceAll(/sbtest\d+/g, "sbtestN")
        .replaceAll(/\s+/g, " ")
        .trim();
      const sum = found.get(text) ?? { calls: 0, rows: 0 };
      found.set(text, { calls: sum.calls + Number(row["calls"]), rows: sum.rows + Number(row["rows"]) });
    }
    return Object.fromEntries(
      [...found].sort().map(([text, { calls, rows }]) => [text, `${calls} calls, ${rows} rows`]),
    );
  };
  const withoutRows = (all: Record<string, string>): Record<string, string> =>
    Object.fromEntries(Object.entries(all).map(([text, counts]) => [text, counts.replace(/,.*/, "")]));

  for (const workload of WORKLOADS) {
    test(workload, async () => {
      const to = target("postgres", server.port, server.user);
      const connection = [
        "--db-driver=pgsql",
        "--pgsql-host=127.0.0.1",
        `--pgsql-port=${server.port}`,
        `--pgsql-user=${server.user}`,
        `--pgsql-password=${server.password}`,
        "--pgsql-db=sbtest",
      ];
      const cost = async (work: () => Promise<void>): Promise<Record<string, string>> => {
        await makeTables(workload, to);
        await server.admin("SELECT pg_stat_statements_reset()");
        await work();
        return statements();
      };
      const mine = await cost(() => ours(workload, to, MANY));
      const theirs = await cost(() => sysbench(workload, connection, MANY));
      assert.ok(Object.keys(theirs).length > 0, "nothing to compare");
      if (MOVED_BY_CHANCE[workload]) assert.deepEqual(withoutRows(mine), withoutRows(theirs));
      else assert.deepEqual(mine, theirs);
      await cleanup(
        runSpecSchema.parse({ runId: "t", target: to, data: { tables: TABLES }, steps: [{ workload, threads: 1 }] }),
        { onProgress() {}, signal },
      );
    });
  }
});
