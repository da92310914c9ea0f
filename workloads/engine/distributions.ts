/**
 * How row ids are drawn. special, uniform, gaussian and pareto are sysbench 1.0.20's own formulas (src/sb_rand.c, tag
 * 1.0.20);
 * zipfian is the one of later sysbench versions (exponent 0.8 by default there and here).
 */
import type { Random } from "./random.ts";

/** An integer in [a, b]. */
export type Draw = (random: Random, a: number, b: number) => number;

export const DISTRIBUTIONS = ["special", "uniform", "gaussian", "pareto", "zipfian"] as const;
export type DistributionName = (typeof DISTRIBUTIONS)[number];

export interface DistributionOptions {
  rand_type: DistributionName;
  /** Uniform draws that are averaged (special, gaussian). */
  rand_spec_iter: number;
  /** Percent of the range, at its centre, that is special. */
  rand_spec_pct: number;
  /** Percent of draws that fall there. */
  rand_spec_res: number;
  rand_pareto_h: number;
  rand_zipfian_exp: number;
}

export function distribution(options: DistributionOptions): Draw {
  switch (options.rand_type) {
    case "uniform":
      return (random, a, b) => random.uniform(a, b);
    case "gaussian":
      return gaussian(options.rand_spec_iter);
    case "special":
      return special(options.rand_spec_iter, options.rand_spec_pct, options.rand_spec_res);
    case "pareto":
      return pareto(options.rand_pareto_h);
    case "zipfian":
      return zipfian(options.rand_zipfian_exp);
    default:
      return options.rand_type satisfies never;
  }
}

function gaussian(iterations: number): Draw {
  return (random, a, b) => {
    const range = b - a + 1;
    let sum = 0;
    for (let i = 0; i < iterations; i++) sum += random.double() * range;
    return a + Math.floor(sum / iterations);
  };
}

/**
 * One uniform draw decides over a widened range: below the true range (chance 1 - res/100) the id is the mean of
 * `iterations`
 * uniforms over all of it; else the same draw, scaled, falls uniformly into the central pct percent.
 */
function special(iterations: number, pct: number, res: number): Draw {
  const widening = 100 / (100 - res);
  return (random, a, b) => {
    const range = b - a;
    const first = random.double();
    if (first * range * widening < range) {
      let sum = 0;
      for (let i = 0; i < iterations; i++) sum += random.double();
      return Math.floor(a + (sum * range) / iterations);
    }
    const centre = (range * pct) / 100;
    return a + Math.floor(first * (centre + 1) + range / 2 - (range * pct) / 200);
  };
}

function pareto(h: number): Draw {
  const power = Math.log(h) / Math.log(1 - h);
  return (random, a, b) => a + Math.floor((b - a + 1) * random.double() ** power);
}

/**
 * P(a + k - 1) proportional to 1 / k^exponent, by rejection-inversion: W. Hoermann, G. Derflinger, "Rejection-inversion
 * to generate variates from monotone discrete distributions", ACM TOMACS 6(3), 1996. H is the integral of x^-exponent.
 */
function zipfian(exponent: number): Draw {
  const H = (x: number): number => (exponent === 1 ? Math.log(x) : (x ** (1 - exponent) - 1) / (1 - exponent));
  const inverse = (y: number): number =>
    exponent === 1 ? Math.exp(y) : Math.max(0, 1 + y * (1 - exponent)) ** (1 / (1 - exponent));
  const h = (x: number): number => x ** -exponent;
  const lowest = H(1.5) - 1;
  const shortcut = 2 - inverse(H(2.5) - h(2));
  let size = 0;
  let highest = 0;
  return (random, a, b) => {
    if (b - a + 1 !== size) {
      size = b - a + 1;
      highest = H(size + 0.5);
    }
    for (;;) {
      const u = highest + random.double() * (lowest - highest);
      const x = inverse(u);
      const k = Math.min(Math.max(Math.floor(x + 0.5), 1), size);
      if (k - x <= shortcut || u >= H(k + 0.5) - h(k)) return a + k - 1;
    }
  };
}
