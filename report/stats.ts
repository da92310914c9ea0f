/** Means, Student's t and the interval of a ratio: what a comparison of repeated runs stands on. */

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

/** Lanczos approximation (g = 7, 9 terms), relative error below 1e-13 for the positive arguments used here. */
function logGamma(x: number): number {
  const c = [
    0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059,
    12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
  ];
  const y = x - 1;
  let sum = c[0]!;
  for (let i = 1; i < c.length; i++) sum += c[i]! / (y + i);
  const t = y + 7.5;
  return 0.5 * Math.log(2 * Math.PI) + (y + 0.5) * Math.log(t) - t + Math.log(sum);
}

/** Regularised incomplete beta function by its continued fraction (DLMF 8.17.22, Lentz's method). */
export function incompleteBeta(x: number, a: number, b: number): number {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  if (x > (a + 1) / (a + b + 2)) return 1 - incompleteBeta(1 - x, b, a);
  const front = Math.exp(logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log(1 - x)) / a;
  const tiny = 1e-300;
  let c = 1;
  let d = 1 / (Math.abs(1 - ((a + b) * x) / (a + 1)) < tiny ? tiny : 1 - ((a + b) * x) / (a + 1));
  let f = d;
  for (let m = 1; m <= 300; m++) {
    for (const k of [
      (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m)),
      (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1)),
    ]) {
      d = 1 + k * d;
      if (Math.abs(d) < tiny) d = tiny;
      c = 1 + k / c;
      if (Math.abs(c) < tiny) c = tiny;
      d = 1 / d;
      f *= d * c;
      if (Math.abs(d * c - 1) < 1e-14) return front * f;
    }
  }
  return front * f;
}

/** P(T <= t) of Student's t with df degrees of freedom, which need not be whole. */
export function studentCdf(t: number, df: number): number {
  const tail = 0.5 * incompleteBeta(df / (df + t * t), df / 2, 0.5);
  return t >= 0 ? 1 - tail : tail;
}

/** The 97.5 % quantile of Student's t: two-sided 95 %. */
export function studentT975(df: number): number {
  if (!(df > 0)) return Number.NaN;
  let low = 0;
  let high = 2;
  while (studentCdf(high, df) < 0.975) high *= 2;
  for (let i = 0; i < 100 && high - low > 1e-12 * high; i++) {
    const middle = (low + high) / 2;
    if (studentCdf(middle, df) < 0.975) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
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
