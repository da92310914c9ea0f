import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, statfsSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { enginePresent, neededVersion } from "../engine/engine.ts";
import { nodeProblem as versionProblem } from "../node-version.js";
import { cacheFolder, checkout, homeFolder, nodeBinary, ToolError } from "../paths.ts";
import { ENGINE_GB } from "./disk.ts";

const buildBytes = ENGINE_GB * 1e9;

type FreeBytes = (folder: string) => number;

function freeBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

function nodeProblem(): string | undefined {
  const version = spawnSync(nodeBinary(), ["--version"], { encoding: "utf8" }).stdout?.trim() ?? "";
  const problem = versionProblem(version);
  return problem && `${problem}.`;
}

function packagesProblem(): string | undefined {
  try {
    neededVersion();
    return undefined;
  } catch (error) {
    return `${(error as Error).message}.`;
  }
}

/**
 * Where Go keeps what it fetches and what it makes, and where the engine is kept; as far as these folders exist yet.
 */
function buildFolders(): string[] {
  const inHome = (...parts: string[]): string => join(homeFolder() ?? "/", ...parts);
  const modules =
    process.env["GOMODCACHE"] ??
    (process.env["GOPATH"] === undefined ? inHome("go") : process.env["GOPATH"].split(delimiter)[0]!);
  return [process.env["GOCACHE"] ?? inHome(".cache"), modules, cacheFolder()].map(existing);
}

function existing(folder: string): string {
  return existsSync(folder) || dirname(folder) === folder ? folder : existing(dirname(folder));
}

/** Also without Go on PATH: the engine is built with a Go that is fetched then. */
function engineProblem(free: FreeBytes): string | undefined {
  if (enginePresent()) return undefined;
  const full = buildFolders().find((folder) => free(folder) < buildBytes);
  return full === undefined
    ? undefined
    : `Building the Pulumi engine takes ${buildBytes / 1e9} GB of disk and ${full} has ${(free(full) / 1e9).toFixed(1)} GB free: make room, or put Pulumi ${neededVersion()} on PATH.`;
}

/** What holds state and secrets must never be offered to git. */
function ignoreProblem(): string | undefined {
  if (!existsSync(join(checkout, ".git"))) return undefined;
  const ignored = readFileSync(join(checkout, ".gitignore"), "utf8")
    .split("\n")
    .map((line) => line.trim());
  return ignored.includes(".meshbench/")
    ? undefined
    : ".gitignore no longer lists .meshbench/, which holds state and secrets: put the line back.";
}

/** What was looked at, and one sentence about what is lacking; undefined: nothing. */
export type Problem = [what: string, problem: string | undefined];

/**
 * What this checkout and this machine lack to run Pulumi here. Looks and changes nothing but the
 * empty cache folder. What local nodes need is `lab check`'s part.
 */
export function preflight(free: FreeBytes = freeBytes): Problem[] {
  const checks: [string, () => string | undefined][] = [
    ["Node", nodeProblem],
    ["packages", packagesProblem],
    ["engine", () => engineProblem(free)],
    ["secrets", ignoreProblem],
  ];
  return checks.map(([what, check]): Problem => {
    try {
      return [what, check()];
    } catch (error) {
      if (!(error instanceof ToolError)) throw error;
      return [what, `${error.message}.`];
    }
  });
}
