/**
 * Several drivers on a fake server: they begin together whatever their clocks say, and none outlives the run of all.
 */
import assert from "node:assert/strict";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { afterEach, beforeEach, test } from "node:test";
import { CLI, specFor } from "../../../harness/servers/engine.ts";
import { FakeMysql } from "../../../harness/servers/fake-mysql.ts";
import { PASSWORD } from "../../../harness/servers/mariadb.ts";
import { endTogether, withOthers } from "../../../workloads/command/meeting.ts";
import type { RunResult, RunSpecInput } from "../../../workloads/contract.ts";
import { openBarrier } from "../../../workloads/engine/barrier/open.ts";
import { epochNow } from "../../../workloads/engine/clock.ts";
import { merge } from "../../../workloads/engine/figures/merge.ts";
import { run } from "../../../workloads/engine/run.ts";

let fake: FakeMysql;
let port: number;
beforeEach(async () => {
  fake = await FakeMysql.start();
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  port = (server.address() as AddressInfo).port;
  await new Promise((resolve) => server.close(resolve));
});
afterEach(() => fake.stop());

const spec = (index: number, count: number, steps: RunSpecInput["steps"], more: Partial<RunSpecInput> = {}) =>
  specFor([fake.port], steps, {
    spec: {
      ...more,
      runId: index === 0 ? "first" : "other",
      drivers: { index, count, meet: { host: "127.0.0.1", port, key: "k" } },
    },
  });
const options = (signal: AbortSignal, onLine: (line: string) => void = () => {}) => ({
  password: PASSWORD,
  entry: CLI,
  signal,
  onLine,
});

test("windows begin together by the true time, also with several loops, and in each step only who has a share takes part", async () => {
  const steps = [
    { workload: "oltp_point_select", threads: 5, warmupSeconds: 0.2, durationSeconds: 1 },
    { workload: "oltp_point_select", threads: 1, warmupSeconds: 0, durationSeconds: 0.3 },
    { workload: "oltp_point_select", threads: 2, warmupSeconds: 0, durationSeconds: 0.5, rate: { perSecond: 100 } },
  ];
  const wrong = 3_600_000;
  const results = await Promise.all(
    [0, 1].map(async (index): Promise<RunResult> => {
      // The second one's barrier believes in a clock that is an hour ahead; its engine is told the begin in the true
      // one.
      const barrier = (await openBarrier(
        spec(index, 2, steps),
        index === 1 ? { clock: () => epochNow() + wrong } : {},
      ))!;
      const truly =
        index === 0
          ? barrier
          : {
              ...barrier,
              arrive: async (point: string) => {
                const go = await barrier.arrive(point);
                return go && { ...go, at: go.at - wrong };
              },
            };
      const own = { ...spec(index, 2, steps, { workers: index + 1 }), runId: barrier.runId };
      const result = await run(own, { ...options(barrier.lost), barrier: truly });
      assert.equal(await endTogether(barrier, result), true);
      barrier.close();
      return result;
    }),
  );
  assert.deepEqual(
    results.map((r) => [r.complete, r.runId, r.steps.map((s) => s.step)]),
    [
      [true, "first", [0, 1, 2]],
      [true, "first", [0, 2]],
    ],
  );
  for (const step of [0, 2]) {
    const [a, b] = results.map((r) => r.steps.find((s) => s.step === step)!);
    assert.ok(
      Math.abs(b!.driver.start!.clockOffsetMs! + wrong) <= b!.driver.start!.clockUncertaintyMs!,
      "the hour is seen",
    );
    const late = Math.abs(a!.driver.start!.lateMs - b!.driver.start!.lateMs);
    assert.ok(
      Math.abs(Date.parse(a!.startedAt) - Date.parse(b!.startedAt)) <= late + b!.driver.start!.clockUncertaintyMs! + 2,
      `${a!.startedAt} and ${b!.startedAt}`,
    );
  }
  const merged = merge(results);
  assert.equal(merged.complete, true, merged.incompleteReason);
  assert.deepEqual(
    merged.steps.map((s) => s.driver.each!.length),
    [2, 1, 2],
  );
  assert.equal(merged.steps[2]!.openLoop!.requestedPerSecond, 100);
});

for (const [who, stopping] of [
  ["the first", 0],
  ["another", 1],
] as const) {
  test(`${who} driver is stopped in the middle of a window: all end at once, with what they have`, async () => {
    const steps = [
      { workload: "oltp_point_select", threads: 4, warmupSeconds: 0, durationSeconds: 60, intervalSeconds: 0.2 },
      { workload: "oltp_point_select", threads: 4, durationSeconds: 60 },
    ];
    const stops = [new AbortController(), new AbortController()];
    const results = await Promise.all(
      [0, 1].map((index) =>
        withOthers(spec(index, 2, steps), stops[index]!.signal, async ({ spec: own, signal, barrier }) => {
          const result = await run(own, {
            ...options(signal, (line) => {
              if (index === stopping && /1\/2 \[ +0s \]|1\/2 \[ +1s \]/.test(line)) stops[index]!.abort("SIGTERM");
            }),
            barrier,
          });
          assert.equal(await endTogether(barrier, result), false);
          return result;
        }),
      ),
    );
    for (const [index, result] of results.entries()) {
      assert.equal(result.complete, false);
      assert.match(result.incompleteReason!, index === stopping ? /stopped \(SIGTERM\)/ : /SIGTERM/);
      assert.equal(result.steps.length, 1, "no further window was begun");
      assert.ok(result.steps[0]!.transactions > 0 && result.steps[0]!.windowSeconds < 60);
    }
    const merged = merge(results);
    assert.equal(merged.complete, false);
    assert.equal(
      merged.steps[0]!.transactions,
      results.reduce((n, r) => n + r.steps[0]!.transactions, 0),
    );
  });
}

test("a first driver that cannot make the tables says so to the others", async () => {
  const never = new AbortController().signal,
    steps = [{ workload: "oltp_point_select", threads: 2 }];
  const first = withOthers(spec(0, 2, steps), never, async () => {
    await new Promise((resolve) => setTimeout(resolve, 300));
    throw new Error("the disk is full");
  });
  const second = withOthers(spec(1, 2, steps), never, async ({ spec: own, signal, barrier }) => {
    assert.equal(await barrier!.arrive("tables"), undefined);
    return run(own, { ...options(signal), barrier });
  });
  await assert.rejects(first, /^Error: the disk is full$/);
  const result = await second;
  assert.match(result.incompleteReason!, /the disk is full/);
  assert.equal(result.steps.length, 0);
});

test("a first driver that is stopped while it makes the tables, because another is lost, says which", async () => {
  const stop = new AbortController(),
    steps = [{ workload: "oltp_point_select", threads: 2 }];
  const first = withOthers(
    spec(0, 2, steps),
    new AbortController().signal,
    ({ signal }) =>
      new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("prepare was stopped")))),
  );
  const second = withOthers(spec(1, 2, steps), stop.signal, async ({ barrier }) => barrier!.arrive("tables"));
  setTimeout(() => stop.abort("SIGTERM"), 200);
  await assert.rejects(first, /driver 2 of 2 stopped: SIGTERM; prepare was stopped/);
  assert.equal(await second, undefined);
});
