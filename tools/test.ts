/**
 * `npm test`: type check, then everything that needs no nodes, then everything that does. `npm test -- unit` or `e2e` for
 * one of them; further words are paths, to run these files alone.
 */
import { spawnSync } from "node:child_process";
import { globSync } from "node:fs";
import { join } from "node:path";
import { resolveEngine } from "./engine.ts";
import { checkout, nodeBinary, ToolError } from "./paths.ts";
import { sayOnStderr } from "./progress.ts";

/** Each on real nodes or with a real engine: one at a time, since they share two cores and measure what they do. */
const E2E = "test/**/*.e2e.test.ts";
const ALL = "test/**/*.test.ts";
/** A test that hangs is a failed test. */
const UNIT_TIMEOUT_MS = 300_000, E2E_TIMEOUT_MS = 900_000;

function run(args: string[]): boolean {
  sayOnStderr(`> node ${args.join(" ").slice(0, 160)}`);
  return spawnSync(nodeBinary(), args, { cwd: checkout, stdio: "inherit" }).status === 0;
}

const words = process.argv.slice(2);
const which: string[] = words.filter((w) => w === "unit" || w === "e2e");
const named = words.filter((w) => !which.includes(w));
const wanted = (kind: string): boolean => which.length === 0 || which.includes(kind);

const files = (named.length > 0 ? named : globSync(ALL, { cwd: checkout })).sort();
const e2e = files.filter((f) => globSync(E2E, { cwd: checkout }).includes(f) || f.endsWith(".e2e.test.ts"));
const unit = files.filter((f) => !e2e.includes(f));

const phases: [string, () => boolean | Promise<boolean>][] = [];
if (named.length === 0 && wanted("unit")) phases.push(["types", () => run([join(checkout, "node_modules/typescript/bin/tsc"), "--noEmit", "-p", "."])]);
if (wanted("unit") && unit.length > 0)
  phases.push(["unit", () => run(["--test", "--test-reporter=spec", "--test-concurrency=2", `--test-timeout=${UNIT_TIMEOUT_MS}`, ...unit])]);
if (wanted("e2e") && e2e.length > 0) {
  phases.push(["nodes", async () => {
    if (!run(["lab/cli.ts", "check", "--install"]) || !run(["lab/cli.ts", "image", "build"])) return false;
    await resolveEngine();
    return true;
  }]);
  phases.push(["e2e", () => run(["--test", "--test-reporter=spec", "--test-concurrency=1", `--test-timeout=${E2E_TIMEOUT_MS}`, ...e2e])]);
}

const failed: string[] = [];
try {
  for (const [name, phase] of phases) {
    if (await phase()) continue;
    failed.push(name);
    // Nothing that needs nodes can pass where they cannot be made.
    if (name === "nodes") break;
  }
} catch (error) {
  if (!(error instanceof ToolError)) throw error;
  failed.push(error.message);
}
if (failed.length > 0) sayOnStderr(`failed: ${failed.join(", ")}`);
process.exitCode = failed.length > 0 ? 1 : 0;
