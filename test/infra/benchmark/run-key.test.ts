/** Every key of every schema, changed: a new run, or a reason why not. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { HARMLESS, plannedKey, runKey } from "../../../infra/benchmark/run-key.ts";
import { configSchema } from "../../../infra/config/schema.ts";
import type { RunSpecInput } from "../../../workloads/contract.ts";
import { golden } from "../golden.ts";

type Part = string | typeof ITEM | typeof ANY;
const ITEM = Symbol("an entry of a list"),
  ANY = Symbol("a name of the user's");

/** Paths of all values that a schema can hold. */
function leaves(schema: z.core.$ZodType, path: Part[] = []): Part[][] {
  if (
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodPrefault ||
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodNullable
  )
    return leaves(schema.unwrap(), path);
  if (schema instanceof z.ZodPipe) return leaves(schema.in instanceof z.ZodTransform ? schema.out : schema.in, path);
  if (schema instanceof z.ZodUnion) return schema.options.flatMap((option) => leaves(option, path));
  if (schema instanceof z.ZodObject)
    return Object.entries(schema.shape).flatMap(([key, inner]) => leaves(inner as z.core.$ZodType, [...path, key]));
  if (schema instanceof z.ZodArray) return leaves(schema.element, [...path, ITEM]);
  if (schema instanceof z.ZodTuple) return leaves(schema.def.items[0]!, [...path, ITEM]);
  if (schema instanceof z.ZodRecord) return leaves(schema.valueType, [...path, ANY]);
  return [path];
}

const holding = (path: Part[], value: unknown): unknown =>
  path.reduceRight<unknown>(
    (inner, part) => (part === ITEM ? [inner] : { [part === ANY ? "some" : String(part)]: inner }),
    value,
  );

const dotted = (path: Part[]): string =>
  path
    .filter((part) => part !== ITEM)
    .map((part) => (part === ANY ? "*" : String(part)))
    .join(".");

const spec = {} as RunSpecInput;
const keyOf = (config: unknown): string => plannedKey(spec, [], config as object);
const all = [
  ...new Map(
    [...leaves(configSchema), ["profileName"], ["aws", ANY] as Part[]].map((path): [string, Part[]] => [
      dotted(path),
      path,
    ]),
  ).entries(),
].sort(([a], [b]) => (a < b ? -1 : 1));

const reasonFor = (name: string): string | undefined =>
  Object.entries(HARMLESS).find(([path]) => name === path || name.startsWith(`${path}.`))?.[1];

test("a changed value of any key is a new run, but for those with a reason", () => {
  assert.ok(all.length > 100, `the walk sees the schemas: ${all.length} keys`);
  for (const [name, path] of all) {
    const moved = keyOf(holding(path, "one")) !== keyOf(holding(path, "two"));
    assert.equal(moved, reasonFor(name) === undefined, `${name}: ${moved ? "a new run" : "no new run"}`);
  }
  golden("run-key.txt", all.map(([name]) => `${name}: ${reasonFor(name) ?? "in the key"}`).join("\n"));
});

test("every reason is for a key that there is", () => {
  for (const path of Object.keys(HARMLESS))
    assert.ok(
      all.some(([name]) => name === path || name.startsWith(`${path}.`)),
      path,
    );
});

test("the order of keys in a file is no difference; the program that is shipped, the nodes and the cluster are", () => {
  assert.equal(keyOf({ mesh: { mtu: 1, port: 2 } }), keyOf({ mesh: { port: 2, mtu: 1 } }));
  assert.notEqual(plannedKey(spec, [{ sha256: "a" }], {}), plannedKey(spec, [{ sha256: "b" }], {}));
  const now = runKey("p", ["i-1 key", "i-2 key"], "u");
  assert.notEqual(now, runKey("p", ["i-1 key", "i-3 key"], "u"), "another machine");
  assert.notEqual(now, runKey("p", ["i-1 key", "i-2 other"], "u"), "another system on it");
  assert.notEqual(now, runKey("p", ["i-1 key", "i-2 key"], "v"), "another cluster");
  assert.match(now, /^[0-9a-f]{12}$/);
});
