/** Means and the interval of a ratio: what a comparison of repeated runs stands on. */
import { studentT975 } from "../workloads/student.ts";

/** What is known of one figure: its mean over n runs; sd is null below two runs. */
export interface Estimate {
  n: number;
  mean: number;
  sd: number | null;
}

export function estimate(values: readonly number[]): Estimate | null {
  if (values.length === 0) return null;
  const mean = values.reduce((sum, v) => sum + v, 0) / values.length;
  if (values.length < 2) return { n: values.length, mean, sd: null };
  const squares = values.reduce((sum, v) => sum + (v - mean) ** 2, 0);
  return { n: values.length, mean, sd: Math.sqrt(squares / (values.length - 1)) };
}

/** Half the width of the 95 % interval of the mean (Student t); null below two runs. */
export function halfWidth95(e: Estimate): number | null {
  return e.sd === null ? null : (studentT975(e.n - 1) * e.sd) / Math.sqrt(e.n);
}

export interface Ratio {
  value: number;
  /** 95 % interval; null when there are too few runs or the denominator is too noisy for a bounded one. */
  interval: { low: number; high: number } | null;
  /** Why there is no interval, in words. */
  why?: string;
  verdict: "higher" | "lower" | "no evidence of a difference" | "not tested";
}

/**
 * Ratio of two independent means with its 95 % interval by Fieller's theorem (E. C. Fieller, J. R. Stat. Soc. B 16,
 * 1954,
 * 175-185), variances taken as unequal, degrees of freedom by Satterthwaite with the estimated ratio plugged in
 * (A. C. Tamhane, B. R. Logan, J. Biopharm. Stat. 14, 2004, 843-856). Both means have to be positive; returns null if
 * not.
 */
export function ratio(of: Estimate, to: Estimate): Ratio | null {
  if (!(of.mean > 0) || !(to.mean > 0)) return null;
  const value = of.mean / to.mean;
  if (of.sd === null || to.sd === null) {
    return { value, interval: null, why: "no repeats, so no interval", verdict: "not tested" };
  }
  const v1 = of.sd ** 2 / of.n;
  const v2 = to.sd ** 2 / to.n;
  if (v1 + v2 === 0) return { value, interval: { low: value, high: value }, verdict: judge(value, value) };
  const df = (v1 + value ** 2 * v2) ** 2 / (v1 ** 2 / (of.n - 1) + (value ** 4 * v2 ** 2) / (to.n - 1));
  const t = studentT975(df);
  const g = (t ** 2 * v2) / to.mean ** 2;
  if (g >= 1)
    return {
      value,
      interval: null,
      why: "the baseline varies too much for a bounded interval",
      verdict: "no evidence of a difference",
    };
  const spread = (t / to.mean) * Math.sqrt(v1 + value ** 2 * v2 - g * v1);
  const low = Math.max(0, (value - spread) / (1 - g));
  const high = (value + spread) / (1 - g);
  return { value, interval: { low, high }, verdict: judge(low, high) };
}

function judge(low: number, high: number): Ratio["verdict"] {
  if (low > 1) return "higher";
  if (high < 1) return "lower";
  return "no evidence of a difference";
}
