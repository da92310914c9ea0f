/** What can be known to be wrong with a spec's workloads and options before a server is asked. Pure. */
import type { RunSpec } from "./contract.ts";
import { dataOf, planStep } from "./steps.ts";

/**
 * One sentence per step or key that the load engine would refuse, each beginning with its key: `steps[0].options.x`,
 * `data.options.y`.
 */
export function workloadProblems(
  spec: Pick<RunSpec, "data" | "steps" | "seed"> & { target: Pick<RunSpec["target"], "driver" | "dialect"> },
): string[] {
  const checks = [() => dataOf(spec), ...spec.steps.map((_, index) => () => planStep(spec, index))];
  const problems = checks.flatMap((check) => {
    try {
      check();
      return [];
    } catch (error) {
      return [(error as Error).message];
    }
  });
  // A wrong option of the data is met again by each step.
  return [...new Set(problems)];
}
