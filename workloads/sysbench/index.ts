/** The workloads by name, and the plan of a step. */
import type { RunSpec } from "../contract.ts";
import { distribution } from "../engine/distributions.ts";
import type { Plan } from "../engine/plan.ts";
import type { Workload } from "./oltp.ts";
import { oltp } from "./oltp.ts";
import type { WorkloadOptions } from "./options.ts";
import { resolveOptions, suggestion } from "./options.ts";
import { others } from "./others.ts";

export const workloads: Record<string, Workload> = { ...oltp, ...others };

export function workload(name: string, where: string): Workload {
  const found = workloads[name];
  if (!found)
    throw new Error(
      `${where}: there is no workload ${JSON.stringify(name)}${suggestion(name, Object.keys(workloads))}`,
    );
  return found;
}

/**
 * The plan of a step and its options. Throws one line on an unknown workload or option, or options that leave nothing
 * to do.
 */
export function planStep(spec: RunSpec, index: number, repeat = 0): { plan: Plan; options: WorkloadOptions } {
  const step = spec.steps[index];
  if (!step) throw new Error(`steps[${index}]: there is no such step`);
  const chosen = workload(step.workload, `steps[${index}].workload`);
  const options = resolveOptions(spec, index);
  const plan = chosen.plan({
    options,
    dialect: spec.target.driver,
    tables: spec.data.tables,
    tableSize: spec.data.tableSize,
    autoInc: options.auto_inc,
    sessions: step.threads,
    draw: distribution(options),
    seed: spec.seed,
    window: {
      index: spec.steps.slice(0, index).reduce((n, { repeats }) => n + repeats, repeat),
      count: spec.steps.reduce((n, { repeats }) => n + repeats, 0),
    },
  });
  if (plan.ops.every((op) => op.kind === "control"))
    throw new Error(`steps[${index}].options: no statement is left to run`);
  return { plan, options };
}
