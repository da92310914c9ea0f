// Proves: a workload in a file of one's own, outside of the project, is written against `meshbench/workload` alone: it
// runs, it is type-checked, and a mistake in it is found.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import * as entry from "meshbench/workload";
import { guideOf } from "../contributing/guide.ts";

const ROOT = new URL("../..", import.meta.url).pathname;
const folder = mkdtempSync(join(tmpdir(), "meshbench-own-workload-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const example = guideOf("a workload").blocks.find(({ edit }) => !edit)!.text;
/** The guide's workload with all of its imports by the package's name. */
const own = `import type { Dataset, Workload } from "meshbench/workload";
import { COMMON, control, count, execute, rowsOf, z } from "meshbench/workload";
${example.replaceAll(/^import .*$\n/gm, "")}`;

function compile(source: string): string {
  mkdirSync(join(folder, "node_modules"), { recursive: true });
  rmSync(join(folder, "node_modules/meshbench"), { force: true });
  symlinkSync(ROOT, join(folder, "node_modules/meshbench"));
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }));
  writeFileSync(join(folder, "mine.ts"), source);
  const { compilerOptions } = JSON.parse(readFileSync(join(ROOT, "tsconfig.json"), "utf8")) as {
    compilerOptions: Record<string, unknown>;
  };
  const options = { ...compilerOptions, typeRoots: [join(ROOT, "node_modules/@types")] };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions: options, include: ["mine.ts"] }));
  return spawnSync(process.execPath, [join(ROOT, "node_modules/typescript/bin/tsc"), "-p", folder], {
    encoding: "utf8",
  }).stdout;
}

test("the entry has what the project's own workloads are written with", () => {
  assert.deepEqual(Object.keys(entry).toSorted(), [
    "COMMON",
    "between",
    "choice",
    "control",
    "count",
    "execute",
    "flag",
    "pipeline",
    "real",
    "rowCount",
    "rowsOf",
    "rowsOfParents",
    "text",
    "z",
  ]);
});

test("a workload in a folder of its own compiles against it, and is one", () => {
  assert.ok(own.includes("export const visits"), "the guide has an example");
  assert.equal(compile(own), "");
  const said = execFileSync(
    process.execPath,
    ["-e", `import("${join(folder, "mine.ts")}").then(({ visits }) => console.log(visits.name, typeof visits.plan))`],
    { encoding: "utf8" },
  );
  assert.equal(said.trim(), "visits function");
});

test("a mistake in it is found", () => {
  const wrong = own.replace('kind: "read", sql', 'kind: "reads", sql');
  assert.notEqual(wrong, own);
  assert.match(compile(wrong), /mine\.ts\(\d+,\d+\): error TS\d+:[\s\S]*"reads"/);
});
