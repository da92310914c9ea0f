/**
 * Options of the workloads: sysbench 1.0.20's names (underscored; dashes are taken too), defaults and meanings.
 * tables and table_size stand in `data` of a spec, because all steps work on the same tables.
 */
import type { RunSpec } from "../contract.ts";
import type { DistributionName } from "../engine/distributions.ts";
import { DISTRIBUTIONS } from "../engine/distributions.ts";
import { nearest } from "./nearest.ts";

export interface OptionDefinition {
  readonly type: "count" | "flag" | "number" | "choice";
  readonly default: number | boolean | string;
  readonly description: string;
  readonly choices?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
}

const count = (value: number, description: string, minimum = 0): OptionDefinition => ({
  type: "count",
  default: value,
  description,
  minimum,
});
const flag = (value: boolean, description: string): OptionDefinition => ({ type: "flag", default: value, description });

export const OPTIONS = {
  range_size: count(100, "Range size for range SELECT queries", 1),
  point_selects: count(10, "Number of point SELECT queries per transaction"),
  simple_ranges: count(1, "Number of simple range SELECT queries per transaction"),
  sum_ranges: count(1, "Number of SELECT SUM() queries per transaction"),
  order_ranges: count(1, "Number of SELECT ORDER BY queries per transaction"),
  distinct_ranges: count(1, "Number of SELECT DISTINCT queries per transaction"),
  index_updates: count(1, "Number of UPDATE index queries per transaction"),
  non_index_updates: count(1, "Number of UPDATE non-index queries per transaction"),
  delete_inserts: count(1, "Number of DELETE/INSERT combinations per transaction"),
  range_selects: flag(true, "Enable/disable all range SELECT queries"),
  skip_trx: flag(false, "Don't start explicit transactions and execute all queries in the AUTOCOMMIT mode"),
  auto_inc: flag(
    true,
    "Use AUTO_INCREMENT column as Primary Key (for MySQL), or its alternatives in other DBMS. When disabled, use client-generated IDs",
  ),
  random_points: count(10, "Number of random points in the IN() clause in generated SELECTs", 1),
  number_of_ranges: count(10, "Number of random BETWEEN ranges per SELECT", 1),
  delta: count(5, "Size of BETWEEN ranges"),
  rand_type: { type: "choice", default: "special", choices: DISTRIBUTIONS, description: "Random numbers distribution" },
  rand_spec_iter: count(12, "Number of iterations used for numbers generation", 1),
  rand_spec_pct: {
    ...count(1, "Percentage of values to be treated as 'special' (for special distribution)"),
    maximum: 100,
  },
  rand_spec_res: { ...count(75, "Percentage of 'special' values to use (for special distribution)"), maximum: 99 },
  rand_pareto_h: {
    type: "number",
    default: 0.2,
    minimum: 0.0001,
    maximum: 0.9999,
    description: "Parameter h for pareto distribution",
  },
  rand_zipfian_exp: {
    type: "number",
    default: 0.8,
    minimum: 0.0001,
    description: "Exponent of the zipfian distribution (sysbench 1.1)",
  },
  events: count(0, "Stop after this many events over all sessions; 0 is no limit"),
} satisfies Record<string, OptionDefinition>;

/** Options that shape the tables; workloads/prepare reads them. */
export const TABLE_OPTIONS = [
  "auto_inc",
  "secondary",
  "create_secondary",
  "mysql_storage_engine",
  "create_table_options",
] as const;

export interface WorkloadOptions {
  range_size: number;
  point_selects: number;
  simple_ranges: number;
  sum_ranges: number;
  order_ranges: number;
  distinct_ranges: number;
  index_updates: number;
  non_index_updates: number;
  delete_inserts: number;
  range_selects: boolean;
  skip_trx: boolean;
  auto_inc: boolean;
  random_points: number;
  number_of_ranges: number;
  delta: number;
  rand_type: DistributionName;
  rand_spec_iter: number;
  rand_spec_pct: number;
  rand_spec_res: number;
  rand_pareto_h: number;
  rand_zipfian_exp: number;
  events: number;
}

type Given = RunSpec["data"]["options"];

/**
 * Defaults, then what data.options says, then what the step says. Throws one line that names the key, what was given
 * and what is allowed; an unknown name comes with the nearest known one.
 */
export function resolveOptions(spec: RunSpec, step: number): WorkloadOptions {
  const resolved: Record<string, unknown> = Object.fromEntries(
    Object.entries(OPTIONS).map(([name, { default: value }]) => [name, value]),
  );
  const known = [...Object.keys(OPTIONS), ...TABLE_OPTIONS];
  apply(spec.data.options, "data.options", known, resolved);
  apply(spec.steps[step]?.options ?? {}, `steps[${step}].options`, Object.keys(OPTIONS), resolved);
  return resolved as unknown as WorkloadOptions;
}

function apply(given: Given, where: string, known: string[], into: Record<string, unknown>): void {
  for (const [key, value] of Object.entries(given)) {
    const name = key.replaceAll("-", "_");
    if (name === "tables" || name === "table_size") {
      throw new Error(
        `${where}.${key}: the data's size is the same for all steps: set data.${name === "tables" ? "tables" : "tableSize"}`,
      );
    }
    if (!known.includes(name)) throw new Error(`${where}.${key}: no such option${suggestion(name, known)}`);
    const definition = (OPTIONS as Record<string, OptionDefinition>)[name];
    if (definition) into[name] = parse(definition, value, `${where}.${key}`);
  }
}

export function suggestion(name: string, known: readonly string[]): string {
  const near = nearest(name, known);
  return near === null ? `; there are ${known.join(", ")}` : `; did you mean ${near}?`;
}

function parse(
  definition: OptionDefinition,
  value: number | string | boolean,
  where: string,
): number | string | boolean {
  const { type, minimum = 0, maximum = type === "count" ? 2_147_483_647 : Number.MAX_VALUE } = definition;
  if (type === "choice") {
    if (definition.choices?.includes(String(value))) return String(value);
    throw new Error(`${where}: got ${JSON.stringify(value)}, one of ${definition.choices?.join(", ")} is allowed`);
  }
  if (type === "flag") {
    const word = String(value).toLowerCase();
    if (["true", "on", "1", "yes"].includes(word)) return true;
    if (["false", "off", "0", "no"].includes(word)) return false;
    throw new Error(`${where}: got ${JSON.stringify(value)}, on or off is allowed`);
  }
  const number = typeof value === "boolean" || value === "" ? NaN : Number(value);
  if (
    !Number.isFinite(number) ||
    (type === "count" && !Number.isInteger(number)) ||
    number < minimum ||
    number > maximum
  ) {
    throw new Error(
      `${where}: got ${JSON.stringify(value)}, ${type === "count" ? "a whole number" : "a number"} from ${minimum}${maximum > 1e9 ? " on" : ` to ${maximum}`} is allowed`,
    );
  }
  return number;
}
