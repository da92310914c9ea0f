/** The sweep of one workload over thread counts: its average, its peak, its scaling and where it stops growing. */
import type { Point, Subject } from "../model.ts";
import { type Estimate, estimate } from "../stats.ts";

/**
 * Adding threads has to bring at least this much; the figure is a convention, chosen above the noise of repeated runs.
 */
export const SATURATION_GAIN = 0.05;

export interface Sweep {
  key: string;
  threads: number[];
  /**
   * Mean of the tps over the thread counts, as published study 000 averages; `given` when the source states it without
   * its points.
   */
  averageTps: number | null;
  /**
   * The same with its spread over the repeats, each with its own average over the sweep; no spread where a count misses
   * a repeat.
   */
  average: Estimate | null;
  averageP95: number | null;
  peakTps: number | null;
  peakThreads: number | null;
  given: boolean;
  /** Speed-up over the lowest thread count divided by the growth in threads: 1 is linear. */
  scaling: { threads: number; efficiency: number }[];
  saturation: Saturation;
}

export type Saturation = { at: number; because: string } | { at: null; because: string };

const mean = (values: number[]) => (values.length ? values.reduce((a, b) => a + b, 0) / values.length : null);

/**
 * The smallest thread count that no higher one beats by 5 % or more. Looking at all higher counts, not only at the
 * next, keeps one low window in the middle of a sweep from being taken for the ceiling.
 */
export function saturation(points: readonly Point[]): Saturation {
  const sorted = points.filter((p) => p.tps && p.tps.mean > 0).sort((a, b) => a.threads - b.threads);
  if (sorted.length < 2) return { at: null, because: "one thread count only" };
  for (const [i, point] of sorted.entries()) {
    const higher = sorted.slice(i + 1);
    if (higher.length === 0) break;
    const best = Math.max(...higher.map((p) => p.tps!.mean));
    if (best < point.tps!.mean * (1 + SATURATION_GAIN)) {
      const gain = (best / point.tps!.mean - 1) * 100;
      return {
        at: point.threads,
        because: `more threads change tps by at most ${gain >= 0 ? "+" : ""}${gain.toFixed(1)} %`,
      };
    }
  }
  const last = sorted.at(-1)!;
  const before = sorted.at(-2)!;
  const gain = (last.tps!.mean / before.tps!.mean - 1) * 100;
  return {
    at: null,
    because: `not reached: still +${gain.toFixed(1)} % from ${before.threads} to ${last.threads} threads`,
  };
}

/** Windows of one repeat, or of one deployment, are correlated: the spread of the average is that between repeats. */
function overRepeats(points: readonly Point[]): Estimate | null {
  const n = points[0]?.samples?.length ?? 0;
  if (n < 2 || points.some((p) => p.samples?.length !== n)) return null;
  return estimate(Array.from({ length: n }, (_, i) => mean(points.map((p) => p.samples![i]!))!));
}

/** Sweep of one unit of work. Null when the subject has neither points nor given figures for it. */
export function sweepOf(subject: Subject, key: string): Sweep | null {
  const points = subject.points.filter((p) => p.key === key).sort((a, b) => a.threads - b.threads);
  const given = subject.given.find((g) => g.workload === key);
  if (points.length === 0 && !given) return null;
  const measured = points.filter((p) => p.tps && p.tps.mean > 0);
  const base = measured[0];
  const peak = measured.reduce<Point | undefined>(
    (best, p) => (!best || p.tps!.mean > best.tps!.mean ? p : best),
    undefined,
  );
  const incomplete = given !== undefined;
  const averageTps = given ? (given.averageTps ?? null) : mean(measured.map((p) => p.tps!.mean));
  return {
    key,
    threads: points.map((p) => p.threads),
    averageTps,
    average: averageTps === null ? null : (overRepeats(given ? [] : measured) ?? { n: 1, mean: averageTps, sd: null }),
    averageP95: given ? (given.averageP95 ?? null) : mean(points.filter((p) => p.p95).map((p) => p.p95!.mean)),
    peakTps: given ? (given.peakTps ?? null) : (peak?.tps?.mean ?? null),
    peakThreads: given ? (given.peakThreads ?? null) : (peak?.threads ?? null),
    given: incomplete,
    scaling: base
      ? measured.map((p) => ({
          threads: p.threads,
          efficiency: p.tps!.mean / base.tps!.mean / (p.threads / base.threads),
        }))
      : [],
    saturation: incomplete
      ? { at: null, because: "the source gives the average and the peak, not every point" }
      : saturation(points),
  };
}
