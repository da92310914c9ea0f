/** Means with confidence intervals: over repeats, and over the intervals within one window. */
import type { Stat } from "../contract.ts";

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
  return { n, mean: mean(values), sd, ci95: (tQuantile(n - 1) * sd) / Math.sqrt(n) };
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
export function within(values: readonly number[]): WithinStat {
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
    ci95: nEffective < 2 ? null : (tQuantile(nEffective - 1) * sd) / Math.sqrt(nEffective),
  };
}

/**
 * 97.5 % quantile of Student's t with `degrees` degrees of freedom (whole or not), found by bisection on the
 * distribution
 * function I_x(degrees/2, 1/2) (Abramowitz & Stegun 26.5.27).
 */
export function tQuantile(degrees: number): number {
  let low = 0;
  let high = 1e4;
  for (let i = 0; i < 200; i++) {
    const middle = (low + high) / 2;
    const tail = 0.5 * incompleteBeta(degrees / (degrees + middle * middle), degrees / 2, 0.5);
    if (tail > 0.025) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

/** Regularised incomplete beta function by its continued fraction (Lentz; Numerical Recipes, 3rd ed., 6.4). */
function incompleteBeta(x: number, a: number, b: number): number {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const front = Math.exp(logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log(1 - x));
  return x < (a + 1) / (a + b + 2) ? (front * fraction(x, a, b)) / a : 1 - (front * fraction(1 - x, b, a)) / b;
}

function fraction(x: number, a: number, b: number): number {
  const tiny = 1e-300;
  const bounded = (v: number): number => (Math.abs(v) < tiny ? tiny : v);
  let c = 1;
  let d = 1 / bounded(1 - ((a + b) * x) / (a + 1));
  let h = d;
  for (let m = 1; m <= 300; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / bounded(1 + even * d);
    c = bounded(1 + even / c);
    h *= d * c;
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / bounded(1 + odd * d);
    c = bounded(1 + odd / c);
    h *= d * c;
    if (Math.abs(d * c - 1) < 1e-15) break;
  }
  return h;
}

/** Lanczos approximation (g = 7, n = 9). */
function logGamma(z: number): number {
  const coefficients = [
    0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059,
    12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
  ];
  if (z < 0.5) return Math.log(Math.PI / Math.sin(Math.PI * z)) - logGamma(1 - z);
  const x = z - 1;
  const t = x + 7.5;
  const series = coefficients.reduce((sum, c, i) => (i === 0 ? c : sum + c / (x + i)), 0);
  return 0.5 * Math.log(2 * Math.PI) + (x + 0.5) * Math.log(t) - t + Math.log(series);
}
