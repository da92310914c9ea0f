import assert from "node:assert/strict";
import { test } from "node:test";
import type { SyntheticOptions } from "../../harness/synthetic.ts";
import { syntheticResult } from "../../harness/synthetic.ts";
import { compare } from "../../report/compare/compare.ts";
import { designRows } from "../../report/compare/designs.ts";
import { renderReport } from "../../report/html/report.ts";
import { subjectOf, withoutWindows } from "../../report/model.ts";
import { toData } from "../../report/render/data.ts";
import { renderMarkdown } from "../../report/render/markdown.ts";
import { renderTerminal } from "../../report/render/terminal.ts";

const GALERA = {
  engine: "mariadb",
  replication: "galera",
  title: "MariaDB Galera",
  commit: "farthest-member",
} as const;
const SINGLE = { engine: "mariadb", replication: "none", title: "MariaDB", commit: "none" } as const;

const subject = (stack: string, options: SyntheticOptions) =>
  subjectOf(syntheticResult({ stack, histograms: false, ...options }), stack, `${stack}.json`);
const far = subject("far", { database: GALERA, rttMs: 30 });
const near = subject("near", { database: GALERA, rttMs: 0, seed: 2 });
const single = subject("single", { database: SINGLE, rttMs: 0, seed: 3 });

test("designs: a line per run and writing workload, with the figures of the blocks below", () => {
  const comparison = compare([single, near, far]);
  const rows = designRows(comparison);
  assert.deepEqual(
    rows.map((r) => [r.workload, r.design, comparison.subjects[r.subject]!.label]),
    ["oltp_write_only", "oltp_read_write"].flatMap((workload) => [
      [workload, "MariaDB", "single"],
      [workload, "MariaDB Galera", "near"],
      [workload, "MariaDB Galera", "far"],
    ]),
    "a workload that writes nothing has no line",
  );
  const row = rows.find((r) => r.workload === "oltp_write_only" && r.subject === 2)!;
  const points = far.points.filter((p) => p.key === "oltp_write_only");
  const best = points.toSorted((a, b) => b.tps!.mean - a.tps!.mean)[0]!;
  assert.deepEqual(row.peak, { threads: best.threads, tps: best.tps, p95Ms: best.p95!.mean });
  assert.equal(row.rttMs, 30);
  assert.equal(row.alone?.threads, 1);
  assert.equal(row.alone?.meanMs, points.find((p) => p.threads === 1)!.avg!.mean);
  assert.ok(row.alone?.floorMs !== null && row.alone!.floorMs >= 30 && row.alone!.floorMs <= row.alone!.meanMs);
  assert.equal(row.lagP95Ms, null, "no lag was measured");
  const alone = rows.find((r) => r.subject === 0)!.alone!;
  assert.ok(alone.floorMs! < 30, "a single server's commit waits for no other node");
});

test("designs: runs of one design need no such table", () => {
  assert.deepEqual(designRows(compare([near, far])), []);
});

test("designs: lag is the worst replica's, and windows that fell back are counted", () => {
  const result = structuredClone(far.result!);
  const windows = result.steps.filter((w) => w.workload === "oltp_write_only");
  Object.assign(windows[0]!, { lag: [{ p95Ms: 4 }, { p95Ms: 9 }], degraded: "semi-sync was off" });
  Object.assign(windows[1]!, { lag: [{ p95Ms: 6 }, { p95Ms: null }] });
  const comparison = compare([single, subjectOf(result, "far", "far.json")]);
  const row = designRows(comparison).find((r) => r.workload === "oltp_write_only" && r.subject === 1)!;
  assert.equal(row.lagP95Ms, 9);
  assert.equal(row.degraded, 1);
  assert.match(renderTerminal(comparison), /MariaDB Galera \(fell back in 1 window\)/);
});

test("a subject whose windows were dropped to save memory shows the same text as a whole one", () => {
  const result = structuredClone(far.result!);
  for (const window of result.steps)
    Object.assign(window, {
      lag: [{ node: "b-1", p95Ms: 7, maxMs: 12, unseen: 0 }],
      degraded: "semi-sync was off",
      primaries: [{ from: 0, nodes: ["a-1"] }],
    });
  const whole = subjectOf(result, "far", "far.json");
  const shown = renderTerminal(compare([single, whole]));
  assert.equal(renderTerminal(compare([withoutWindows(single), withoutWindows(whole)])), shown);
  assert.match(shown, /7\.0+ ms \(b-1\)/);
  assert.match(shown, /fell back in/);
});

test("designs: in the terminal, Markdown, data and the page", async () => {
  const comparison = compare([single, far]);
  const rows = designRows(comparison);
  assert.match(renderTerminal(comparison), /== what a write costs, by design\n.*\n.*RTT ms/);
  assert.match(renderMarkdown(comparison), /## What a write costs, by design/);
  assert.deepEqual(
    toData(comparison).designs.map((d) => d.subject),
    rows.map((r) => comparison.subjects[r.subject]!.label),
  );
  const page = await renderReport(comparison);
  const shown = [...page.matchAll(/data-metric="design-1" data-value="([^"]*)"/g)].map((m) => Number(m[1]));
  assert.deepEqual(
    shown,
    rows.map((r) => r.peak.tps.mean),
  );
});
