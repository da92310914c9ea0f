/** When a driver counts as the bottleneck, how many event loops run, which endpoint is taken, what a sweep says. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Endpoint, RunSpecInput, StepSummary } from "../../../workloads/contract.ts";
import { runSpecSchema } from "../../../workloads/contract.ts";
import { EndpointChooser } from "../../../workloads/engine/endpoints.ts";
import { sweeps } from "../../../workloads/engine/figures/summary.ts";
import { Random } from "../../../workloads/engine/random.ts";
import { checkSpec } from "../../../workloads/engine/run.ts";
import { judge, stealPercent } from "../../../workloads/engine/selfcheck.ts";
import { loopCount, ownSessions } from "../../../workloads/engine/window.ts";

const spec = (more: Partial<RunSpecInput> = {}) =>
  runSpecSchema.parse({
    runId: "r",
    target: { driver: "mysql", user: "u", endpoints: [{ name: "a", host: "h", port: 1 }] },
    steps: [{ workload: "oltp_read_only", threads: 4 }],
    ...more,
  });

test("saturated: by CPU, by lateness against the latencies, by steal; each with its reason", () => {
  assert.deepEqual(judge([{ cpuPercent: 60, eventLoopDelayP99Ms: 1 }], 3, 0), { saturated: false, reasons: [] });
  assert.match(
    judge(
      [
        { cpuPercent: 20, eventLoopDelayP99Ms: 0 },
        { cpuPercent: 95, eventLoopDelayP99Ms: 0 },
      ],
      3,
      0,
    ).reasons.join(),
    /95 % of a core/,
  );
  assert.match(judge([{ cpuPercent: 20, eventLoopDelayP99Ms: 6 }], 10, 0).reasons.join(), /late by 6\.0 ms/);
  assert.equal(judge([{ cpuPercent: 20, eventLoopDelayP99Ms: 6 }], 40, 0).saturated, false);
  assert.equal(judge([{ cpuPercent: 20, eventLoopDelayP99Ms: 1.5 }], 1, 0).saturated, false);
  assert.match(judge([], null, 12).reasons.join(), /steal/);
  assert.equal(
    stealPercent({ at: 0, steal: 10, total: 1000, retransmits: 0 }, { at: 1, steal: 20, total: 1200, retransmits: 0 }),
    5,
  );
});

test("event loops: one up to 64 connections, then what the cores allow; a spec's number wins, but never more than connections", () => {
  assert.equal(loopCount(spec(), 64, 8), 1);
  assert.equal(loopCount(spec(), 192, 8), 3);
  assert.equal(loopCount(spec(), 1000, 4), 3);
  assert.equal(loopCount(spec(), 192, 2), 1);
  assert.equal(loopCount(spec({ workers: 4 }), 2, 2), 2);
});

test("drivers share the threads of a step", () => {
  const shares = (threads: number, count: number): number[] =>
    Array.from({ length: count }, (_, index) => {
      const s = spec({ drivers: { index, count }, steps: [{ workload: "oltp_read_only", threads }] });
      return ownSessions(s, s.steps[0]!);
    });
  assert.deepEqual(shares(5, 2), [3, 2]);
  assert.deepEqual(shares(16, 3), [6, 5, 5]);
  assert.deepEqual(shares(1, 2), [1, 0], "the last ones sit a step with fewer threads out");
  checkSpec(spec({ drivers: { index: 1, count: 2 }, steps: [{ workload: "oltp_read_only", threads: 1 }] }));
  assert.throws(() => checkSpec(spec({ drivers: { index: 2, count: 2 } })), /drivers\.index: 2/);
});

test("a spec that leaves nothing to do, or reads from no rows, is refused", () => {
  const step = (options: Record<string, number | string>): Partial<RunSpecInput> => ({
    steps: [{ workload: "oltp_read_only", threads: 1, options }],
  });
  assert.throws(() => checkSpec(spec(step({ point_selects: 0, range_selects: "off" }))), /no statement is left/);
  assert.throws(() => checkSpec(spec(step({ table_size: 5 }))), /expected in data\.tableSize/);
  assert.throws(() => checkSpec(spec(step({ "rand-type": "zipf" }))), /rand-type: "zipf"; expected one of special/);
  assert.throws(() => checkSpec(spec({ data: { tableSize: 0 } })), /tableSize: 0; expected/);
  checkSpec(spec(step({ "rand-type": "zipfian", "skip-trx": "on" })));
});

const endpoints: Endpoint[] = [
  { name: "w", host: "h", port: 1, role: "primary" },
  { name: "r1", host: "h", port: 2, role: "replica" },
  { name: "r2", host: "h", port: 3, role: "replica" },
];

test("endpoint policies, and what failed lately is passed over", () => {
  const random = new Random(1);
  const names = (chooser: EndpointChooser, n: number, use: "read" | "write" = "write"): string[] =>
    Array.from({ length: n }, () => chooser.next(use, random).name);
  assert.deepEqual(names(new EndpointChooser(endpoints, "round-robin"), 4), ["w", "r1", "r2", "w"]);
  assert.deepEqual(names(new EndpointChooser(endpoints, "first-alive"), 2), ["w", "w"]);
  assert.deepEqual([...new Set(names(new EndpointChooser(endpoints, "random"), 60))].toSorted(), ["r1", "r2", "w"]);
  const split = new EndpointChooser(endpoints, "read-write-split");
  assert.deepEqual(names(split, 2, "write"), ["w", "w"]);
  assert.deepEqual([...new Set(names(split, 4, "read"))].toSorted(), ["r1", "r2"]);
  const failing = new EndpointChooser(endpoints, "first-alive");
  failing.failed(endpoints[0]!);
  assert.deepEqual(names(failing, 1), ["r1"]);
  failing.failed(endpoints[1]!);
  failing.failed(endpoints[2]!);
  assert.deepEqual(names(failing, 1), ["w"], "when all have failed, the one whose failure is oldest");
  failing.worked(endpoints[1]!);
  assert.deepEqual(names(failing, 1), ["r1"]);
});

test("a sweep: the average over the thread counts, and the peak", () => {
  const s = spec({ steps: [1, 4, 16].map((threads) => ({ workload: "oltp_read_only", threads })) });
  const stat = (mean: number) => ({ n: 1, mean, sd: null, ci95: null });
  const summary = [100, 400, 250].map(
    (tps, step): StepSummary => ({
      step,
      workload: "oltp_read_only",
      threads: s.steps[step]!.threads,
      tps: stat(tps),
      qps: stat(tps),
      latencyAvg: null,
      p95: null,
      p99: null,
      errors: 0,
      saturated: false,
      complete: true,
    }),
  );
  assert.deepEqual(sweeps(s, summary), [
    { workload: "oltp_read_only", threads: [1, 4, 16], averageTps: 250, peakTps: 400, peakThreads: 4 },
  ]);
  assert.deepEqual(sweeps(s, summary.slice(0, 1)), []);
});
