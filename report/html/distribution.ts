/** Latency distributions out of the HDR histograms (microseconds, V2 compressed, base64) that a result carries. */

import type { Histogram } from "hdr-histogram-js";
import { decodeFromCompressedBase64 } from "hdr-histogram-js";
import type { StepResult } from "../../workloads/contract.ts";

/** Quantiles of the percentile plot: dense where the tail is. */
export const QUANTILES = [0, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.975, 0.99, 0.995, 0.999, 0.9995, 0.9999, 0.99999];

/** The windows' histograms added up; null when none carries one that can be read. */
export function mergedHistogram(windows: readonly StepResult[]): Histogram | null {
  let merged: Histogram | null = null;
  for (const window of windows) {
    if (!window.histogram) continue;
    try {
      const histogram = decodeFromCompressedBase64(window.histogram);
      if (merged) merged.add(histogram);
      else merged = histogram;
    } catch {
      // A histogram that cannot be decoded takes nothing from the figures beside it; the chart leaves it out.
    }
  }
  return merged && merged.totalCount > 0 ? merged : null;
}

/** [quantile, milliseconds]; quantiles above the resolution of the count are left out, the maximum closes the curve. */
export function percentileCurve(histogram: Histogram): [number, number][] {
  const n = histogram.totalCount;
  return QUANTILES.filter((q) => q === 0 || q <= 1 - 1 / n).map((q) => [
    q,
    Math.max(histogram.getValueAtPercentile(q * 100), 1) / 1000,
  ]);
}

/** Share of the events per bin of equal width in the logarithm: [bin's geometric middle in ms, per cent]. */
export function densityCurve(histogram: Histogram, binsPerDecade = 20): [number, number][] {
  const bins = new Map<number, number>();
  for (const [value, count] of recorded(histogram)) {
    const bin = Math.floor(Math.log10(Math.max(value, 1)) * binsPerDecade);
    bins.set(bin, (bins.get(bin) ?? 0) + count);
  }
  const used = [...bins.keys()];
  const out: [number, number][] = [];
  for (let bin = Math.min(...used) - 1; bin <= Math.max(...used) + 1; bin++) {
    out.push([10 ** ((bin + 0.5) / binsPerDecade) / 1000, ((bins.get(bin) ?? 0) / histogram.totalCount) * 100]);
  }
  return out;
}

/** The library's own array of counts, which its common interface does not show. */
interface Counts {
  countsArrayLength: number;
  getCountAtIndex(index: number): number;
  valueFromIndex(index: number): number;
  medianEquivalentValue(value: number): number;
}

function* recorded(histogram: Histogram): Generator<[value: number, count: number]> {
  const counts = histogram as unknown as Counts;
  let left = histogram.totalCount;
  for (let i = 0; i < counts.countsArrayLength && left > 0; i++) {
    const count = counts.getCountAtIndex(i);
    if (count === 0) continue;
    left -= count;
    yield [counts.medianEquivalentValue(counts.valueFromIndex(i)), count];
  }
}
