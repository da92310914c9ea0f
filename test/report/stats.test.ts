import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { normal, random } from "../../harness/random.ts";
import { estimate, halfWidth95, ratio } from "../../report/stats.ts";

test("the half width of a mean is t s / sqrt(n), and there is none for one run", () => {
  assert.equal(halfWidth95(estimate([5])!), null);
  assert.ok(Math.abs(halfWidth95(estimate([1, 2, 3])!)! - (4.30265 * 1) / Math.sqrt(3)) < 1e-4);
});

test("Fieller's interval covers the true ratio about 95 times in 100, also with unequal deviations and few runs", () => {
  const next = random(20260102);
  for (const [n1, n2, sd1, sd2] of [
    [3, 3, 5, 5],
    [3, 5, 12, 3],
    [5, 5, 2, 9],
  ] as const) {
    let covered = 0;
    const rounds = 3000;
    for (let i = 0; i < rounds; i++) {
      const draw = (n: number, mean: number, sd: number) =>
        estimate(Array.from({ length: n }, () => mean + sd * normal(next)))!;
      const r = ratio(draw(n1, 60, sd1), draw(n2, 100, sd2))!;
      if (r.interval === null || (r.interval.low <= 0.6 && r.interval.high >= 0.6)) covered++;
    }
    assert.ok(covered / rounds > 0.93 && covered / rounds < 0.99, `n ${n1}/${n2}: covered ${covered / rounds}`);
  }
});

test("a ratio and its reciprocal tell the same story", () => {
  const runs = fc.array(fc.double({ min: 50, max: 150, noNaN: true }), { minLength: 2, maxLength: 6 });
  fc.assert(
    fc.property(runs, runs, (a, b) => {
      const [there, back] = [ratio(estimate(a)!, estimate(b)!)!, ratio(estimate(b)!, estimate(a)!)!];
      if (!there.interval || !back.interval || there.interval.low === 0 || back.interval.low === 0) return;
      assert.ok(Math.abs(there.interval.low * back.interval.high - 1) < 1e-6);
      assert.equal(there.verdict === "higher", back.verdict === "lower");
    }),
  );
});

test("no interval is invented: single runs are not tested, a wild baseline has no bounded interval", () => {
  assert.equal(ratio(estimate([100])!, estimate([90, 91])!)!.verdict, "not tested");
  const wild = ratio(estimate([100, 101])!, estimate([1, 200])!)!;
  assert.equal(wild.interval, null);
  assert.equal(wild.verdict, "no evidence of a difference");
  assert.equal(ratio(estimate([0, 0])!, estimate([1, 2])!), null);
});

test("equal means give no evidence of a difference, well-separated ones do", () => {
  assert.equal(ratio(estimate([100, 104, 98])!, estimate([101, 99, 102])!)!.verdict, "no evidence of a difference");
  assert.equal(ratio(estimate([60, 61, 59])!, estimate([101, 99, 102])!)!.verdict, "lower");
});
