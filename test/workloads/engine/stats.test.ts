/** Confidence intervals against tables and against data whose answer is known. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { runSpecSchema } from "../../../workloads/contract.ts";
import { overIntervals, stat } from "../../../workloads/engine/figures/stats.ts";
import { Random } from "../../../workloads/engine/random.ts";
import { schedule } from "../../../workloads/engine/schedule.ts";
import { intersect } from "../../../workloads/engine/watch/outage.ts";
import { nearest } from "../../../workloads/nearest.ts";
import { studentT975 } from "../../../workloads/student.ts";

test("Student's t, 97.5 %, as in the tables, and by its closed forms", () => {
  for (const [degrees, value] of [
    [3, 3.18245],
    [4, 2.77645],
    [5, 2.57058],
    [9, 2.26216],
    [30, 2.04227],
    [120, 1.97993],
    [1000, 1.96234],
  ] as const) {
    assert.ok(Math.abs(studentT975(degrees) - value) < 6e-6 * value, `${degrees}: ${studentT975(degrees)}`);
  }
  // One degree of freedom is Cauchy's distribution; two have a closed form.
  assert.ok(Math.abs(studentT975(1) - Math.tan(0.475 * Math.PI)) < 1e-6);
  assert.ok(Math.abs(studentT975(2) - 0.95 * Math.sqrt(2 / (1 - 0.95 ** 2))) < 1e-6);
  assert.ok(Number.isNaN(studentT975(0)));
});

test("repeats: mean, sample standard deviation, half width of the 95 % interval", () => {
  const s = stat([10, 12, 14]);
  assert.equal(s.mean, 12);
  assert.equal(s.sd, 2);
  assert.ok(Math.abs(s.ci95! - (4.3027 * 2) / Math.sqrt(3)) < 0.001);
  assert.deepEqual(stat([5]), { n: 1, mean: 5, sd: null, ci95: null });
});

function normal(random: Random): number {
  return Math.sqrt(-2 * Math.log(1 - random.double())) * Math.cos(2 * Math.PI * random.double());
}

test("independent intervals count fully, correlated ones as (1 - r) / (1 + r) of their number", () => {
  const random = new Random(11);
  for (const r of [0, 0.5, 0.8]) {
    let sum = 0;
    const rounds = 200;
    const n = 240;
    for (let round = 0; round < rounds; round++) {
      let x = normal(random);
      sum += overIntervals(
        Array.from({ length: n }, () => (x = r * x + Math.sqrt(1 - r * r) * normal(random))),
      ).nEffective;
    }
    const expected = (n * (1 - r)) / (1 + r);
    const mean = sum / rounds;
    assert.ok(Math.abs(mean / expected - 1) < 0.25, `r = ${r}: ${mean.toFixed(1)} against ${expected.toFixed(1)}`);
  }
});

test("the interval of correlated data covers the true mean about 95 times in a hundred; taken as independent it would not", () => {
  const random = new Random(12);
  const r = 0.7;
  let covered = 0;
  let naive = 0;
  const rounds = 400;
  for (let round = 0; round < rounds; round++) {
    let x = normal(random);
    const values = Array.from({ length: 120 }, () => 100 + (x = r * x + Math.sqrt(1 - r * r) * normal(random)));
    const w = overIntervals(values);
    if (Math.abs(w.mean - 100) <= w.ci95!) covered++;
    if (Math.abs(w.mean - 100) <= stat(values).ci95!) naive++;
  }
  assert.ok(covered / rounds > 0.88, `covered ${covered} of ${rounds}`);
  assert.ok(naive / rounds < 0.75, `taken as independent it covered ${naive} of ${rounds}`);
});

test("gaps of several loops: only what all of them miss is an outage", () => {
  assert.deepEqual(
    intersect(
      [
        { from: 0, to: 500 },
        { from: 1000, to: null },
      ],
      [
        { from: 300, to: 1200 },
        { from: 2000, to: null },
      ],
    ),
    [
      { from: 300, to: 500 },
      { from: 1000, to: 1200 },
      { from: 2000, to: null },
    ],
  );
  assert.deepEqual(intersect([{ from: 0, to: 300 }], [{ from: 300, to: 400 }]), []);
});

test("the order of windows: given, interleaved, random by the seed", () => {
  const spec = (order: string, seed: number) =>
    runSpecSchema.parse({
      runId: "r",
      seed,
      order,
      target: { driver: "mysql", user: "u", endpoints: [{ name: "a", host: "h", port: 1 }] },
      steps: [1, 2, 4].map((threads) => ({ workload: "oltp_read_only", threads, repeats: 2 })),
    });
  const text = (order: string, seed = 1): string =>
    schedule(spec(order, seed))
      .map((s) => `${s.step}${s.repeat}`)
      .join(" ");
  assert.equal(text("given"), "00 01 10 11 20 21");
  assert.equal(text("interleaved"), "00 10 20 01 11 21");
  assert.equal(text("random"), text("random"));
  assert.equal(text("random").split(" ").toSorted().join(" "), "00 01 10 11 20 21");
  assert.ok(new Set([1, 2, 3, 4, 5].map((seed) => text("random", seed))).size > 1);
});

test("the nearest known word, or none when nothing is near", () => {
  assert.equal(nearest("oltp_readonly", ["oltp_read_only", "oltp_read_write"]), "oltp_read_only");
  assert.equal(nearest("oltp_read_wrote", ["oltp_read_only", "oltp_read_write"]), "oltp_read_write");
  assert.equal(nearest("tpcc", ["oltp_read_only", "oltp_read_write"]), null);
});
