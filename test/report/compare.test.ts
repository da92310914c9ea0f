import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { SyntheticOptions } from "../../harness/synthetic.ts";
import { syntheticResult } from "../../harness/synthetic.ts";
import { COMMIT_RULES } from "../../report/compare/commit-rules.ts";
import { compare } from "../../report/compare/compare.ts";
import { averagesApart } from "../../report/compare/counterpart.ts";
import { floorOf } from "../../report/compare/floor.ts";
import { saturation } from "../../report/compare/sweep.ts";
import { summary } from "../../report/html/summary.ts";
import type { Point } from "../../report/model.ts";
import { subjectOf } from "../../report/model.ts";
import { findPublished } from "../../report/published/index.ts";
import { publishedSubject } from "../../report/published/set.ts";
import { renderCsv, renderJson, toData } from "../../report/render/data.ts";
import { renderMarkdown } from "../../report/render/markdown.ts";
import { renderTerminal } from "../../report/render/terminal.ts";
import { estimate } from "../../report/stats.ts";
import { type CommitRule, commitRule } from "../../workloads/contract.ts";

const subject = (label: string, options: SyntheticOptions = {}) =>
  subjectOf(syntheticResult({ stack: label, histograms: false, ...options }), label, `${label}.json`);
const block = (c: ReturnType<typeof compare>, key: string) => c.blocks.find((b) => b.key === key)!;

test("a ratio is the quotient of the repeats' means, with an interval around it", () => {
  const [near, far] = [subject("near", { rttMs: 0 }), subject("far", { seed: 2, rttMs: 10 })];
  const cell = block(compare([near, far]), "oltp_write_only").rows[0]!.cells[1]!;
  const mean = (s: typeof near) =>
    s.result!.steps.filter((w) => w.workload === "oltp_write_only" && w.threads === 1).reduce((a, w) => a + w.tps, 0) /
    3;
  assert.ok(Math.abs(cell.ratios.tps!.value - mean(far) / mean(near)) < 1e-12);
  assert.equal(cell.ratios.tps!.verdict, "lower");
  assert.ok(
    cell.ratios.tps!.interval!.low < cell.ratios.tps!.value && cell.ratios.tps!.value < cell.ratios.tps!.interval!.high,
  );
});

test("equal topologies: about one in twenty ratios shows a difference, all others are said to show none", () => {
  const pairs = Array.from({ length: 20 }, (_, i) =>
    compare([subject("a", { seed: 1000 + i }), subject("b", { seed: 5000 + i })]),
  );
  const verdicts = pairs.flatMap((c) => c.blocks.flatMap((b) => b.rows.map((r) => r.cells[1]!.ratios.tps!.verdict)));
  const share = verdicts.filter((v) => v !== "no evidence of a difference").length / verdicts.length;
  assert.ok(share < 0.08, String(share));
  assert.match(renderTerminal(pairs[0]!), /no evidence of a difference/);
});

test("single runs get a ratio without an interval", () => {
  const c = compare([subject("a", { repeats: 1 }), subject("b", { repeats: 1, seed: 3 })]);
  assert.equal(c.blocks[0]!.rows[0]!.cells[1]!.ratios.tps!.interval, null);
  assert.match(renderTerminal(c), /\(no repeats\)/);
});

test("other data sizes, reconnects or statement mixes are refused; forced, every output is marked", () => {
  const [a, b] = [subject("a"), subject("b", { tableSize: 20_000 })];
  assert.throws(() => compare([a, b]), /not the same work[\s\S]*rows per table: a 10000; b 20000/);
  const forced = compare([a, b], { force: true });
  assert.match(renderTerminal(forced), /NOT THE SAME WORK/);
  assert.match(renderMarkdown(forced), /NOT THE SAME WORK/);
  assert.equal(toData(forced).sameWork, false);
  assert.match(renderCsv(forced).split("\r\n")[1]!, /,false,/);
});

test("statements per transaction decide: updates that found no row are no other work, one write less is", () => {
  const [a, b] = [subject("a"), subject("b")];
  for (const p of b.points)
    if (p.mix && p.mix.write > 0) p.mix = { ...p.mix, write: p.mix.write - 0.3, other: p.mix.other! + 0.3 };
  assert.equal(compare([a, b]).forced, false);
  const like003 = subject("like003", {
    tables: 10,
    tableSize: 1_000_000,
    workloads: ["oltp_read_write"],
    threads: [128],
  });
  assert.throws(
    () => compare([like003, publishedSubject(findPublished("003/galera")[0]!)]),
    /statements per transaction of oltp_read_write: like003 14 reads, 4 writes, 2 others; published:003\/galera 14 reads, 3 writes/,
  );
});

