/** One leg's stack: stood up, measured, its result kept, taken down. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { checkout } from "../../tools/paths.ts";
import { openProject, type Project, stateFile } from "../../tools/project.ts";
import { runPulumi } from "../../tools/run.ts";
import { asYaml, isSecure } from "../../tools/start/stack-files.ts";
import { type Leg, StudyError } from "./file.ts";

export interface LegOptions {
  /** Where results go; relative to the working directory. */
  results: string;
  /** Leave the stack up when the leg failed, to look at it. */
  keepOnFailure: boolean;
  say: (line: string) => void;
  /**
   * Set off by Ctrl-C, which the engine hears by itself: a second signal from here would make it leave things half
   * done.
   */
  signal: AbortSignal;
  /** Everything that the engine prints, kept in this file. */
  log: string;
}

export class LegError extends Error {}

/**
 * Returns the path of the result file. Rejects with one sentence; the stack is then gone too, unless it was to be kept.
 */
export async function runLeg(leg: Leg, options: LegOptions): Promise<string> {
  const project = openProject();
  const { stack } = leg;
  const env = { MESHBENCH_RESULTS: options.results };
  const engine = (args: string[], more: { destroying?: boolean } = {}): Promise<{ code: number; output: string }> =>
    captured(args, { project, stack, env, ...more }, options);
  await ensureStack(project, leg, options);
  try {
    if (options.signal.aborted) throw new LegError("interrupted");
    options.say("up");
    const up = await engine([
      "up",
      "--yes",
      "--skip-preview",
      "--suppress-outputs",
      "--non-interactive",
      "--stack",
      stack,
    ]);
    if (options.signal.aborted) throw new LegError("interrupted");
    if (up.code !== 0) throw new LegError(`up failed: ${lastError(up.output)}`);
    const { output } = await engine(["stack", "output", "resultFile", "--stack", stack]);
    const file = output.trim().split("\n").at(-1)!;
    if (!existsSync(file)) throw new LegError(`the stack names ${file || "no file"} as its result, which is not there`);
    await takeDown(engine, leg, options);
    return file;
  } catch (error) {
    if (options.keepOnFailure && !options.signal.aborted)
      options.say(`left up to look at: npm run pulumi -- destroy -s ${stack}`);
    else await takeDown(engine, leg, options).catch((e: Error) => options.say(e.message));
    throw error;
  }
}

/** Destroys and forgets the stack. Rejects when something stays. */
export async function takeDown(
  engine: (args: string[], more?: { destroying?: boolean }) => Promise<{ code: number; output: string }>,
  leg: Leg,
  options: Pick<LegOptions, "say">,
): Promise<void> {
  options.say("destroy");
  const down = await engine(["destroy", "--yes", "--non-interactive", "--stack", leg.stack], { destroying: true });
  if (down.code !== 0)
    throw new LegError(`destroy failed: ${lastError(down.output)}; run: npm run pulumi -- destroy -s ${leg.stack}`);
  await engine(["stack", "rm", "--yes", "--stack", leg.stack]);
}

/** The configuration goes into the git-ignored copies of the stack files, beside what Pulumi itself keeps there. */
async function ensureStack(project: Project, leg: Leg, options: LegOptions): Promise<void> {
  const state = stateFile(project, leg.stack);
  if (state === undefined || !existsSync(state)) {
    const { code, output } = await captured(
      ["stack", "init", leg.stack, "--no-select", "--non-interactive"],
      { project },
      options,
    );
    if (code !== 0 && !/already exists/.test(output))
      throw new LegError(`the stack could not be made: ${lastError(output)}`);
  }
  mkdirSync(project.work, { recursive: true, mode: 0o700 });
  const file = join(project.work, `Pulumi.${leg.stack}.yaml`);
  const before = existsSync(file) ? (parse(readFileSync(file, "utf8")) as Record<string, unknown> | null) : null;
  const config = Object.fromEntries(
    Object.entries(leg.cell.raw).map(([key, value]) => [key.startsWith("aws:") ? key : `meshbench:${key}`, value]),
  );
  writeFileSync(file, asYaml({ ...before, config }));
}

async function captured(
  args: string[],
  options: Parameters<typeof runPulumi>[1] & object,
  { log, say }: Pick<LegOptions, "log" | "say">,
): Promise<{ code: number; output: string }> {
  const { code, stdout, stderr } = await runPulumi(args, { ...options, stdio: ["ignore", "pipe", "pipe"], say });
  writeFileSync(log, `$ pulumi ${args.join(" ")}\n${stdout}${stderr}\n`, { flag: "a" });
  return { code, output: stdout + stderr };
}

/** What a script's last words look like, "db-1: the server did not start"; the journal behind them names units. */
const SAID = /^(?!\S+\.(?:service|socket|mount): )[a-z0-9][a-z0-9.-]*: /;

/**
 * The reason out of the engine's output. Of a failed step it prints that it failed, then all that the step printed, to
 * the next empty line: progress, the reason, and perhaps a log. Scripts begin what they say with the node's name.
 */
export function lastError(output: string): string {
  const lines = output.split("\n").map((l) => l.trim());
  const at = lines.findLastIndex((l) => /^(error|benchmark): /.test(l) && !/: update failed$/.test(l));
  if (at < 0) return lines.filter(Boolean).at(-1) ?? "no reason given";
  const said = lines[at]!.replace(/^(error|benchmark): /, "");
  if (!/^(Process exited with|exit) status/.test(said)) return said;
  const rest = lines.slice(at + 1);
  const first = rest.findIndex(Boolean);
  if (first < 0) return said;
  const end = rest.findIndex((l, i) => i > first && l === "");
  const printed = rest.slice(first, end < 0 ? undefined : end);
  return printed.findLast((l) => SAID.test(l)) ?? printed.at(-1) ?? said;
}

/**
 * What a user may have set for a stack of this checkout, without what is encrypted for that stack alone; the AWS
 * provider's settings keep their namespace.
 */
export function readStackFile(stack: string): Record<string, unknown> {
  const project = openProject();
  const [copy, committed] = [join(project.work, `Pulumi.${stack}.yaml`), join(checkout, `Pulumi.${stack}.yaml`)];
  if (!existsSync(committed)) throw new StudyError(`stackFile: ${stack}: there is no Pulumi.${stack}.yaml`);
  const read = (file: string): Record<string, unknown> =>
    existsSync(file)
      ? ((parse(readFileSync(file, "utf8")) as { config?: Record<string, unknown> } | null)?.config ?? {})
      : {};
  return Object.fromEntries(
    Object.entries({ ...read(committed), ...read(copy) })
      .filter(([key, value]) => /^(meshbench|aws):/.test(key) && !isSecure(value))
      .map(([key, value]) => [key.replace(/^meshbench:/, ""), value]),
  );
}

export const studiesDir = (results: string): string => join(results, "studies");
