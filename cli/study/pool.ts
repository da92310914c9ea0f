/** Several stands of one leg as one result, whose windows are repeats of each other. Pure. */
import type { RunResult } from "../../workloads/contract.ts";

/**
 * Windows keep their step; their repeat is counted on, so that the spread of the whole is that between stands as well as
 * within. Specs are those of one cell and thus the same.
 */
export function pool(results: RunResult[], name: string): RunResult {
  const [first, ...others] = results;
  if (!first) throw new RangeError("there is nothing to pool");
  const repeats = new Map<number, number>();
  const steps = results.flatMap((r) => r.steps.map((step) => {
    const repeat = repeats.get(step.step) ?? 0;
    repeats.set(step.step, repeat + 1);
    return { ...step, repeat };
  }));
  const incomplete = results.filter((r) => !r.complete);
  return {
    ...first, steps,
    complete: incomplete.length === 0,
    ...(incomplete.length > 0 ? { incompleteReason: `${incomplete.length} of ${results.length} stands: ${incomplete[0]!.incompleteReason ?? "cut short"}` } : {}),
    finishedAt: others.length > 0 ? others.at(-1)!.finishedAt : first.finishedAt,
    spec: { ...first.spec, context: { ...first.spec.context, stack: name } },
  };
}