test("what the edges of a short window cut is no other work; beyond that it is", () => {
  const shares = (cut: number) => {
    const [a, b] = [subject("a"), subject("b")];
    for (const p of [...a.points, ...b.points]) if (p.mix) p.mix = { ...p.mix, cut };
    for (const p of b.points) if (p.mix) p.mix = { ...p.mix, read: 0.9 * p.mix.read };
    return [a, b];
  };
  assert.equal(compare(shares(0.06)).forced, false);
  assert.throws(() => compare(shares(0.01)), /statements per transaction of oltp_read_only/);
  // One connection and its many transactions: hardly anything is cut.
  const short = subject("short").points.find((p) => p.threads === 1)!;
  assert.ok(short.mix!.cut! > 0 && short.mix!.cut! < 0.05, String(short.mix!.cut));
});

test("a node with two roles is found in both: the driver that is also the proxy pays no way to itself", () => {
  const far = subject("far", { rttMs: 10 });
  const { topology } = far.context!;
  topology!.nodes.find((n) => n.name === "drv")!.role = "driver+proxy";
  far.result!.spec.target.endpoints[0]!.host = "10.99.0.9";
  const floor = floorOf(far, far.points.find((p) => p.key === "oltp_read_only" && p.threads === 1)!)!;
  assert.deepEqual(
    floor.terms.map((t) => t.what),
    ["statements: round trip from the proxy to the nearest database"],
  );
});

test("a workload with other options is another unit of work", () => {
  const [a, b] = [subject("a"), subject("b", { options: { range_size: 10 } })];
  assert.throws(() => compare([a, b]), /none in common/);
});

test("what a commit waits for, by rule: measured on the triangle of studies/floors.yaml (docs/floors.md)", () => {
  const triangle: Record<string, number> = { "a b": 10, "a c": 30, "b c": 80 };
  const rtt = (x: string, y: string): number => triangle[[x, y].sort().join(" ")]!;
  const wait = (rule: CommitRule, writer: string, others: string[]): number =>
    COMMIT_RULES[rule].wait(writer, others, rtt);
  assert.deepEqual(
    commitRule.options.map((rule) => [rule, wait(rule, "a", ["b", "c"]), wait(rule, "a", ["b"]), wait(rule, "a", [])]),
    [
      ["none", 0, 0, 0],
      ["nearest-member", 10, 10, 0],
      ["majority", 10, 10, 0],
      ["farthest-member", 30, 10, 0],
      ["safe-delivery", 60, 10, 0],
    ],
  );
});

test("differences of method are listed, not refused", () => {
  const c = compare([subject("a"), subject("b", { seconds: 20 })]);
  assert.deepEqual(c.work.differences.find((d) => d.what === "window (s)")?.values, ["10", "20"]);
});

test("the floor of a Galera commit is the way over two members and back; reads pay none of it", () => {
  const far = subject("far", { rttMs: 10 });
  const at = (key: string) => far.points.find((p) => p.key === key && p.threads === 1)!;
  const write = floorOf(far, at("oltp_write_only"))!;
  assert.ok(Math.abs(write.terms.find((t) => t.what.startsWith("commit"))!.ms - (10 + 0.2 + 10) / 2) < 1e-9);
  assert.ok(write.measuredMs! > write.ms);
  const read = floorOf(far, at("oltp_read_only"))!;
  assert.equal(
    read.terms.some((t) => t.what.startsWith("commit")),
    false,
  );
  assert.ok(Math.abs(read.ms - 16 * 0.2) < 1e-9, "16 statements of 0.2 ms from the driver to the endpoint");
});

test("the penalty per ms of RTT is the number of round trips that the generator put in", () => {
  const c = compare([subject("near", { rttMs: 0, noise: 0 }), subject("far", { rttMs: 20, noise: 0 })]);
  const penalty = block(c, "oltp_write_only").rows[0]!.cells[1]!.penalty!;
  assert.ok(Math.abs(penalty.roundTrips - 20 / 19.8) < 0.05, String(penalty.roundTrips));
  assert.ok(Math.abs(block(c, "oltp_read_only").rows[0]!.cells[1]!.penalty!.roundTrips) < 0.05);
});

