/** docs/results.md names every key of a result and of a window, and no key that is not there. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { runResultSchema, stepResultSchema } from "../../workloads/contract.ts";

const text = readFileSync(new URL("../../docs/results.md", import.meta.url), "utf8");
const tables = text.split(/^## /m).slice(1);

for (const [title, schema] of [
  ["The run", runResultSchema],
  ["A window", stepResultSchema],
] as const)
  test(`${title}: the keys of the document are the schema's`, () => {
    const section = tables.find((t) => t.startsWith(title))!;
    const rows = section.split("\n").filter((line) => line.startsWith("| `"));
    const named = rows.flatMap((row) => [...row.split("|")[1]!.matchAll(/`(\w+)`/g)].map((m) => m[1]!));
    assert.deepEqual(named.toSorted(), Object.keys(schema.shape).toSorted());
  });
