/** What a spec's steps mean: their workload, its options, its plan, and the tables that all of them run on. */
import type { RunSpec } from "./contract.ts";
import { dialectName } from "./contract.ts";
import type { Plan } from "./engine/plan.ts";
import type { Layer } from "./options.ts";
import { resolve } from "./options.ts";
import { workload } from "./registry.ts";
import type { DataContext, Dataset, Table, Workload } from "./workload.ts";

type Part = Pick<RunSpec, "data" | "steps"> & { target: Pick<RunSpec["target"], "driver" | "dialect"> };

/** Of every step, whatever the workload. */
type StepOptions = Record<string, unknown> & { events: number };

const SIZES: Record<string, string> = { tables: "data.tables", table_size: "data.tableSize" };

/** sysbench has the size of the data among the options; here all steps share it. */
function expectNoSize({ where, given }: Layer): Layer {
  for (const [key, value] of Object.entries(given)) {
    const home = SIZES[key.replaceAll("-", "_")];
    if (home !== undefined)
      throw new Error(`${where}.${key}: ${JSON.stringify(value)}; expected in ${home}, the same for all steps`);
  }
  return { where, given };
}

const dataLayer = ({ data }: Part): Layer => expectNoSize({ where: "data.options", given: data.options });

function stepWorkload(spec: Part, index: number): Workload {
  const step = spec.steps[index];
  if (!step) throw new Error(`steps[${index}]: missing; expected one of ${spec.steps.length} steps`);
  return workload(step.workload, `steps[${index}].workload`);
}

/** Defaults, then what data.options says, then what the step says. Throws one line that begins with the key. */
export function stepOptions(spec: Part, index: number): StepOptions {
  const { options, dataset } = stepWorkload(spec, index);
  return resolve(options, [
    { ...dataLayer(spec), alsoKnown: Object.keys(dataset.options.shape) },
    expectNoSize({ where: `steps[${index}].options`, given: spec.steps[index]?.options ?? {} }),
  ]) as StepOptions;
}

/**
 * The plan of a step and its options. Throws one line on an unknown workload or option, or options that leave nothing
 * to do.
 */
export function planStep(
  spec: Part & Pick<RunSpec, "seed">,
  index: number,
  repeat = 0,
): { plan: Plan; options: StepOptions } {
  const chosen = stepWorkload(spec, index);
  const options = stepOptions(spec, index);
  const { steps, data } = spec;
  const plan = chosen.plan({
    options,
    dialect: dialectName(spec.target),
    tables: data.tables,
    tableSize: data.tableSize,
    sessions: steps[index]?.threads ?? 1,
    seed: spec.seed,
    window: {
      index: steps.slice(0, index).reduce((n, { repeats }) => n + repeats, repeat),
      count: steps.reduce((n, { repeats }) => n + repeats, 0),
    },
  });
  if (plan.ops.every((op) => op.kind === "control"))
    throw new Error(
      `steps[${index}].options: ${JSON.stringify(steps[index]?.options ?? {})}; expected options that leave a statement to run`,
    );
  return { plan, options };
}

export interface RunData {
  readonly dataset: Dataset;
  readonly context: DataContext<Record<string, unknown>>;
  readonly tables: readonly Table[];
}

/** The tables that the steps run on. Throws one line when they need different ones, or on an option's value. */
export function dataOf(spec: Part & Pick<RunSpec, "seed">): RunData {
  const chosen = spec.steps.map((_, index) => stepWorkload(spec, index));
  const first = chosen[0] as Workload;
  const other = chosen.find(({ dataset }) => dataset !== first.dataset);
  if (other !== undefined)
    throw new Error(
      `steps: ${first.name} and ${other.name}, which need different tables; expected them in specs with different target.database`,
    );
  const { dataset } = first;
  const options = resolve(dataset.options, [
    { ...dataLayer(spec), alsoKnown: chosen.flatMap((each) => Object.keys(each.options.shape)) },
  ]);
  const { tables, tableSize } = spec.data;
  const context: RunData["context"] = {
    options,
    dialect: dialectName(spec.target),
    tables,
    tableSize,
    seed: spec.seed,
    steps: spec.steps.map((step, i) => ({
      workload: step.workload,
      threads: step.threads,
      options: stepOptions(spec, i),
    })),
  };
  return { dataset, context, tables: dataset.tables(context) };
}
