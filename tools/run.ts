import { type StdioOptions, spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { type Engine, resolveEngine } from "./engine/engine.ts";
import { passphraseProblem } from "./passphrase.ts";
import { checkout, homeFolder, nodeBinary, onPath, ToolError } from "./paths.ts";
import { type Say, sayOnStderr } from "./progress.ts";
import { openProject, type Project, stackName, stateFile } from "./project.ts";
import { clearStaleLocks, type Deployment, hasPendingOperations, type Lost, settle } from "./start/recover.ts";
import { committedStacks, syncStackFiles } from "./start/stack-files.ts";

export interface RunOptions {
  /** Made ready before the run: created on first use, stale locks and half-done operations cleared. */
  stack?: string;
  project?: Project;
  env?: Record<string, string>;
  stdio?: StdioOptions;
  /** Written to the engine's standard input; only with a piped one. */
  input?: string;
  /** Set for `destroy`: half-done creates are then listed so that they get deleted. */
  destroying?: boolean;
  say?: Say;
  signal?: AbortSignal;
}

export interface RunResult {
  /** The engine's exit code; 128 + n for a signal. */
  code: number;
  /** Empty unless stdio is piped. */
  stdout: string;
  stderr: string;
}

/** Whether Ctrl-C reaches the child by itself: this process is in the terminal's foreground group. */
function inForeground(): boolean {
  try {
    const fields = (readFileSync("/proc/self/stat", "utf8").split(") ").pop() ?? "").split(" ");
    const [group, foreground] = [fields[2], fields[5]];
    return group === foreground;
  } catch {
    return false;
  }
}

const signalNumbers: Partial<Record<NodeJS.Signals, number>> = { SIGHUP: 1, SIGINT: 2, SIGKILL: 9, SIGTERM: 15 };

const LOOPBACK = ["127.0.0.1", "localhost", "::1"];

/**
 * The engine, its language host and its plugins speak gRPC with each other over loopback, which gRPC for Node.js sends
 * through `http_proxy` like everything else unless `no_proxy` names it. What the user's list already holds stays. Of the
 * three spellings gRPC takes the first one that is set.
 */
export function withoutLoopbackProxy(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const result = { ...environment };
  const given = environment["no_proxy"] || environment["NO_PROXY"] || "";
  const names = (list: string): string[] => list.split(",").map((name) => name.trim());
  const extended = (list: string): string =>
    [...names(list), ...LOOPBACK.filter((host) => !names(list).includes(host))].filter((name) => name !== "").join(",");
  result["no_proxy"] = result["NO_PROXY"] = extended(given);
  const grpc = environment["no_grpc_proxy"];
  if (grpc !== undefined) result["no_grpc_proxy"] = extended(grpc);
  return result;
}

/**
 * Runs the engine and passes signals on: the first one lets it finish what is under way, a second
 * one ends it. Should this process be killed, the kernel tells the engine to stop (setpriv), so
 * that none runs on unattended.
 */
function execute(engine: Engine, args: string[], project: Project, options: RunOptions): Promise<RunResult> {
  const setpriv = onPath("setpriv", process.env["PATH"]);
  const command = setpriv === undefined ? [engine.binary] : [setpriv, "--pdeathsig", "INT", engine.binary];
  const stdio = options.input === undefined ? (options.stdio ?? "inherit") : "pipe";
  return new Promise((resolve, reject) => {
    const child = spawn(command[0] ?? "", [...command.slice(1), ...args], {
      cwd: project.work,
      // Pulumi does not start without a home folder.
      env: withoutLoopbackProxy({
        ...(homeFolder() === undefined && { HOME: project.private }),
        ...process.env,
        ...engine.env,
        ...project.env,
        ...options.env,
      }),
      stdio,
    });
    const output = { stdout: "", stderr: "" };
    child.stdout?.setEncoding("utf8").on("data", (text: string) => (output.stdout += text));
    child.stderr?.setEncoding("utf8").on("data", (text: string) => (output.stderr += text));
    if (options.input !== undefined) child.stdin?.end(options.input);
    const interrupt = () => {
      if (!inForeground()) child.kill("SIGINT");
    };
    const terminate = () => child.kill("SIGTERM");
    const abort = () => child.kill("SIGINT");
    process.on("SIGINT", interrupt);
    process.on("SIGTERM", terminate);
    process.on("SIGHUP", terminate);
    options.signal?.addEventListener("abort", abort);
    const cleanUp = () => {
      process.off("SIGINT", interrupt);
      process.off("SIGTERM", terminate);
      process.off("SIGHUP", terminate);
      options.signal?.removeEventListener("abort", abort);
    };
    child.once("error", (error) => {
      cleanUp();
      reject(new ToolError(`Pulumi could not be started: ${error.message}`));
    });
    child.once("close", (code, signal) => {
      cleanUp();
      resolve({ code: code ?? 128 + (signal ? (signalNumbers[signal] ?? 0) : 0), ...output });
    });
  });
}

/** Commands that would trip over operations half done; the others look at the stack, or at its settings. */
const SETTLING = ["up", "update", "preview", "refresh", "destroy", "down", "watch"];

async function quietly(engine: Engine, args: string[], project: Project, input?: string): Promise<RunResult> {
  const options: RunOptions = input === undefined ? { stdio: ["ignore", "pipe", "pipe"] } : { input };
  const result = await execute(engine, [...args, "--non-interactive"], project, options);
  if (result.code !== 0) {
    throw new ToolError(
      `pulumi ${args.join(" ")}: ${result.stderr.trim().replace(/^error: /, "") || `exit code ${result.code}`}`,
    );
  }
  return result;
}

async function exists(engine: Engine, project: Project, stack: string): Promise<boolean> {
  const file = stateFile(project, stack);
  if (file !== undefined) return existsSync(file);
  const { stdout } = await quietly(engine, ["stack", "ls", "--json"], project);
  return (JSON.parse(stdout) as { name: string }[]).some(({ name }) => stackName(name) === stackName(stack));
}

/** Makes a stack ready to run: created when it has a committed file, and freed of what a kill left. */
async function prepare(
  engine: Engine,
  project: Project,
  stack: string,
  options: RunOptions & { settling: boolean },
): Promise<void> {
  const say = options.say ?? sayOnStderr;
  if (!(await exists(engine, project, stack))) {
    if (!committedStacks(project).includes(stackName(stack))) return; // the engine's own error says it best
    await quietly(engine, ["stack", "init", stack, "--no-select"], project);
    say(`Created stack ${stack}.`);
  }
  clearStaleLocks(project, stack, say);
  if (!options.settling || !hasPendingOperations(project, stack)) return;
  const { stdout } = await quietly(engine, ["stack", "export", "--stack", stack], project);
  const { deployment, adopted, unknown } = settle(JSON.parse(stdout) as Deployment, options.destroying ?? false);
  if (unknown.length > 0) await takeAway(project, stack, unknown, say);
  await quietly(engine, ["stack", "import", "--stack", stack], project, JSON.stringify(deployment));
  say(
    `An earlier run of stack ${stack} was killed; what it had under way is settled.` +
      (adopted.length > 0 ? ` To be deleted too, in case they exist: ${adopted.join(", ")}.` : ""),
  );
}

/**
 * What a killed run was creating in a cloud, and the state has no id of: a second one would be made beside it, and what
 * it stands in could not be destroyed. Asked by a program of its own, for this part needs nothing of the clouds' clients.
 *
 * @throws ToolError when nothing can be found out: the operations then stay in the state, for the next try.
 */
async function takeAway(project: Project, stack: string, lost: Lost[], say: Say): Promise<void> {
  say(
    `An earlier run of stack ${stack} was killed while it made ${lost.map((l) => l.name).join(", ")}; looking for what is there.`,
  );
  const child = spawn(nodeBinary(), [join(checkout, "cli/leftovers/lost.ts")], { stdio: ["pipe", "ignore", "pipe"] });
  child.stdin.on("error", () => {}).end(JSON.stringify({ root: project.root, stack, lost }));
  let last = "";
  createInterface({ input: child.stderr }).on("line", (line) => {
    last = line;
    say(line);
  });
  const code = await new Promise<number>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (c) => resolve(c ?? 1));
  });
  if (code !== 0) throw new ToolError(last || `what an earlier run of stack ${stack} left could not be looked for`);
}

/**
 * Runs `pulumi` with the project's defaults. The engine is found or made first, see `resolveEngine`.
 *
 * @throws ToolError when there is no engine, or a stack can't be made ready. An engine that fails
 * is no exception: its exit code is in the result.
 */
export async function runPulumi(args: string[], options: RunOptions = {}): Promise<RunResult> {
  const project = options.project ?? openProject();
  const engine = await resolveEngine(options.say);
  syncStackFiles(project);
  const settling = args.some((word) => SETTLING.includes(word)) && !args.includes("--clear-pending-creates");
  const { stack } = options;
  const explain = (): string | undefined =>
    stack === undefined || project.state === undefined ? undefined : passphraseProblem(project, stack);
  try {
    if (stack !== undefined) await prepare(engine, project, stack, { ...options, settling });
  } catch (error) {
    const problem = error instanceof ToolError ? explain() : undefined;
    throw problem === undefined ? error : new ToolError(problem);
  }
  const result = await execute(engine, args, project, options);
  // Pulumi says "incorrect passphrase", and neither which one it had nor where from.
  const problem = result.code === 0 ? undefined : explain();
  if (problem !== undefined) (options.say ?? sayOnStderr)(problem);
  return result;
}
