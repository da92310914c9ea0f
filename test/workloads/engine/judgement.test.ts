/** When a driver counts as the bottleneck, how many event loops run, which endpoint is taken, what a sweep says. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Endpoint, RunSpecInput, StepSummary, Target } from "../../../workloads/contract.ts";
import { runSpecSchema } from "../../../workloads/contract.ts";
import { EndpointChooser } from "../../../workloads/engine/endpoints.ts";
import { sweeps } from "../../../workloads/engine/figures/summary.ts";
import { Random } from "../../../workloads/engine/random.ts";
import { RoleView } from "../../../workloads/engine/roles/view.ts";
import { reignsOf } from "../../../workloads/engine/roles/watch.ts";
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
  assert.throws(
    () => checkSpec(spec(step({ point_selects: 0, range_selects: "off" }))),
    /expected options that leave a statement to run/,
  );
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

const chooser = (policy: Target["policy"], reads: Target["reads"] = "replicas", roles?: RoleView): EndpointChooser =>
  new EndpointChooser({ endpoints, policy, reads }, 0, roles);

test("endpoint policies, and what failed lately is passed over", () => {
  const random = new Random(1);
  const names = (chooser: EndpointChooser, n: number, use: "read" | "write" = "write"): (string | undefined)[] =>
    Array.from({ length: n }, () => chooser.next(use, random)?.name);
  assert.deepEqual(names(chooser("round-robin"), 4), ["w", "r1", "r2", "w"]);
  assert.deepEqual(names(chooser("first-alive"), 2), ["w", "w"]);
  assert.deepEqual([...new Set(names(chooser("random"), 60))].toSorted(), ["r1", "r2", "w"]);
  const split = chooser("read-write-split");
  assert.deepEqual(names(split, 2, "write"), ["w", "w"]);
  assert.deepEqual([...new Set(names(split, 4, "read"))].toSorted(), ["r1", "r2"]);
  const failing = chooser("first-alive");
  failing.failed(endpoints[0]!);
  assert.deepEqual(names(failing, 1), ["r1"]);
  failing.failed(endpoints[1]!);
  failing.failed(endpoints[2]!);
  assert.deepEqual(names(failing, 1), ["w"], "when all have failed, the one whose failure is oldest");
  failing.worked(endpoints[1]!);
  assert.deepEqual(names(failing, 1), ["r1"]);
});

test("endpoints of the preferred site come first, the others while none of them is in service", () => {
  const random = new Random(1);
  const sited = endpoints.map((e, i) => ({ ...e, site: i === 0 ? "a" : "b" }));
  const one = (preferSite: string, policy: Target["policy"] = "round-robin"): EndpointChooser =>
    new EndpointChooser({ endpoints: sited, policy, reads: "replicas", preferSite }, 0);
  const names = (from: EndpointChooser, use: "read" | "write"): string[] =>
    Array.from({ length: 4 }, () => from.next(use, random)!.name);
  const near = one("b");
  assert.deepEqual(names(near, "write"), ["r1", "r2", "r1", "r2"]);
  near.failed(sited[1]!);
  assert.deepEqual(names(near, "write"), ["r2", "r2", "r2", "r2"]);
  near.failed(sited[2]!);
  assert.deepEqual(names(near, "write"), ["w", "w", "w", "w"]);
  near.worked(sited[2]!);
  assert.deepEqual(names(near, "write"), ["r2", "r2", "r2", "r2"]);
  assert.deepEqual(names(one("b", "read-write-split"), "write"), ["w", "w", "w", "w"], "the primary, wherever it is");
  assert.deepEqual(names(one("a", "read-write-split"), "read"), ["r1", "r2", "r1", "r2"], "no replica at a");
});

test("reads go where the spec says, and roles are those that the nodes answer with", () => {
  const names = (one: EndpointChooser, use: "read" | "write"): string[] => one.candidates(use).map(({ name }) => name);
  const split = (reads: Target["reads"], roles?: RoleView): string[][] => {
    const one = chooser("read-write-split", reads, roles);
    return [names(one, "write"), names(one, "read")];
  };
  assert.deepEqual(split("primary"), [["w"], ["w"]]);
  assert.deepEqual(split("replicas"), [["w"], ["r1", "r2"]]);
  assert.deepEqual(split("any"), [["w"], ["w", "r1", "r2"]]);
  const doubts: string[] = [];
  const view = new RoleView(["w", "r1", "r2"], (node) => doubts.push(node));
  view.update({ r1: "primary", r2: "replica" });
  assert.deepEqual(split("replicas", view), [["r1"], ["r2"]], "w does not answer and has no role");
  assert.deepEqual(split("any", view), [["r1"], ["r1", "r2"]]);
  view.doubt("r2");
  assert.deepEqual(doubts, [], "nobody took it for a primary");
  view.doubt("r1");
  view.doubt("r1");
  assert.deepEqual([doubts, ...split("primary", view)], [["r1"], [], []], "nowhere to write until it is asked");
  view.update({ w: "primary" });
  assert.deepEqual(split("replicas", view), [["w"], ["w"]], "no replica is left: the primary serves reads");
  const proxied = new RoleView(["n1", "n2"], () => {});
  assert.deepEqual(split("replicas", proxied), [["w"], ["r1", "r2"]], "endpoints that are no nodes keep their roles");
});

test("who was primary when, from the opening to the close", () => {
  const reigns = [
    { at: 1000, nodes: ["a"] },
    { at: 5250, nodes: [] },
    { at: 5900, nodes: ["b"] },
    { at: 20_000, nodes: ["c"] },
  ];
  assert.deepEqual(reignsOf(reigns, 4000, 9000), [
    { t: 0, nodes: ["a"] },
    { t: 1.25, nodes: [] },
    { t: 1.9, nodes: ["b"] },
  ]);
  assert.deepEqual(reignsOf(reigns, 0, 500), [{ t: 0, nodes: [] }]);
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
