import assert from "node:assert/strict";
import { test } from "node:test";
import { legSubject, pool } from "../../cli/study/pool.ts";
import { type SyntheticOptions, syntheticResult } from "../../harness/synthetic.ts";
import { compare } from "../../report/compare/compare.ts";
import { timeChart } from "../../report/html/time-charts.ts";
import { findPublished } from "../../report/published/index.ts";
import { publishedSubject } from "../../report/published/set.ts";
import { renderTerminal } from "../../report/render/terminal.ts";
import { estimate } from "../../report/stats.ts";

const stand = (stack: string, seed: number, startedAt: string, more: SyntheticOptions = {}) =>
  syntheticResult({
    stack,
    seed,
    startedAt,
    repeats: 1,
    threads: [1, 4],
    workloads: ["oltp_write_only"],
    seconds: 5,
    histograms: false,
    ...more,
  });
const day = (hour: number): string => new Date(Date.UTC(2026, 0, 1, hour)).toISOString();
/** A B B A, an hour each. */
const legs = () => ({
  a: [stand("a", 1, day(0), { rttMs: 0 }), stand("a", 2, day(3), { rttMs: 0 })],
  b: [stand("b", 3, day(1), { rttMs: 40 }), stand("b", 4, day(2), { rttMs: 40 })],
});

test("windows of two stands are repeats of one another, and their spread is that between stands", () => {
  const { a } = legs(),
    pooled = pool(a, "a");
  assert.deepEqual(
    pooled.steps.map((s) => [s.threads, s.repeat]),
    [
      [1, 0],
      [4, 0],
      [1, 1],
      [4, 1],
    ],
  );
  const subject = legSubject(a, "a", ["r/a/1.json", "r/a/2.json"]);
  assert.deepEqual(subject.points[0]!.tps, estimate(a.map((r) => r.steps[0]!.tps)));
  assert.equal(subject.source, "2 stands: r/a/1.json, 2.json");
  assert.equal(subject.method["stands"], 2);
});

test("a leg's hours and money are those of its stands, not of what ran between them", () => {
  const results = legs().a.map((r, i) => ({ ...r, cost: { total: i + 1, currency: "USD" } }));
  const subject = legSubject(results, "a", ["1.json", "2.json"]);
  assert.ok(Math.abs(subject.hours! - (2 * 2 * 5) / 3600) < 1e-9, String(subject.hours));
  assert.match(renderTerminal(compare([subject])), /3\.00 USD\)/);
  assert.equal(pool([results[0]!, legs().a[1]!], "a")["cost"]?.toString(), results[0]!.cost.toString());
});

test("one stand cut short marks the leg", () => {
  const [whole] = legs().a;
  const pooled = pool([whole!, stand("a", 2, day(3), { incomplete: "stopped by SIGTERM" })], "a");
  assert.equal(pooled.complete, false);
  assert.match(pooled.incompleteReason!, /1 of 2 stands: stopped by SIGTERM/);
});

test("over time, hours between stands are left out and said to be", () => {
  const { a } = legs(),
    chart = timeChart(legSubject(a, "a", ["1.json", "2.json"]), 0)!;
  assert.ok(chart.kind === "time");
  const last = Math.max(...chart.series.flatMap((s) => s.points.map(([t]) => t)));
  assert.ok(last < 30, `20 s of windows are drawn on ${last} s`);
  assert.deepEqual(
    chart.groups.map((g) => g.label),
    ["oltp_write_only", "oltp_write_only"],
    "one stretch for each stand",
  );
  assert.match(chart.description, /between deployments, are left out/);
});

test("the ratio of averages over the sweep has an interval by repeats, and says so in every output", () => {
  const { a, b } = legs();
  const c = compare([legSubject(a, "a", ["1", "2"]), legSubject(b, "b", ["1", "2"])]);
  const [base, far] = c.blocks[0]!.sweeps;
  assert.equal(base!.average!.n, 2);
  assert.ok(Math.abs(base!.average!.mean - base!.averageTps!) < 1e-9);
  assert.deepEqual(base!.average, estimate(a.map((r) => (r.steps[0]!.tps + r.steps[1]!.tps) / 2)));
  const ratio = c.blocks[0]!.sweepRatios[1]!;
  assert.ok(
    Math.abs(ratio.value - far!.averageTps! / base!.averageTps!) < 1e-9 &&
      ratio.interval!.low < ratio.value &&
      ratio.value < ratio.interval!.high,
  );
  assert.match(renderTerminal(c), /b: average [\d.]+ tps \(x0\.\d\d \[[\d.]+, [\d.]+\]/);
  const single = compare([legSubject([a[0]!], "a", ["1"]), legSubject([b[0]!], "b", ["1"])]);
  assert.equal(single.blocks[0]!.sweepRatios[1]!.verdict, "not tested");
});

test("what distance costs is marked where the latencies themselves show no difference", () => {
  const noisy = { noise: 0.5, rttMs: 3 };
  const near = legSubject(
    [stand("near", 1, day(0), { noise: 0.5, rttMs: 0 }), stand("near", 2, day(1), { noise: 0.5, rttMs: 0 })],
    "near",
    ["1", "2"],
  );
  const far = legSubject([stand("far", 3, day(0), noisy), stand("far", 4, day(1), noisy)], "far", ["1", "2"]);
  const c = compare([near, far]);
  const cells = c.blocks[0]!.rows.map((r) => r.cells[1]!);
  for (const cell of cells)
    assert.equal(cell.penalty!.evident, cell.ratios.avg!.verdict !== "no evidence of a difference");
  assert.ok(cells.some((cell) => cell.penalty!.evident === false));
  assert.match(renderTerminal(c), /ms, [+-][\d.]+ % tps ~/);
});

test("beside a published study, what our repeats leave open is neither alike nor different", () => {
  const against = findPublished("000").map(publishedSubject),
    match = new Map([
      ["hybrid", "hybrid"],
      ["aws", "aws-only"],
    ]);
  const rowOf = (noise: number) => {
    const of = (name: string, seed: number) =>
      legSubject(
        [0, 1].map((i) => stand(name, seed + i, day(i), { noise, rttMs: 0, workloads: ["oltp_read_only"] })),
        name,
        ["1", "2"],
      );
    const c = compare([of("hybrid", 11), of("aws", 21)], { against, match });
    return { row: c.shape!.rows.find((r) => r.what === "average tps, aws-only / hybrid")!, text: renderTerminal(c) };
  };
  const quiet = rowOf(0.002),
    noisy = rowOf(0.3);
  assert.equal(quiet.row.agrees, false, "x1.77 published, ours are alike and say so closely");
  assert.match(quiet.row.ours, /^x[\d.]+ \[[\d.]+, [\d.]+\]$/);
  assert.deepEqual([noisy.row.agrees, noisy.row.undecided], [null, true]);
  assert.match(noisy.text, /inconclusive/);
});
