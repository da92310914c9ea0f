/**
 * Several drivers' results as one: sums, merged latencies and service times, the span of their begins, and what is
 * missing.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { RunResult, Start, StepResult } from "../../../workloads/contract.ts";
import { runResultSchema } from "../../../workloads/contract.ts";
import { Latencies } from "../../../workloads/engine/figures/histogram.ts";
import { merge } from "../../../workloads/engine/figures/merge.ts";

function of(values: readonly number[]): Latencies {
  const latencies = new Latencies();
  for (const value of values) latencies.record(value);
  return latencies;
}

interface Share {
  latencies: number[];
  service?: number[];
  start?: Start;
  saturated?: string;
}

function windowOf({ latencies, service, start, saturated }: Share, more: Partial<StepResult> = {}): StepResult {
  const n = latencies.length;
  return {
    step: 0,
    repeat: 0,
    workload: "oltp_point_select",
    threads: 4,
    startedAt: "2026-01-01T00:00:00.000Z",
    windowSeconds: 10,
    complete: true,
    transactions: n,
    queries: { read: n, write: 0, other: 0, total: n },
    tps: n / 10,
    qps: n / 10,
    latency: of(latencies).summary(),
    histogram: of(latencies).encode(),
    ...(service
      ? {
          serviceLatency: of(service).summary(),
          serviceHistogram: of(service).encode(),
          openLoop: { requestedPerSecond: 5, achievedPerSecond: n / 10, maxBacklog: 1, dropped: 2, backlogAtEnd: 3 },
        }
      : {}),
    errors: { total: 1, byCode: { "1213": 1 }, restarts: 1 },
    reconnects: 0,
    intervals: [{ t: 1, tps: 3, qps: 3, reads: 3, writes: 0, others: 0, p95: 2, errors: 0, reconnects: 0 }],
    driver: {
      cpuSeconds: 1,
      cpuPercent: 10,
      eventLoopDelayP99Ms: 1,
      saturated: saturated !== undefined,
      reasons: saturated === undefined ? [] : [saturated],
      loops: 1,
      ...(start ? { start } : {}),
    },
    checks: { mismatches: 1, sampled: 10, sampledWrong: 0 },
    drain: { drained: 2, abandoned: 0 },
    server: [],
    ...more,
  };
}

function resultOf(index: number, count: number, steps: StepResult[], more: Partial<RunResult> = {}): RunResult {
  return runResultSchema.parse({
    schema: 1,
    kind: "meshbench-result",
    runId: "r",
    complete: true,
    startedAt: `2026-01-01T00:00:0${index}Z`,
    finishedAt: `2026-01-01T00:01:0${index}Z`,
    spec: {
      runId: "r",
      target: { driver: "mysql", user: "u", endpoints: [{ name: "e", host: "h", port: 1 }] },
      steps: [
        { workload: "oltp_point_select", threads: 4, ...(steps[0]?.openLoop ? { rate: { perSecond: 10 } } : {}) },
        { workload: "oltp_point_select", threads: 1 },
      ],
      drivers: { index, count, meet: { host: "10.99.0.14", port: 4010, key: "k" } },
    },
    engine: { name: "test", version: "0", node: "24" },
    host: { hostname: `node-${index}`, cpus: 1 },
    steps,
    summary: [],
    ...more,
  });
}
const started = (lateMs: number, clockUncertaintyMs: number | null = 0): Start => ({
  clockOffsetMs: clockUncertaintyMs === null ? null : 5,
  clockUncertaintyMs,
  lateMs,
});

test("latencies and service times of the whole are those of all values, in whatever order the parts come", () => {
  const ms = fc.array(fc.double({ min: 0.2, max: 5000, noNaN: true }), { minLength: 1, maxLength: 40 });
  fc.assert(
    fc.property(fc.array(fc.tuple(ms, ms), { minLength: 2, maxLength: 5 }), (parts) => {
      const results = parts.map(([latencies, service], i) =>
        resultOf(i, parts.length, [windowOf({ latencies, service })]),
      );
      const step = merge(results.toReversed()).steps[0]!;
      for (const [got, values] of [
        [step.latency!, parts.flatMap(([l]) => l)],
        [step.serviceLatency!, parts.flatMap(([, s]) => s)],
      ] as const) {
        const whole = of(values).summary()!;
        assert.equal(got.min, whole.min);
        assert.equal(got.max, whole.max);
        assert.ok(Math.abs(got.avg - whole.avg) < 1e-6 * whole.avg);
        for (const p of ["p50", "p95", "p999"] as const)
          assert.ok(Math.abs(got[p] - whole[p]) <= 0.002 * whole[p] + 0.001, `${p}: ${got[p]} for ${whole[p]}`);
      }
      assert.equal(
        Latencies.decode(step.serviceHistogram!, step.serviceLatency!).count,
        parts.flatMap(([, s]) => s).length,
        "and can be merged once more",
      );
    }),
    { numRuns: 30 },
  );
});

test("counts are added, groups of counts too", () => {
  const merged = merge([0, 1].map((i) => resultOf(i, 2, [windowOf({ latencies: [1, 2, 3], service: [1, 1, 1] })])));
  const step = merged.steps[0]!;
  assert.deepEqual(
    [step.transactions, step.tps, step.errors, step["checks"], step["drain"]],
    [
      6,
      0.6,
      { total: 2, byCode: { "1213": 2 }, restarts: 2 },
      { mismatches: 2, sampled: 20, sampledWrong: 0 },
      { drained: 4, abandoned: 0 },
    ],
  );
  assert.deepEqual(step.openLoop, {
    requestedPerSecond: 10,
    achievedPerSecond: 0.6,
    maxBacklog: 2,
    dropped: 4,
    backlogAtEnd: 6,
  });
  assert.equal(step.intervals[0]!.tps, 6);
  assert.equal(merged.spec.drivers, undefined, "the whole is no part");
  assert.deepEqual([merged.driverCount, merged.drivers!.map((d) => d.index)], [2, [0, 1]]);
  assert.deepEqual(
    [merged.startedAt, merged.finishedAt],
    ["2026-01-01T00:00:00Z", "2026-01-01T00:01:00Z"],
    "by the first driver's clock",
  );
  runResultSchema.parse(merged);
});

test("the span of the begins is what the drivers were late by, with the error of their clocks; without compared clocks its error is unknown", () => {
  const span = (starts: (Start | undefined)[], more: Partial<StepResult>[] = []) => {
    const { driver } = merge(
      starts.map((start, i) =>
        resultOf(i, starts.length, [windowOf({ latencies: [1], ...(start ? { start } : {}) }, more[i])]),
      ),
    ).steps[0]!;
    return [driver.startSkewMs, driver.startSkewUncertaintyMs];
  };
  assert.deepEqual(span([started(0), started(0, 0.4), started(0, 1.5)]), [0, 1.9]);
  assert.deepEqual(span([started(0), started(12.5, 0.4)]), [12.5, 0.4]);
  assert.deepEqual(span([started(0, null), started(0, null)], [{}, { startedAt: "2026-01-01T00:00:00.030Z" }]), [
    30,
    null,
  ]);
  assert.deepEqual(span([undefined, undefined]), [0, null], "results from before clocks were compared");
});

test("which driver was the limit is told, and each one's share", () => {
  const { driver } = merge([
    resultOf(0, 2, [windowOf({ latencies: [1] })]),
    resultOf(1, 2, [windowOf({ latencies: [1, 2], saturated: "CPU at 99 %" })]),
  ]).steps[0]!;
  assert.equal(driver.saturated, true);
  assert.deepEqual(driver.reasons, ["driver 2 of 2: CPU at 99 %"]);
  assert.deepEqual(
    driver.each!.map((d) => [d.index, d.host, d.transactions, d.saturated]),
    [
      [0, "node-0", 1, false],
      [1, "node-1", 2, true],
    ],
  );
});

test("a step with fewer threads than drivers is whole without those that have no share", () => {
  const one = windowOf({ latencies: [1] }, { step: 1, threads: 1 });
  const merged = merge([
    resultOf(0, 2, [windowOf({ latencies: [1] }), one]),
    resultOf(1, 2, [windowOf({ latencies: [1] })]),
  ]);
  assert.equal(merged.complete, true);
  assert.deepEqual(
    merged.steps.map((s) => [s.step, s.complete, s.driver.each!.length]),
    [
      [0, true, 2],
      [1, true, 1],
    ],
  );
});

test("results of other loads are refused, with the first difference", () => {
  const part = (
    index: number,
    change: (spec: RunResult["spec"]) => void,
    more: Partial<StepResult> = {},
  ): RunResult => {
    const result = resultOf(index, 2, [windowOf({ latencies: [1] }, more)]);
    change(result.spec);
    return result;
  };
  const same = part(0, () => {});
  const refused = (other: RunResult, pattern: RegExp): void => void assert.throws(() => merge([same, other]), pattern);
  const step = (change: (s: RunResult["spec"]["steps"][number]) => void) => (spec: RunResult["spec"]) =>
    change(spec.steps[0]!);
  const runs = "merge: results of different runs: ";
  refused(
    part(
      1,
      step((s) => (s.workload = "oltp_read_only")),
    ),
    new RegExp(`${runs}steps\\[0\\]\\.workload is "oltp_point`),
  );
  refused(
    part(
      1,
      step((s) => (s.durationSeconds = 30)),
    ),
    /steps\[0\]\.durationSeconds is 60 in one and 30 in another/,
  );
  refused(
    part(
      1,
      step((s) => (s.warmupSeconds = 0)),
    ),
    /warmupSeconds/,
  );
  refused(
    part(
      1,
      step((s) => (s.rate = { perSecond: 5, arrivals: "poisson", maxBacklog: 1 })),
    ),
    /steps\[0\]\.rate is nothing/,
  );
  refused(
    part(
      1,
      step((s) => (s.options = { range_size: 5 })),
    ),
    /steps\[0\]\.options/,
  );
  refused(
    part(1, (spec) => (spec.drivers!.count = 3)),
    /drivers\.count is 2 in one and 3 in another/,
  );
  refused(
    part(1, (spec) => (spec.seed = 9)),
    /seed is 1 in one and 9/,
  );
  refused(
    part(1, (spec) => (spec.data.tableSize = 5)),
    /data is/,
  );
  refused(
    part(1, (spec) => (spec.target.policy = "random")),
    /target is/,
  );
  refused(
    part(1, (spec) => spec.steps.pop()),
    /steps\.length is 2 in one and 1/,
  );
  const itself = (more: Partial<StepResult>, pattern: RegExp): void =>
    refused(
      part(1, () => {}, more),
      pattern,
    );
  itself({ workload: "oltp_read_only" }, /steps\[0\] repeat 0 is oltp_read_only with 4 threads, the spec says/);
  itself({ threads: 5 }, /oltp_point_select with 5 threads, the spec says oltp_point_select with 4/);
  itself({ step: 7 }, /steps\[7\] repeat 0 is no window of the run's spec/);
  itself({ repeat: 1 }, /steps\[0\] repeat 1 is no window/);
  const open = part(1, () => {});
  open.steps[0]!.openLoop = { requestedPerSecond: 1, achievedPerSecond: 1, maxBacklog: 0, dropped: 0 };
  refused(open, /steps\[0\] repeat 0 is an open loop, the spec says the other/);
  assert.throws(
    () =>
      merge([
        resultOf(
          0,
          1,
          [1, 2].map(() => windowOf({ latencies: [1] })),
        ),
      ]),
    /is there twice/,
  );
  const endpoints = [{ name: "near", host: "other", port: 2, role: "any" as const }];
  const own = part(1, (spec) => Object.assign(spec.target, { endpoints, passwordFile: "/x" }));
  assert.equal(merge([same, own]).steps[0]!.transactions, 2, "each driver has its own way to the servers");
});

test("a window that one driver lacks leaves the whole incomplete, though each result says it is complete", () => {
  const one = windowOf({ latencies: [1] }, { step: 1, threads: 1 });
  const merged = merge([resultOf(0, 2, [windowOf({ latencies: [1] }), one]), resultOf(1, 2, [])]);
  assert.equal(merged.complete, false);
  assert.equal(merged.incompleteReason, "driver 2 of 2 lacks steps[0] repeat 0");
  assert.equal(merged.summary[0]!.complete, false);
  const both = merge([0, 1].map((i) => resultOf(i, 2, [windowOf({ latencies: [1] })])));
  assert.equal(both.incompleteReason, "driver 1 of 2 lacks steps[1] repeat 0", "nobody measured it");
});

test("what is missing is told: a driver, its share of a window", () => {
  const alone = merge([resultOf(1, 3, [windowOf({ latencies: [1] })])]);
  assert.equal(alone.complete, false);
  assert.match(alone.incompleteReason!, /result of driver 1 of 3 is missing; the result of driver 3 of 3 is missing/);
  assert.match(alone.steps[0]!.incompleteReason!, /1 of 3 drivers measured this window/);
  assert.equal(alone.steps[0]!.driver.startSkewMs, undefined, "one driver has no distance to another");
  const cut = merge([
    resultOf(0, 2, [windowOf({ latencies: [1] })]),
    resultOf(1, 2, [], { complete: false, incompleteReason: "no window has ended yet" }),
  ]);
  assert.match(cut.incompleteReason!, /driver 2 of 2: no window has ended yet/);
});

test("service times from before they had histograms are left out of a whole, not made up", () => {
  const old = windowOf({ latencies: [1], service: [1] });
  delete old.serviceHistogram;
  const step = merge([resultOf(0, 2, [old]), resultOf(1, 2, [windowOf({ latencies: [1], service: [1] })])]).steps[0]!;
  assert.equal(step.serviceLatency, undefined);
  assert.equal(step.latency!.max, 1);
});
