/**
 * Several driver nodes on one topology: they work in the same windows, their counts add up, and the death of one is
 * told.
 */

import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { TestStack, touched, until } from "../../harness/stack.ts";
import type { ConfigInput } from "../../infra/config/schema.ts";
import { type RunResult, runResultSchema } from "../../workloads/contract.ts";

type Steps = Exclude<NonNullable<ConfigInput["profile"]>, string>["steps"];
const config = (steps: Steps, runId: string): ConfigInput => ({
  sites: [{ name: "here", kind: "local", nodes: 1 }],
  database: { engine: "mariadb" },
  proxy: { kind: "none" },
  driver: { nodes: 2 },
  runId,
  profile: { data: { tables: 1, tableSize: 1000 }, steps },
});
const THREE: Steps = [
  { workload: "oltp_read_write", threads: 3, warmupSeconds: 0.5, durationSeconds: 4 },
  { workload: "oltp_point_select", threads: 4, warmupSeconds: 0.5, durationSeconds: 3, rate: { perSecond: 200 } },
  { workload: "oltp_point_select", threads: 1, warmupSeconds: 0.5, durationSeconds: 1 },
];
const stack = new TestStack("e2e-drivers", config(THREE, "three"));
after(() => stack.remove());

/** What one driver itself has written. */
const part = (node: string, runId: string): RunResult =>
  stack
    .onNode(node, "sh", "-c", "cat /var/lib/meshbench/runs/*/result.json")
    .trim()
    .split("\n")
    .map((line) => runResultSchema.parse(JSON.parse(line)))
    .find((r) => r.runId === runId)!;

test("two drivers make one load: the same windows, threads and rate divided, every count the sum of theirs", async (t) => {
  const { code, output } = await stack.up();
  assert.equal(code, 0, output.slice(-3000));
  const result = stack.result((await stack.outputs())["resultFile"]);
  const parts = [part("driver", "three"), part("driver-2", "three")];
  assert.equal(result.complete, true);
  assert.equal(result.driverCount, 2);
  assert.deepEqual(
    result.drivers!.map((d) => (d as unknown as RunResult).host.hostname),
    ["driver", "driver-2"],
  );
  assert.equal(result.verify?.ok, true);
  assert.ok(
    result.prepare && result.prepare.rows === 1000 && parts[1]!.prepare === undefined,
    "the tables were made once",
  );

  const [closed, open, alone] = result.steps;
  assert.deepEqual(
    parts.map((p) => p.steps.length),
    [3, 2],
    "the second driver has no share of one thread",
  );
  assert.deepEqual(
    alone!.driver.each!.map((d) => d.index),
    [0],
  );
  for (const [i, step] of [closed!, open!].entries()) {
    const shares = parts.map((p) => p.steps[i]!);
    for (const share of shares)
      assert.ok(share.transactions > 0, `each works: ${JSON.stringify(shares.map((s) => s.transactions))}`);
    assert.equal(step.transactions, shares[0]!.transactions + shares[1]!.transactions);
    assert.equal(step.queries.total, shares[0]!.queries.total + shares[1]!.queries.total);
    assert.deepEqual(
      step.driver.each!.map((d) => [d.host, d.transactions]),
      [
        ["driver", shares[0]!.transactions],
        ["driver-2", shares[1]!.transactions],
      ],
    );
    assert.equal(step.latency!.max, Math.max(...shares.map((s) => s.latency!.max)));
    const { startSkewMs, startSkewUncertaintyMs } = step.driver;
    t.diagnostic(
      `${step.workload}: ${shares[0]!.transactions} + ${shares[1]!.transactions} transactions, begun ${startSkewMs} ms apart, give or take ${startSkewUncertaintyMs} ms`,
    );
    assert.ok(
      startSkewMs! + startSkewUncertaintyMs! < 1000 && startSkewUncertaintyMs! > 0,
      "most of both windows is common",
    );
    // The nodes share one machine and so one clock: what the drivers say of each other can be checked.
    assert.ok(
      Math.abs(Date.parse(shares[0]!.startedAt) - Date.parse(shares[1]!.startedAt)) <=
        startSkewMs! + startSkewUncertaintyMs! + 2,
    );
  }
  const connected = (i: number): unknown[] => parts.map((p) => p.steps[i]!.intervals[0]!["connected"]);
  assert.deepEqual(connected(0), [2, 1], "three threads on two drivers");
  assert.deepEqual(connected(1), [2, 2]);
  assert.equal(open!.openLoop!.requestedPerSecond, 200);
  assert.ok(open!.serviceLatency && open!.serviceHistogram, "service times of both drivers are there");
  // As the server itself has counted them from the opening of the first driver's window to its end: without a driver's
  // share it were a third less.
  const commits = closed!.server.find((s) => s.node === "here-1")!.delta!["Com_commit"]!;
  assert.ok(
    Math.abs(commits - closed!.transactions) <= 6 + closed!.transactions / 10,
    `the server counts ${commits} commits, the drivers ${closed!.transactions}`,
  );

  const again = await stack.up();
  assert.equal(again.code, 0, again.output.slice(-2000));
  assert.deepEqual(touched(again.output), []);
});

test("a driver that dies ends the run with what is there, and the next up makes it whole", async () => {
  stack.configure(config([{ workload: "oltp_read_write", threads: 2, warmupSeconds: 0, durationSeconds: 8 }], "dies"));
  const running = stack.start(["up", "--yes", "--skip-preview"]);
  await until("the load runs", 60, () => /driver: .*\[ *[2-9]s \]/.test(running.output()));
  stack.onNode("driver-2", "systemctl", "kill", "--signal=KILL", "meshbench-run@*.service");
  const { code, output } = await running.ended;
  assert.notEqual(code, 0);
  assert.match(output, /the run is incomplete \(.*driver 2 of 2 is gone/);
  const dir = join(stack.results, "e2e-drivers");
  const halved = stack.result(join(dir, "dies.json"));
  assert.equal(halved.complete, false);
  assert.ok(halved.steps[0]!.transactions > 0, "the first driver's part is kept");
  assert.match(halved.steps[0]!.incompleteReason!, /1 of 2 drivers measured this window/);

  const again = await stack.up();
  assert.equal(again.code, 0, again.output.slice(-3000));
  const whole = stack.result((await stack.outputs())["resultFile"]);
  assert.equal(whole.complete, true);
  assert.equal(whole.steps[0]!.driver.each!.length, 2);
  assert.deepEqual(readdirSync(dir).filter((f) => f.startsWith("dies")).length, 2, "both attempts are kept");
});

test("destroy leaves nothing", async () => {
  const { code, output } = await stack.run("destroy", "--yes");
  assert.equal(code, 0, output.slice(-2000));
  assert.deepEqual(Object.values(stack.leftovers()).flat(), []);
});
