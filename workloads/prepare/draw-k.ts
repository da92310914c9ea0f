/** The k column: drawn from 1..tableSize by the spec's rand-type, as `sysbench prepare` draws it. */
import type { RunSpec } from "../contract.ts";
import type { DistributionName, DistributionOptions } from "../engine/distributions.ts";
import { DISTRIBUTIONS, distribution } from "../engine/distributions.ts";
import type { DrawK } from "./loader.ts";

/** sysbench's defaults. */
const DEFAULTS: DistributionOptions = {
  rand_type: "special",
  rand_spec_iter: 12,
  rand_spec_pct: 1,
  rand_spec_res: 75,
  rand_pareto_h: 0.2,
  rand_zipfian_exp: 0.8,
};

/** Throws with the option's name for a rand-* option of `data.options` that is not known. */
export function drawKOf(spec: Pick<RunSpec, "data">): DrawK {
  const options: DistributionOptions = { ...DEFAULTS };
  for (const [given, value] of Object.entries(spec.data.options)) {
    const key = given.replaceAll("-", "_");
    if (!key.startsWith("rand_")) continue;
    if (key === "rand_type") {
      if (!DISTRIBUTIONS.includes(value as DistributionName))
        throw new Error(`data.options.${given}: got ${JSON.stringify(value)}, ${DISTRIBUTIONS.join(", ")} are allowed`);
      options.rand_type = value as DistributionName;
    } else if (Object.hasOwn(DEFAULTS, key)) {
      const number = Number(value);
      if (!Number.isFinite(number) || number < 0)
        throw new Error(`data.options.${given}: got ${JSON.stringify(value)}, a number of at least 0 is allowed`);
      options[key as Exclude<keyof DistributionOptions, "rand_type">] = number;
    }
  }
  const draw = distribution(options);
  const size = Math.max(1, spec.data.tableSize);
  return (random) => draw(random, 1, size);
}
