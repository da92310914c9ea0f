/** Bounds of a window: how long an answer is waited for, and what the driver itself has run out of. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { only, runEngine, specFor } from "../../../harness/servers/engine.ts";
import { FakeMysql } from "../../../harness/servers/fake-mysql.ts";
import type { StepResult } from "../../../workloads/contract.ts";
import { statementTimeout } from "../../../workloads/engine/part/patience.ts";
import { judgeOwnLimits } from "../../../workloads/engine/selfcheck.ts";

test("a statement may take as long as the server lets locks wait; what the spec says comes first", async () => {
  const target = specFor([1], [{ workload: "oltp_read_only", threads: 1 }]).target;
  const wait = (seconds: string) => async () => [["innodb_lock_wait_timeout", seconds]];
  assert.equal(await statementTimeout(target, wait("50")), 55_000);
  assert.equal(await statementTimeout(target, wait("1")), 30_000);
  assert.equal(await statementTimeout(target, wait("100000000")), 600_000);
  assert.equal(await statementTimeout(target, async () => []), 30_000);
  assert.equal(await statementTimeout(target, () => Promise.reject(new Error("1064"))), 30_000);
  assert.equal(await statementTimeout({ ...target, statementTimeoutMs: 7 }, wait("50")), 7);
  const postgres = { ...target, driver: "postgres" as const };
  assert.equal(await statementTimeout(postgres, async () => [[0]]), 30_000, "no limit");
  assert.equal(await statementTimeout(postgres, async () => [["60000"]]), 65_000);
});

test("an answer that does not come holds the window's end off for ten seconds at most", async () => {
  const fake = await FakeMysql.start();
  try {
    const step = {
      workload: "oltp_update_index",
      threads: 2,
      warmupSeconds: 0,
      durationSeconds: 1,
      intervalSeconds: 0.2,
    };
    let stalledAt = 0;
    const window = only(
      await runEngine(specFor([fake.port], [step]), {
        onLine(line) {
          if (stalledAt > 0 || !line.startsWith("1/1 [")) return;
          fake.stall();
          stalledAt = performance.now();
        },
      }),
    );
    const took = performance.now() - stalledAt;
    assert.ok(took > 10_000 && took < 15_000, `${took} ms`);
    assert.equal((window["drain"] as { abandoned: number }).abandoned, 2);
  } finally {
    await fake.stop();
  }
});

test("file handles that the driver lacks are the driver's limit, not errors of the server", async () => {
  const fake = await FakeMysql.start();
  const directory = mkdtempSync(join(tmpdir(), "meshbench-limits-"));
  try {
    const program = join(directory, "program.ts");
    const support = JSON.stringify(new URL("../../../harness/servers/engine.ts", import.meta.url).href);
    writeFileSync(
      program,
      `const { only, runEngine, specFor } = await import(${support});
      const step = { workload: "oltp_point_select", threads: 100, warmupSeconds: 0, durationSeconds: 1 };
      const window = only(await runEngine(specFor([${fake.port}], [step], { target: { connectTimeoutMs: 500 } })));
      process.stdout.write(JSON.stringify(window), () => process.exit());`,
    );
    const ran = await new Promise<{ out: string; err: string }>((resolve) => {
      const command = ["-c", `ulimit -n 60; exec "$0" "$1"`, process.execPath, program];
      execFile("sh", command, { maxBuffer: 2 ** 26 }, (_, out, err) => resolve({ out, err }));
    });
    assert.notEqual(ran.out, "", ran.err);
    const window = JSON.parse(ran.out) as StepResult;
    assert.equal(window.errors.byCode["EMFILE"], undefined, JSON.stringify(window.errors));
    assert.equal(window.errors.total, 0);
    assert.ok(window.transactions > 0);
    assert.equal(window.driver.saturated, true);
    assert.match(window.driver.reasons.join("; "), /the driver could not open \d+ connections \(EMFILE\).*ulimit -n/);
  } finally {
    rmSync(directory, { recursive: true, force: true });
    await fake.stop();
  }
});

test("no free local port is told with what to look at", () => {
  assert.match(judgeOwnLimits({ EADDRNOTAVAIL: 12 })[0]!, /12 connections \(EADDRNOTAVAIL\).*ip_local_port_range/);
  assert.deepEqual(judgeOwnLimits({}), []);
});
