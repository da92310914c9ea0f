/** Seeded randomness and the distributions against their formulas, by chi-square with fixed seeds. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { DistributionName } from "../../../workloads/engine/distributions.ts";
import { distribution } from "../../../workloads/engine/distributions.ts";
import { fillDigitGroups, Random, splitmix64, uniqueNumber } from "../../../workloads/engine/random.ts";

const DRAWS = 200_000;

/** Chi-square statistic over bins that are expected to hold at least five. */
function chiSquare(observed: number[], probability: number[], draws: number): { value: number; degrees: number } {
  let value = 0;
  let bins = 0;
  let restObserved = 0;
  let restExpected = 0;
  observed.forEach((count, i) => {
    const expected = probability[i]! * draws;
    if (expected < 5) {
      restObserved += count;
      restExpected += expected;
      return;
    }
    value += (count - expected) ** 2 / expected;
    bins++;
  });
  if (restExpected >= 5) {
    value += (restObserved - restExpected) ** 2 / restExpected;
    bins++;
  }
  return { value, degrees: bins - 1 };
}

/** The 99.9 % quantile, by Wilson and Hilferty. */
function limit(degrees: number): number {
  return degrees * (1 - 2 / (9 * degrees) + 3.0902 * Math.sqrt(2 / (9 * degrees))) ** 3;
}

function assertFits(observed: number[], probability: number[], draws: number, name: string): void {
  assert.ok(
    Math.abs(probability.reduce((a, b) => a + b) - 1) < 1e-6,
    `${name}: the expected probabilities add up to 1`,
  );
  const { value, degrees } = chiSquare(observed, probability, draws);
  assert.ok(
    degrees > 2 && value < limit(degrees),
    `${name}: chi-square ${value.toFixed(1)} with ${degrees} degrees of freedom, limit ${limit(degrees).toFixed(1)}`,
  );
}

function draw(name: DistributionName, a: number, b: number, exponent = 0.8): number[] {
  const next = distribution({
    rand_type: name,
    rand_spec_iter: 12,
    rand_spec_pct: 1,
    rand_spec_res: 75,
    rand_pareto_h: 0.2,
    rand_zipfian_exp: exponent,
  });
  const random = new Random(4242, 3);
  const counts = new Array<number>(b - a + 1).fill(0);
  for (let i = 0; i < DRAWS; i++) {
    const value = next(random, a, b);
    assert.ok(Number.isInteger(value) && value >= a && value <= b, `${name}: ${value} is outside [${a}, ${b}]`);
    counts[value - a]!++;
  }
  return counts;
}

/** P(mean of n uniforms < x): the Irwin-Hall distribution. */
function irwinHall(n: number, x: number): number {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const y = n * x;
  let sum = 0;
  let binomial = 1;
  let factorial = 1;
  for (let k = 1; k <= n; k++) factorial *= k;
  for (let k = 0; k <= Math.floor(y); k++) {
    sum += (k % 2 === 0 ? 1 : -1) * binomial * (y - k) ** n;
    binomial = (binomial * (n - k)) / (k + 1);
  }
  return sum / factorial;
}

test("splitmix64 gives the sequence of its published reference for seed 1234567", () => {
  const next = splitmix64(1234567n);
  assert.deepEqual([next(), next(), next()], [6457827717110365317n, 3203168211198807973n, 9817491932198370423n]);
});

test("same seed and stream, same numbers; another seed or stream, others", () => {
  const take = (random: Random): number[] => Array.from({ length: 8 }, () => random.bits());
  assert.deepEqual(take(new Random(1, 0, 0, 5)), take(new Random(1, 0, 0, 5)));
  const all = [
    take(new Random(1, 0, 0, 5)),
    take(new Random(2, 0, 0, 5)),
    take(new Random(1, 0, 0, 6)),
    take(new Random(1, 0, 1, 5)),
    take(new Random(1, 1, 0, 5)),
  ];
  assert.equal(new Set(all.map(String)).size, all.length);
});

