/** Whether results are those of one load, and whole. */
import { isDeepStrictEqual } from "node:util";
import type { RunResult, Step } from "../../contract.ts";
import { driverName } from "../barrier/barrier.ts";

export const indexOf = (result: RunResult): number => result.spec.drivers?.index ?? 0;

/** What all drivers of a run have in common; each may have endpoints, a password file and workers of its own. */
function common({ spec }: RunResult): Record<string, unknown> {
  const { driver, policy, database, reconnect, preparedStatements } = spec.target;
  const { seed, data, steps, order, restSeconds } = spec;
  return {
    "drivers.count": spec.drivers?.count ?? 1,
    seed,
    order,
    restSeconds,
    data,
    target: { driver, policy, database, reconnect, preparedStatements },
    "steps.length": steps.length,
    ...Object.fromEntries(
      steps.flatMap((step, i) => Object.entries(step).map(([key, value]) => [`steps[${i}].${key}`, value])),
    ),
  };
}

/** Figures of different loads can't be added: throws one line that names the first difference. */
export function sameSpec(first: RunResult, other: RunResult): void {
  const [a, b] = [common(first), common(other)];
  const key = [...new Set([...Object.keys(a), ...Object.keys(b)])].find((k) => !isDeepStrictEqual(a[k], b[k]));
  if (key === undefined) return;
  const show = (value: unknown): string => JSON.stringify(value) ?? "nothing";
  throw new Error(`merge: results of different runs: ${key} is ${show(a[key])} in one and ${show(b[key])} in another`);
}

/** A result's windows are those of its spec, each there once. */
export function ownWindows({ spec, steps }: RunResult): void {
  const seen = new Set<string>();
  for (const window of steps) {
    const step = spec.steps[window.step];
    const name = `steps[${window.step}] repeat ${window.repeat}`;
    if (!step || window.repeat >= step.repeats) throw new Error(`merge: ${name} is no window of the run's spec`);
    if (window.workload !== step.workload || window.threads !== step.threads)
      throw new Error(
        `merge: ${name} is ${window.workload} with ${window.threads} threads, the spec says ${step.workload} with ${step.threads}`,
      );
    if ((window.openLoop !== undefined) !== (step.rate !== undefined))
      throw new Error(`merge: ${name} is ${window.openLoop ? "an open" : "a closed"} loop, the spec says the other`);
    if (seen.has(name)) throw new Error(`merge: ${name} is there twice in one result`);
    seen.add(name);
  }
}

/** A step with fewer threads than there are drivers leaves the last ones idle. */
export const expectedDrivers = (step: Step | undefined, count: number): number =>
  Math.min(count, step?.threads ?? count);

/** Windows that a driver should have measured and has not, though it calls itself complete. */
export function absent(spec: RunResult["spec"], results: readonly RunResult[], count: number): string[] {
  return results
    .filter((r) => r.complete)
    .flatMap((r) =>
      spec.steps.flatMap((step, i) =>
        indexOf(r) >= expectedDrivers(step, count)
          ? []
          : Array.from({ length: step.repeats }, (_, repeat) => repeat)
              .filter((repeat) => !r.steps.some((w) => w.step === i && w.repeat === repeat))
              .map((repeat) => `${driverName(indexOf(r), count)} lacks steps[${i}] repeat ${repeat}`),
      ),
    );
}
