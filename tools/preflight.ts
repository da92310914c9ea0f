import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, statfsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { enginePresent, neededVersion } from "./engine.ts";
import { cacheFolder, checkout, nodeBinary, onPath, ToolError } from "./paths.ts";

/** Go's module and build caches after the engine was built: 3.3 GB, and the engine itself. */
const buildBytes = 4e9;

function freeBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

function nodeProblem(): string | undefined {
  const version = spawnSync(nodeBinary(), ["--version"], { encoding: "utf8" }).stdout?.trim() ?? "";
  if (Number(/^v(\d+)\./.exec(version)?.[1] ?? 0) >= 24) return undefined;
  return `Node 24 or newer is needed and this is ${version || "no Node that starts"}: run npm ci, which brings it for Linux on x86-64, or install it.`;
}

function packagesProblem(): string | undefined {
  try {
    neededVersion();
    return undefined;
  } catch (error) {
    return `${(error as Error).message}.`;
  }
}

function engineProblem(): string | undefined {
  const cache = cacheFolder();
  if (enginePresent() || onPath("go", process.env["PATH"]) === undefined) return undefined; // resolveEngine says it
  const caches = process.env["GOCACHE"] ?? (existsSync(join(homedir(), ".cache")) ? join(homedir(), ".cache") : homedir());
  for (const folder of [caches, cache]) {
    const free = freeBytes(folder);
    if (free < buildBytes) {
      return `Building the Pulumi engine takes ${buildBytes / 1e9} GB of disk and ${folder} has ${(free / 1e9).toFixed(1)} GB free: make room, or put Pulumi ${neededVersion()} on PATH.`;
    }
  }
  return undefined;
}

/** What holds state and secrets must never be offered to git. */
function ignoreProblem(): string | undefined {
  if (!existsSync(join(checkout, ".git"))) return undefined;
  const ignored = readFileSync(join(checkout, ".gitignore"), "utf8").split("\n").map((line) => line.trim());
  return ignored.includes(".meshbench/") ? undefined : ".gitignore no longer lists .meshbench/, which holds state and secrets: put the line back.";
}

/** What was looked at, and one sentence about what is lacking; undefined: nothing. */
export type Problem = [what: string, problem: string | undefined];

/**
 * What this checkout and this machine lack to run Pulumi here. Looks and changes nothing but the
 * empty cache folder. What local nodes need is `lab check`'s part.
 */
export function preflight(): Problem[] {
  const checks: [string, () => string | undefined][] = [["Node", nodeProblem], ["packages", packagesProblem], ["engine", engineProblem], ["secrets", ignoreProblem]];
  return checks.map(([what, check]): Problem => {
    try {
      return [what, check()];
    } catch (error) {
      if (!(error instanceof ToolError)) throw error;
      return [what, `${error.message}.`];
    }
  });
}
