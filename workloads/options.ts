/**
 * Options as zod schemas: type, default, bounds and description in one place. Values come from JSON, YAML and command
 * lines, so numbers and flags are taken as text too; keys may be written with dashes.
 */
import { z } from "zod";
import { nearest } from "./nearest.ts";

export type Given = Readonly<Record<string, number | string | boolean>>;
type Bounds = { minimum?: number; maximum?: number };

const toNumber = (value: unknown): unknown =>
  typeof value === "string" && value.trim() !== "" ? Number(value) : typeof value === "number" ? value : Number.NaN;

function bounds(what: string, minimum: number, maximum: number): string {
  return `${what} from ${minimum}${maximum > 1e9 ? " on" : ` to ${maximum}`}`;
}

/** A whole number. */
export function count(value: number, description: string, { minimum = 0, maximum = 2_147_483_647 }: Bounds = {}) {
  const expected = bounds("a whole number", minimum, maximum);
  return z
    .preprocess(toNumber, z.int(expected).min(minimum, expected).max(maximum, expected))
    .default(value)
    .describe(description);
}

/** Any number. */
export function real(value: number, description: string, { minimum = 0, maximum = Number.MAX_VALUE }: Bounds = {}) {
  const expected = bounds("a number", minimum, maximum);
  return z
    .preprocess(toNumber, z.number(expected).min(minimum, expected).max(maximum, expected))
    .default(value)
    .describe(description);
}

const WORDS: Record<string, boolean> = {
  true: true,
  on: true,
  1: true,
  yes: true,
  false: false,
  off: false,
  0: false,
  no: false,
};

/** Yes or no, in sysbench's words (on, off) too. */
export function flag(value: boolean, description: string) {
  return z
    .preprocess((given) => WORDS[String(given).toLowerCase()], z.boolean("on or off"))
    .default(value)
    .describe(description);
}

/** One of several words. */
export function choice<const T extends readonly [string, ...string[]]>(
  value: T[number],
  choices: T,
  description: string,
) {
  return z
    .preprocess(String, z.enum(choices, `one of ${choices.join(", ")}`))
    .default(value as never)
    .describe(description);
}

/** Text of a form. @param expected the form in words */
export function text(value: string, form: RegExp, expected: string, description: string) {
  return z.preprocess(String, z.string().regex(form, expected)).default(value).describe(description);
}

/** What every workload takes. */
export const COMMON = { events: count(0, "Stop after this many events over all sessions; 0 is no limit") };

/** One layer of given options, by the key under which they stand. */
export interface Layer {
  readonly where: string;
  readonly given: Given;
  /** Names that are no mistake here although the schema does not have them. */
  readonly alsoKnown?: readonly string[];
}

/**
 * Defaults, then layer by layer what is given. Throws one line that names the key, what was given and what is expected;
 * an unknown name comes with the nearest known one.
 */
export function resolve<S extends z.ZodObject>(schema: S, layers: readonly Layer[]): z.output<S> {
  const shape: z.ZodRawShape = schema.shape;
  const known = Object.keys(shape);
  const values: Record<string, unknown> = {};
  for (const { where, given, alsoKnown = [] } of layers) {
    for (const [key, value] of Object.entries(given)) {
      const name = key.replaceAll("-", "_");
      if (Object.hasOwn(shape, name)) values[name] = parsed(shape[name] as z.ZodType, value, `${where}.${key}`);
      else if (!alsoKnown.includes(name))
        throw new Error(`${where}.${key}: unknown option${suggestion(name, [...known, ...alsoKnown])}`);
    }
  }
  return schema.parse(values) as z.output<S>;
}

function parsed(schema: z.ZodType, value: unknown, where: string): unknown {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw new Error(`${where}: ${JSON.stringify(value)}; expected ${result.error.issues[0]?.message ?? "another value"}`);
}

export function suggestion(name: string, known: readonly string[]): string {
  const near = nearest(name, known);
  return `; expected one of ${known.join(", ")}${near === null ? "" : ` (did you mean ${near}?)`}`;
}

/** Name, default and description of each option. */
export function listed({ shape }: z.ZodObject): { name: string; default: string; description: string }[] {
  return Object.entries(shape as z.ZodRawShape).map(([name, schema]) => ({
    name,
    default: String((schema as z.ZodType).parse(undefined)),
    description: (schema as z.ZodType).description ?? "",
  }));
}
