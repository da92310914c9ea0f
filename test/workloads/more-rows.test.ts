/**
 * Tables that hold more rows than the spec's table size, as insert workloads leave them: every workload runs on them
 * with right answers, and the result says so. On a real MariaDB and a real PostgreSQL.
 */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { CLI, only, runEngine, specFor } from "../../harness/servers/engine.ts";
import { Mariadb, mariadbPackages, PASSWORD } from "../../harness/servers/mariadb.ts";
import { postgresBinaries, startPostgres } from "../../harness/servers/postgres.ts";
import type { RunSpec, RunSpecInput } from "../../workloads/contract.ts";
import { runResultSchema } from "../../workloads/contract.ts";
import { checkData, prepare, verify } from "../../workloads/prepare/index.ts";
import { WORKLOADS } from "../../workloads/registry.ts";

const QUIET = { onProgress() {}, signal: new AbortController().signal };
/** So small that a fifth of all ranges goes beyond the end. */
const DATA = { tables: 2, tableSize: 500 };
// Deleting takes rows away, and bulk_insert has tables of its own.
const ON_THEM = WORKLOADS.filter((w) => w !== "oltp_delete" && w !== "bulk_insert");

async function runsOnMore(target: RunSpecInput["target"], scheme: string, password: string): Promise<void> {
  process.env["MESHBENCH_DB_PASSWORD"] = password;
  const spec = (workload: string, events: number): RunSpec => {
    const step = {
      workload,
      threads: 2,
      warmupSeconds: 0,
      durationSeconds: 60,
      options: { events, rand_type: "uniform" },
    };
    return specFor([target.endpoints[0]!.port], [step], { target, data: DATA });
  };
  await prepare(spec("oltp_read_write", 1), QUIET);
  assert.deepEqual(await checkData(spec("oltp_insert", 1), QUIET), { problems: [], notes: [] });
  assert.equal(only(await runEngine(spec("oltp_insert", 400), { password })).transactions, 400);
  for (const workload of ON_THEM) {
    const wanted = spec(workload, 150);
    const { problems, notes } = await checkData(wanted, QUIET);
    assert.deepEqual(problems, []);
    assert.equal(notes.length, 2, "one of each table");
    assert.match(
      notes[0]!,
      /^sbtest1: its ids go up to \d+, table_size is 500: .* takes no part, as after oltp_insert/,
    );
    const window = only(await runEngine(wanted, { password }));
    assert.deepEqual([window.complete, window.transactions], [true, 150], `${workload}: ${window.incompleteReason}`);
    assert.deepEqual([window.checks!.mismatches, window.checks!.sampledWrong], [0, 0], workload);
    assert.equal(window.errors.total, window.errors.restarts, JSON.stringify(window.errors));
  }
  const { ok, problems, notes } = await verify(spec("oltp_insert", 1), QUIET);
  assert.deepEqual([ok, problems, notes!.length], [true, [], 2]);

  const directory = mkdtempSync(join(tmpdir(), "meshbench-more-rows-"));
  try {
    const out = join(directory, "result.json");
    const { user, database, endpoints } = target;
    const url = `${scheme}://${user}@127.0.0.1:${endpoints[0]!.port}/${database}`;
    const flags = ["--tables", "2", "--table-size", "500", "--threads", "2", "--warmup", "0.5", "--time", "1"];
    const args = [fileURLToPath(CLI), "run", "--url", url, "--workload", "oltp_read_only", "--out", out, ...flags];
    const ran = await new Promise<{ code: unknown; text: string }>((resolve) => {
      execFile(process.execPath, args, (error, stdout, stderr) =>
        resolve({ code: error?.code ?? 0, text: stdout + stderr }),
      );
    });
    assert.equal(ran.code, 0, ran.text);
    assert.match(ran.text, /note: sbtest1: its ids go up to \d+/);
    assert.equal(runResultSchema.parse(JSON.parse(readFileSync(out, "utf8"))).notes?.length, 2);
    // A warm-up shorter than an interval ends when it ends, not a second before it began.
    assert.match(ran.text, /warm-up \[ 0\.5s \]/);
    assert.doesNotMatch(ran.text, /\[ -/);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

test("MariaDB: after oltp_insert every workload runs, with a note", async (t) => {
  const packages = await mariadbPackages();
  if (!packages.ok) return t.skip(`SKIPPED: no MariaDB to test with: ${packages.reason}`);
  const server = await Mariadb.start();
  try {
    const { target } = specFor([server.port], [{ workload: "oltp_insert", threads: 1 }]);
    await runsOnMore(target, "mysql", PASSWORD);
  } finally {
    await server.stop();
  }
});

test("PostgreSQL: after oltp_insert every workload runs, with a note", async (t) => {
  const binaries = await postgresBinaries();
  if (!binaries.ok) return t.skip(`SKIPPED: no PostgreSQL to test with: ${binaries.reason}`);
  const server = await startPostgres(binaries.bin);
  try {
    const { target } = specFor([server.port], [{ workload: "oltp_insert", threads: 1 }], {
      target: { driver: "postgres", user: server.user, database: server.database },
    });
    await runsOnMore(target, "postgres", server.password);
  } finally {
    await server.stop();
  }
});
