/** The k column: drawn from 1..tableSize by the spec's rand-type, as `sysbench prepare` draws it. */
import type { RunSpec } from "../contract.ts";
import type { KSource } from "./loader.ts";

/** sysbench's default `special`: of 4 draws 3 are uniform over the central 1 %, one is the mean of 12 uniforms. */
export function kSource(spec: Pick<RunSpec, "data">): KSource {
  const size = Math.max(1, spec.data.tableSize);
  return (random) => () => {
    if (random() < 0.75 * 2 ** 32) {
      const width = Math.max(1, Math.floor(size * 0.01));
      return 1 + Math.floor((size - width) / 2) + Math.floor((random() / 2 ** 32) * width);
    }
    let sum = 0;
    for (let i = 0; i < 12; i++) sum += 1 + Math.floor((random() / 2 ** 32) * size);
    return Math.floor(sum / 12);
  };
}
