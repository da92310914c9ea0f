/** zod's issues as sentences in the project's form: key, what was given, what is allowed. */
import { z } from "zod";
import { missing, type Problem } from "./problem.ts";

type Issue = z.core.$ZodIssue;
type Path = readonly PropertyKey[];

export function describe(issue: Issue, schema: z.ZodType, input: unknown, namespace = "meshbench"): Problem[] {
  const key = (path: Path): string => `${namespace}:${path.map(segment).join("")}`;
  if (issue.code === "unrecognized_keys") {
    const allowed = keysAt(schema, issue.path, input);
    return issue.keys.map(
      (k) =>
        `${key([...issue.path, k])}: unknown key${allowed.length > 0 ? `; expected one of ${allowed.join(", ")}` : ""}`,
    );
  }
  const given = at(input, issue.path);
  // Of several forms the one with keys of its own is meant when something with keys was given.
  if (issue.code === "invalid_union" && typeof given === "object" && given !== null && issue.errors.length > 0)
    return issue.errors
      .at(-1)!
      .flatMap((inner) =>
        describe({ ...inner, path: [...issue.path, ...inner.path] } as Issue, schema, input, namespace),
      );
  const allowed = allowedBy(issue);
  return [
    given === undefined
      ? missing(key(issue.path), allowed)
      : `${key(issue.path)}: ${shown(given)}; expected ${allowed}`,
  ];
}

function segment(part: PropertyKey, index: number): string {
  if (typeof part === "number") return `[${part}]`;
  const name = String(part);
  if (!/^[\w-]+$/.test(name)) return `[${JSON.stringify(name)}]`;
  return index === 0 ? name : `.${name}`;
}

const at = (value: unknown, path: Path): unknown =>
  path.reduce<unknown>((inner, p) => (inner as Record<PropertyKey, unknown> | undefined)?.[p], value);

function shown(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}

const NAMES: Record<string, string> = {
  array: "a list",
  object: "an object with keys",
  record: "an object with keys",
  string: "a text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  tuple: "a list",
};

function allowedBy(issue: Issue): string {
  switch (issue.code) {
    case "invalid_type":
      return NAMES[issue.expected] ?? issue.expected;
    case "invalid_value":
      return oneOf(issue.values.map(String));
    case "too_small":
      return bound(issue.inclusive === false ? "more than" : "at least", issue.minimum, issue.origin);
    case "too_big":
      return bound(issue.inclusive === false ? "less than" : "at most", issue.maximum, issue.origin);
    case "invalid_union":
      return issue.errors.length > 0
        ? [...new Set(issue.errors.flatMap((option) => option.slice(0, 1).map(allowedBy)))].join(", or ")
        : oneOf([...issue.message.matchAll(/'([^']+)'/g)].map((m) => m[1]!));
    case "invalid_key":
      return issue.issues.map(allowedBy).join(", ");
    default:
      return lowerFirst(issue.message);
  }
}

const oneOf = (values: string[]): string => `${values.length > 1 ? "one of " : ""}${values.join(", ")}`;

function bound(words: string, limit: number | bigint, origin: string): string {
  const of =
    origin === "array" || origin === "set"
      ? ` entr${Number(limit) === 1 ? "y" : "ies"}`
      : origin === "string"
        ? ` character${Number(limit) === 1 ? "" : "s"}`
        : "";
  return `${words} ${limit}${of}`;
}

const lowerFirst = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);

/** Keys that the schema has at a path, as far as what was given decides which form of it counts. */
function keysAt(schema: z.core.$ZodType, path: Path, input: unknown): string[] {
  let inner = schema,
    value = input;
  for (const part of path) {
    const form = formOf(inner, value);
    const next =
      form instanceof z.ZodObject
        ? form.shape[String(part)]
        : form instanceof z.ZodArray
          ? form.element
          : form instanceof z.ZodRecord
            ? form.valueType
            : undefined;
    if (next === undefined) return [];
    inner = next as z.core.$ZodType;
    value = at(value, [part]);
  }
  const form = formOf(inner, value);
  return form instanceof z.ZodObject ? Object.keys(form.shape) : [];
}

/**
 * Without defaults and the like around it; of a union the form with the given discriminator, or else the last with
 * keys.
 */
function formOf(schema: z.core.$ZodType, value: unknown): z.core.$ZodType {
  if (
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodPrefault ||
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodNullable
  )
    return formOf(schema.unwrap(), value);
  if (!(schema instanceof z.ZodUnion)) return schema;
  const options = schema.options.map((option) => formOf(option, value));
  const matching =
    schema instanceof z.ZodDiscriminatedUnion
      ? options.find(
          (o) =>
            o instanceof z.ZodObject &&
            (o.shape[schema.def.discriminator] as z.core.$ZodType | undefined)?._zod.values?.has(
              at(value, [schema.def.discriminator]) as z.core.util.Primitive,
            ),
        )
      : undefined;
  return matching ?? options.findLast((o) => o instanceof z.ZodObject) ?? schema;
}