test("money: price / (tps x 3600) x 10^6, and 'no price given' where there is none", () => {
  const c = compare([subject("a", { costPerHour: 0.36 }), subject("b", { seed: 4 })]);
  const [first, second] = c.blocks[0]!.rows[0]!.cells;
  assert.ok(Math.abs(first!.perMillion! - (0.36 / (first!.point.tps!.mean * 3600)) * 1e6) < 1e-12);
  assert.equal(second!.perMillion, null);
  assert.match(renderTerminal(c), /no price given/);
});

test("an aborted run is shown and marked, its cut window left out of the means", () => {
  const aborted = subject("aborted", { incomplete: "stopped by SIGTERM" });
  const c = compare([subject("a"), aborted]);
  const point = aborted.points.at(-1)!;
  assert.equal(point.windows, 3);
  assert.equal(point.tps!.n, 2);
  assert.match(renderTerminal(c), /INCOMPLETE: stopped by SIGTERM/);
  assert.match(renderTerminal(c), /1 of 3 windows cut short/);
});

test("errors, outages and a saturated driver are flagged", () => {
  const text = renderTerminal(compare([subject("a"), subject("b", { outageSeconds: 4, saturated: true })]));
  assert.match(text, /256 errors \(1047: 256\)/);
  assert.match(text, /outage 4\.0 s/);
  assert.match(text, /DRIVER SATURATED: driver CPU at 97 %/);
});

const point = (threads: number, tps: number): Point => ({
  key: "w",
  workload: "w",
  threads,
  tps: estimate([tps]),
  qps: null,
  avg: null,
  p95: null,
  p99: null,
  mix: null,
  windows: 1,
  completeWindows: 1,
  incompleteReason: null,
  errors: 0,
  restarts: 0,
  errorsByCode: {},
  longestGapSeconds: null,
  saturated: [],
  notes: [],
});

test("saturation: nothing above the thread count it names gains 5 %, and every count below it is beaten by 5 %", () => {
  fc.assert(
    fc.property(fc.array(fc.double({ min: 1, max: 1e5, noNaN: true }), { minLength: 2, maxLength: 8 }), (values) => {
      const points = values.map((v, i) => point(2 ** i, v));
      const { at } = saturation(points);
      const beaten = (p: Point) => points.some((q) => q.threads > p.threads && q.tps!.mean >= p.tps!.mean * 1.05);
      for (const p of points.slice(0, -1)) {
        if (at === null || p.threads < at) assert.ok(beaten(p));
        if (p.threads === at) assert.ok(!beaten(p));
      }
    }),
  );
});

test("one low window in the middle of a growing sweep is not the ceiling", () => {
  assert.equal(saturation([point(1, 100), point(2, 95), point(4, 400), point(8, 405)]).at, 4);
});