test("doubles are uniform in [0, 1), also in their last bits", () => {
  const random = new Random(99);
  const counts = new Array<number>(1000).fill(0);
  const low = new Array<number>(64).fill(0);
  for (let i = 0; i < DRAWS; i++) {
    const x = random.double();
    assert.ok(x >= 0 && x < 1);
    counts[Math.floor(x * 1000)]!++;
    low[Number(BigInt(x * 2 ** 53) & 63n)]!++;
  }
  assertFits(
    counts,
    counts.map(() => 1 / 1000),
    DRAWS,
    "doubles",
  );
  assertFits(
    low,
    low.map(() => 1 / 64),
    DRAWS,
    "low bits",
  );
});

test("uniform", () => {
  const counts = draw("uniform", 5, 504);
  assertFits(
    counts,
    counts.map(() => 1 / 500),
    DRAWS,
    "uniform",
  );
});

test("gaussian: the mean of twelve uniforms over the range", () => {
  const size = 500;
  const counts = draw("gaussian", 1, size);
  assertFits(
    counts,
    counts.map((_, i) => irwinHall(12, (i + 1) / size) - irwinHall(12, i / size)),
    DRAWS,
    "gaussian",
  );
});

test("special: three quarters in the central hundredth, the rest the mean of twelve uniforms", () => {
  const a = 1;
  const b = 10_001;
  const range = b - a;
  const counts = draw("special", a, b);
  // With res = 75 the first draw u decides: below 1/4 the mean over [a, b]; else a + floor(u * (centre + 1) + range / 2
  // - centre / 2).
  const centre = range / 100;
  const expected = counts.map((_, i) => {
    const mean = 0.25 * (irwinHall(12, (i + 1) / range) - irwinHall(12, i / range));
    const from = Math.max(0.25, (i - (range / 2 - centre / 2)) / (centre + 1));
    const to = Math.min(1, (i + 1 - (range / 2 - centre / 2)) / (centre + 1));
    return mean + Math.max(0, to - from);
  });
  assertFits(counts, expected, DRAWS, "special");
});

test("pareto: P(value < x) = (x / size) ^ (ln(1 - h) / ln h)", () => {
  const size = 1000;
  const power = Math.log(1 - 0.2) / Math.log(0.2);
  const counts = draw("pareto", 1, size);
  assertFits(
    counts,
    counts.map((_, i) => ((i + 1) / size) ** power - (i / size) ** power),
    DRAWS,
    "pareto",
  );
});

test("zipfian: P(k) proportional to 1 / k^exponent, below, at and above exponent 1", () => {
  for (const exponent of [0.8, 1, 1.3]) {
    const counts = draw("zipfian", 10, 1009, exponent);
    const weights = counts.map((_, i) => (i + 1) ** -exponent);
    const total = weights.reduce((x, y) => x + y);
    assertFits(
      counts,
      weights.map((w) => w / total),
      DRAWS,
      `zipfian ${exponent}`,
    );
  }
});

test("digit groups: ten of eleven digits joined by '-', every digit equally likely at every place", () => {
  const random = new Random(5);
  const c = new Uint8Array(119);
  const counts = Array.from({ length: 119 }, () => new Array<number>(10).fill(0));
  const rounds = 5000;
  for (let i = 0; i < rounds; i++) {
    fillDigitGroups(random, c);
    if (i === 0) assert.match(Buffer.from(c).toString(), /^\d{11}(-\d{11}){9}$/);
    c.forEach((byte, at) => {
      if (byte !== 45) counts[at]![byte - 48]!++;
    });
  }
  const digits = counts.filter((_, at) => (at + 1) % 12 !== 0);
  assert.equal(digits.length, 110);
  const all = digits.flat();
  assertFits(
    all,
    all.map(() => 1 / all.length),
    rounds * 110,
    "digits",
  );
  const pad = new Uint8Array(59);
  fillDigitGroups(random, pad);
  assert.match(Buffer.from(pad).toString(), /^\d{11}(-\d{11}){4}$/);
});

test("unique numbers do not repeat and stay within 32 bits", () => {
  const seen = new Set<number>();
  for (let i = 0; i < 100_000; i++) {
    const n = uniqueNumber(i, 77);
    assert.ok(Number.isInteger(n) && n >= 0 && n < 2 ** 32);
    seen.add(n);
  }
  assert.equal(seen.size, 100_000);
});
