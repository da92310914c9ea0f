/** Percentiles of the histograms against exact ones of the same values. */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { build, decodeFromCompressedBase64 } from "hdr-histogram-js";
import { Latencies } from "../../../workloads/engine/figures/histogram.ts";
import { Random } from "../../../workloads/engine/random.ts";

/** Latencies as a WAN run has them: a log-normal body at 30 ms and one in a hundred at some seconds; milliseconds. */
function recorded(count: number): number[] {
  const random = new Random(7, 1);
  return Array.from({ length: count }, () => {
    const normal = Math.sqrt(-2 * Math.log(1 - random.double())) * Math.cos(2 * Math.PI * random.double());
    return random.double() < 0.01 ? 1000 + 5000 * random.double() : 30 * Math.exp(0.4 * normal);
  });
}

/** The value below or at which p percent lie: rank ceil(n * p / 100). */
function exact(sorted: number[], p: number): number {
  return sorted[Math.max(0, Math.ceil((sorted.length * p) / 100) - 1)]!;
}

const PERCENTILES = [1, 50, 90, 95, 99, 99.9, 99.99] as const;

function of(values: number[]): Latencies {
  const latencies = new Latencies();
  for (const value of values) latencies.record(value);
  return latencies;
}

test("percentiles are within 0.1 % of the exact ones, from 0.1 ms to minutes", () => {
  const body = recorded(200_000);
  for (const scale of [1 / 300, 1, 40]) {
    const values = body.map((v) => v * scale);
    const sorted = values.toSorted((a, b) => a - b);
    const latencies = of(values);
    for (const p of PERCENTILES) {
      const error = Math.abs(latencies.percentile(p) / exact(sorted, p) - 1);
      assert.ok(
        error <= 0.001,
        `p${p} at scale ${scale}: ${latencies.percentile(p)} against ${exact(sorted, p)}, ${error}`,
      );
    }
  }
});

test("min, max and avg are exact, and no percentile lies outside of them", () => {
  const values = recorded(1000);
  const summary = of(values).summary()!;
  assert.equal(summary.min, Math.min(...values));
  assert.equal(summary.max, Math.max(...values));
  assert.ok(Math.abs(summary.avg - values.reduce((a, b) => a + b) / values.length) < 1e-9);
  const one = of([12.3456789]).summary()!;
  assert.deepEqual([one.min, one.p50, one.p999, one.max], [12.3456789, 12.3456789, 12.3456789, 12.3456789]);
  assert.equal(new Latencies().summary(), null);
  assert.ok(Number.isNaN(new Latencies().percentile(50)));
});

test("a latency above an hour is counted, its size kept in max", () => {
  const latencies = of([1, 7_200_000]);
  assert.equal(latencies.count, 2);
  assert.equal(latencies.summary()!.max, 7_200_000);
});

test("histograms of several loops merge into that of all values", () => {
  const values = recorded(50_000);
  const merged = new Latencies();
  for (let part = 0; part < 5; part++) merged.addPacked(of(values.filter((_, i) => i % 5 === part)).pack());
  const whole = of(values);
  assert.equal(merged.count, whole.count);
  assert.deepEqual({ ...merged.summary(), avg: 0 }, { ...whole.summary(), avg: 0 });
  const added = new Latencies();
  added.add(of(values.slice(0, 10)));
  added.add(new Latencies());
  assert.equal(added.count, 10);
});

test("the encoded histogram is in microseconds, readable by the library alone, and comes back with what it can't hold", () => {
  const values = recorded(20_000);
  const latencies = of(values);
  const text = latencies.encode();
  const plain = decodeFromCompressedBase64(text, 32, false);
  assert.equal(plain.totalCount, values.length);
  const sorted = values.toSorted((a, b) => a - b);
  for (const p of PERCENTILES)
    assert.ok(Math.abs(plain.getValueAtPercentile(p) / 1000 / exact(sorted, p) - 1) <= 0.0015, `p${p}`);
  const back = Latencies.decode(text, latencies.summary());
  assert.equal(back.count, values.length);
  assert.equal(back.summary()!.min, latencies.summary()!.min);
  assert.equal(back.summary()!.max, latencies.summary()!.max);
  assert.ok(Math.abs(back.percentile(99) / latencies.percentile(99) - 1) <= 0.0015);
});

test("reset empties it", () => {
  const latencies = of([5]);
  latencies.reset();
  assert.equal(latencies.count, 0);
  latencies.record(7);
  assert.equal(latencies.summary()!.min, 7);
});

test("a latency is counted at the place where the library itself would put it", () => {
  const library = build({
    bitBucketSize: 32,
    highestTrackableValue: 36_000_000_000,
    numberOfSignificantValueDigits: 3,
  });
  const check = (units: number): void =>
    assert.equal(
      of([units / 10_000]).pack().values[0],
      (library as unknown as { medianEquivalentValue(v: number): number }).medianEquivalentValue(units),
      `${units} tenths of a microsecond`,
    );
  const edges = Array.from({ length: 35 }, (_, power) => 2 ** power).filter((edge) => edge < 36_000_000_000);
  for (const edge of edges) [edge - 1, edge, edge + 1].forEach(check);
  fc.assert(fc.property(fc.double({ min: 0, max: 10.5, noNaN: true }), (power) => check(Math.floor(10 ** power))));
});