test("JSON is complete and free of NaN; CSV has one line per point and escapes formulas", () => {
  const c = compare([subject("a"), subject("=cmd()")]);
  const data = JSON.parse(renderJson(c)) as ReturnType<typeof toData>;
  assert.equal(data.workloads.length, 3);
  assert.doesNotMatch(renderJson(c), /NaN|Infinity/);
  const lines = renderCsv(c).trimEnd().split("\r\n");
  assert.equal(lines.length, 1 + 3 * 4 * 2);
  assert.ok(lines.some((l) => l.includes("'=cmd()")));
  assert.equal(new Set(lines.map((l) => l.replace(/"(?:[^"]|"")*"/g, "q").split(",").length)).size, 1);
});

test("ours stands beside a published set, with what that one does not state", () => {
  const c = compare([subject("local-hybrid"), publishedSubject(findPublished("000/hybrid")[0]!)]);
  assert.ok(c.work.unstated.some((u) => u.what === "rows per table"));
  assert.match(renderTerminal(c), /t3\.medium is burstable/);
});

test("no subjects and a subject without windows are clear errors", () => {
  assert.throws(() => compare([]), /nothing to compare/);
  const empty = subject("empty");
  empty.points = [];
  assert.throws(() => compare([empty]), /empty: holds no measured window/);
});

test("markdown cannot be broken out of by a label", () => {
  const text = renderMarkdown(compare([subject("a|b<img src=x>")]));
  assert.doesNotMatch(text, /<img/);
  assert.match(text, /a\\\|b/);
});

test("of several drivers all hosts are told, and how far apart their windows began", () => {
  const host = { hostname: "d", cpus: 2, cpuModel: "Small" };
  const result = syntheticResult({ stack: "many", histograms: false });
  const many = {
    ...result,
    driverCount: 3,
    drivers: [0, 1, 2].map((index) => ({ index, host: index === 2 ? { ...host, cpus: 8 } : host })),
    steps: result.steps.map((s, i) => ({
      ...s,
      driver: { ...s.driver, startSkewMs: i === 1 ? 2.26 : 0.1, startSkewUncertaintyMs: 0.3 },
    })),
  };
  const { environment } = subjectOf(many, "many", "many.json");
  assert.deepEqual(
    [environment["driver host"], environment["drivers"], environment["drivers begun apart"]],
    ["2 x 2 CPUs Small, 8 CPUs Small", "3 of 3", "at most 2.3 ms +- 0.3 ms"],
  );
  const alone = subjectOf(result, "one", "one.json").environment;
  assert.deepEqual(
    [alone["driver host"], alone["drivers"], alone["drivers begun apart"]],
    ["2 CPUs Synthetic CPU", null, null],
  );
});

const plainLines = (text: string) => text.split("\n").filter((l) => l.includes("│"));
const dashes = (line: string) =>
  line
    .split("│")
    .slice(3, -1)
    .every((cell) => /^\s*-?\s*$/.test(cell));

test("a run beside a published set: what can be compared first, the rest once, no line of dashes", () => {
  const published = findPublished("000").map(publishedSubject);
  const c = compare([subject("local", { threads: [1, 4, 16], repeats: 1 }), ...published]);
  const text = renderTerminal(c);
  const lines = plainLines(text);
  assert.deepEqual(lines.filter(dashes), []);
  const at = (heading: string) => text.indexOf(heading);
  const [readOnly, rest] = [
    text.slice(at("== oltp_read_only"), at("== oltp_write_only")),
    text.slice(at("== no counterpart")),
  ];
  assert.match(readOnly, /│ +16 │ local .*\n│ +│ published:000\/aws-only +│ 2,664 │ x\d/);
  assert.doesNotMatch(readOnly.split("what distance")[0]!, /│ +4 │ local/);
  assert.match(rest, /oltp_read_only +│ +4 │ local/);
  assert.match(rest, /│ +144 │ published:000\/proxmox-only/);
  // Every point of every subject is shown exactly once.
  const figures = lines.filter(
    (l) => !/threads| of /.test(l) && /│ +(local|published:\S+) +│ +([\d,.]+|-) /.test(l),
  ).length;
  assert.equal(
    figures,
    c.subjects.reduce((n, s) => n + s.points.length, 0),
  );
  for (const out of [renderMarkdown(c), renderTerminal(c)])
    assert.equal(out.match(/no counterpart at the same thread count/gi)?.length, 1);
});

test("averages over other thread counts: one sentence says which, and what to run so that they can be compared", () => {
  const local = subject("local", { threads: [1, 4, 16], repeats: 1 });
  const beside = (others: readonly ReturnType<typeof subject>[]) => averagesApart(compare([local, ...others]));
  assert.deepEqual(beside([publishedSubject(findPublished("000/hybrid")[0]!)]), [
    'The averages of local and published:000/hybrid are not compared: local averages over 1, 4, 16 threads, published:000/hybrid over thread counts that the source states as "1 to 192, not listed"; run local with `threads: [1, 192]` in meshbench:profile to compare single thread counts, and `--against 000` compares averages as ratios between topologies.',
  ]);
  assert.equal(beside(findPublished("000").map(publishedSubject)).length, 1, "one for all sets of a study");
  assert.deepEqual(beside([subject("other", { threads: [1, 8], repeats: 1 })]), [
    "The averages of local and other are not compared: local averages over 1, 4, 16 threads, other over 1, 8 threads; run local with `threads: [1, 8]` in meshbench:profile to compare them.",
  ]);
  assert.deepEqual(beside([subject("same", { threads: [1, 4, 16], repeats: 1, seed: 7 })]), []);
  const words = summary(compare([local, publishedSubject(findPublished("000/hybrid")[0]!)]));
  assert.equal(words.filter((w) => /not compared|in relation/.test(w)).length, 1);
});

test("no run has a price: nothing is said of money", () => {
  for (const render of [renderTerminal, renderMarkdown])
    assert.doesNotMatch(render(compare([subject("a"), subject("b", { seed: 2 })])), /price|money|10\^6 tx/);
});
