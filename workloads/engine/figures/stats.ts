/** Means with confidence intervals: over repeats, and over the intervals within one window. */
import type { Stat } from "../../contract.ts";
import { studentT975 } from "../../student.ts";

export function mean(values: readonly number[]): number {
  return values.reduce((sum, v) => sum + v, 0) / values.length;
}

/** Sample standard deviation (n - 1); NaN below two values. */
export function deviation(values: readonly number[]): number {
  const m = mean(values);
  return Math.sqrt(values.reduce((sum, v) => sum + (v - m) ** 2, 0) / (values.length - 1));
}

/** Mean, standard deviation and half the width of the 95 % confidence interval (Student t) of independent repeats. */
export function stat(values: readonly number[]): Stat {
  const n = values.length;
  if (n === 0) return { n: 0, mean: 0, sd: null, ci95: null };
  if (n < 2) return { n, mean: mean(values), sd: null, ci95: null };
  const sd = deviation(values);
  return { n, mean: mean(values), sd, ci95: (studentT975(n - 1) * sd) / Math.sqrt(n) };
}

export interface WithinStat {
  /** Intervals, and how many independent ones they are worth. */
  n: number;
  nEffective: number;
  mean: number;
  sd: number | null;
  ci95: number | null;
}

/**
 * The mean of a window's intervals, which are not independent: a slow second follows a slow one. The effective number
 * is n / (1 + 2 * sum of the autocorrelations), summed over pairs of lags while the pair's sum is positive (Geyer,
 * "Practical Markov chain Monte Carlo", Statistical Science 7(4), 1992: initial positive sequence). It is never put
 * above n.
 */
export function overIntervals(values: readonly number[]): WithinStat {
  const n = values.length;
  if (n < 4) return { n, nEffective: n, mean: n > 0 ? mean(values) : 0, sd: null, ci95: null };
  const m = mean(values);
  const sd = deviation(values);
  const variance = values.reduce((sum, v) => sum + (v - m) ** 2, 0) / n;
  if (variance === 0) return { n, nEffective: n, mean: m, sd: 0, ci95: 0 };
  const correlation = (lag: number): number => {
    let sum = 0;
    for (let i = 0; i + lag < n; i++) sum += ((values[i] as number) - m) * ((values[i + lag] as number) - m);
    return sum / (n * variance);
  };
  // Pairs (0,1), (2,3), ...: the first one holds lag 0, which is 1.
  let tau = -1;
  for (let lag = 0; lag + 1 < n; lag += 2) {
    const pair = correlation(lag) + correlation(lag + 1);
    if (pair <= 0) break;
    tau += 2 * pair;
  }
  const nEffective = Math.min(n, n / Math.max(tau, 1));
  return {
    n,
    nEffective,
    mean: m,
    sd,
    ci95: nEffective < 2 ? null : (studentT975(nEffective - 1) * sd) / Math.sqrt(nEffective),
  };
}
