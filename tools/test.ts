/**
 * `npm test`: types, format, lint and imports, then the tests that need no nodes, then those that do. `unit` or `e2e`
 * selects one kind, `all` adds the slow matrix; further words are paths, to run these files alone. A file that fails
 * has failed: there is no second try.
 */
import { spawn } from "node:child_process";
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { resolveEngine } from "./engine/engine.ts";
import { checkout, nodeBinary, ToolError } from "./paths.ts";
import { endTree } from "./processes.ts";
import { duration, sayOnStderr } from "./progress.ts";
import type { FileTime } from "./test-times.ts";

const DEFAULT = ["test/**/*.test.ts"];
/** Clouds, kills and whatever else takes minutes on nodes: `npm run test:all`. */
const SLOW = ["test/**/*.clouds.ts", "test/**/*.slow.ts"];
/** On real nodes or with a real engine: one at a time, since they share two cores and measure what they do. */
const isE2e = (file: string): boolean => /\.(e2e\.test|clouds|slow)\.ts$/.test(file);
/** These run on stand-in machines as bare as the clouds' images: see standins/. */
const BARE = /\.clouds\.ts$/;
/** A test that hangs is a failed test. */
const UNIT_TIMEOUT_MS = 300_000,
  E2E_TIMEOUT_MS = 600_000;
/** A file whose test timed out may still wait for what that test started. */
const UNIT_FILES_MS = 1_500_000,
  E2E_FILE_MS = 900_000;
/** For everything: what is not run by then has failed. */
const TOTAL_MS = process.argv.includes("all") ? 14_400_000 : 4_200_000;
/** Packages and the node image, from nothing. */
const MAKE_MS = 1_200_000;
const began = Date.now();
const outOfTime = (): boolean => Date.now() - began > TOTAL_MS;

/** What runs now: it ends with this program, which a signal would otherwise end alone. */
const running = new Set<number>();
for (const [signal, code] of [
  ["SIGINT", 130],
  ["SIGTERM", 143],
  ["SIGHUP", 129],
] as const)
  process.once(signal, () => {
    sayOnStderr(`${signal}: ending what runs`);
    void Promise.all([...running].map((pid) => endTree(pid))).finally(() => process.exit(code));
  });

/** Runs node, its output shown as it comes and returned; after `limitMs` it is killed with all that it started. */
function run(
  args: string[],
  limitMs: number,
  env: Record<string, string> = {},
): Promise<{ ok: boolean; output: string }> {
  sayOnStderr(`> node ${args.join(" ").slice(0, 160)}`);
  return new Promise((resolve, reject) => {
    const child = spawn(nodeBinary(), args, {
      cwd: checkout,
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "inherit"],
    });
    if (child.pid !== undefined) running.add(child.pid);
    let output = "";
    const late = setTimeout(() => {
      sayOnStderr(`KILLED: did not end within ${duration(limitMs)}`);
      void endTree(child.pid!);
      // Whatever else holds its output open must not hold up the rest.
      child.stdout.destroy();
    }, limitMs);
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      output += text;
      process.stdout.write(text);
    });
    child.once("error", reject);
    child.once("close", (code) => {
      running.delete(child.pid!);
      clearTimeout(late);
      resolve({ ok: code === 0, output });
    });
  });
}

interface Outcome {
  times: FileTime[];
  failed: string[];
}

/** Runs the files; their times come from a reporter of their own. A file that crashed counts as failed. */
async function runGroup(files: string[], batch: number, timeout: number, limitMs: number): Promise<FileTime[]> {
  const folder = mkdtempSync(join(tmpdir(), "meshbench-test-"));
  const times = join(folder, "times.jsonl");
  const { ok } = await run(
    [
      "--test",
      "--test-reporter=spec",
      "--test-reporter-destination=stdout",
      `--test-reporter=${join(checkout, "tools/test-times.ts")}`,
      `--test-reporter-destination=${times}`,
      `--test-concurrency=${batch}`,
      `--test-timeout=${timeout}`,
      ...files,
    ],
    limitMs,
    files.every((file) => BARE.test(file)) ? { MESHBENCH_STANDIN_BARE: "yes" } : {},
  );
  const lines = existsSync(times) ? readFileSync(times, "utf8").split("\n").filter(Boolean) : [];
  rmSync(folder, { recursive: true, force: true });
  const seen = lines.map((line) => JSON.parse(line) as FileTime);
  const named = ok || seen.some((time) => time.failed);
  return files.map((file) => seen.find((time) => time.file === file) ?? { file, ms: 0, failed: !named });
}

async function runFiles(files: string[], batch: number, timeout: number, limitMs: number): Promise<Outcome> {
  const outcome: Outcome = { times: [], failed: [] };
  const groups = batch > 1 ? [files] : files.map((file) => [file]);
  for (const group of groups) {
    if (outOfTime()) {
      sayOnStderr(`NOT RUN, out of time: ${group.join(" ")}`);
      outcome.failed.push(...group);
      continue;
    }
    const began = Date.now();
    const times = await runGroup(group, batch, timeout, limitMs);
    outcome.times.push(...times);
    outcome.failed.push(...times.filter((time) => time.failed).map(({ file }) => file));
    sayOnStderr(`(${group.length === 1 ? group[0] : `${group.length} files`}: ${duration(Date.now() - began)})`);
  }
  return outcome;
}

/** The programs of `npm run typecheck` and `npm run lint`, each run by itself: returns those that failed. */
async function staticChecks(): Promise<string[]> {
  const { scripts } = JSON.parse(readFileSync(join(checkout, "package.json"), "utf8")) as {
    scripts: Record<"typecheck" | "lint", string>;
  };
  const failed: string[] = [];
  for (const command of [scripts.typecheck, scripts.lint].flatMap((script) => script.split(" && "))) {
    const [program = "", ...args] = command.split(" ");
    const words = program === "node" ? args : [join(checkout, "node_modules/.bin", program), ...args];
    if (!(await run(words, UNIT_TIMEOUT_MS)).ok) failed.push(command);
  }
  return failed;
}

/** What every test on nodes would otherwise wait for by itself. */
async function makeNodes(): Promise<boolean> {
  if (
    !(await run(["lab/cli.ts", "check", "--install"], MAKE_MS)).ok ||
    !(await run(["lab/cli.ts", "image", "build"], MAKE_MS)).ok
  )
    return false;
  await resolveEngine();
  return true;
}

async function main(words: string[]): Promise<boolean> {
  const which: string[] = words.filter((w) => w === "unit" || w === "e2e" || w === "all");
  const named = words.filter((w) => !which.includes(w));
  const wanted = (kind: string): boolean => which.length === 0 || which.includes("all") || which.includes(kind);
  const patterns = which.includes("all") ? [...DEFAULT, ...SLOW] : DEFAULT;
  const files = (named.length > 0 ? named : globSync(patterns, { cwd: checkout })).sort();
  const unit = wanted("unit") ? files.filter((f) => !isE2e(f)) : [];
  const e2e = wanted("e2e") ? files.filter(isE2e) : [];

  const failed: string[] = [];
  const times: FileTime[] = [];
  const add = (outcome: Outcome): void => {
    times.push(...outcome.times);
    failed.push(...outcome.failed);
  };
  if (named.length === 0 && unit.length > 0) failed.push(...(await staticChecks()));
  if (unit.length > 0) add(await runFiles(unit, 2, UNIT_TIMEOUT_MS, UNIT_FILES_MS));
  if (e2e.length > 0) {
    if (await makeNodes()) add(await runFiles(e2e, 1, E2E_TIMEOUT_MS, E2E_FILE_MS));
    else failed.push(...e2e);
  }
  const slowest = times.toSorted((a, b) => b.ms - a.ms).slice(0, 10);
  if (times.length > 1) for (const { file, ms } of slowest) sayOnStderr(`${duration(ms).padStart(12)}  ${file}`);
  for (const file of failed) sayOnStderr(`failed: ${file}`);
  const passed = unit.length + e2e.length - failed.filter((name) => files.includes(name)).length;
  process.stdout.write(`files: ${passed} passed, ${failed.length} failed\n`);
  return failed.length === 0;
}

try {
  process.exitCode = (await main(process.argv.slice(2))) ? 0 : 1;
} catch (error) {
  if (!(error instanceof ToolError)) throw error;
  sayOnStderr(error.message);
  process.exitCode = 1;
}
