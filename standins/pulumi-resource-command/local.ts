import { spawn } from "node:child_process";
import { constants } from "node:os";
import { endTree } from "../../tools/processes.ts";
import type { Log } from "./log.ts";
import { type Logging, Output } from "./output.ts";

export interface LocalInputs {
  stdin?: string;
  logging?: Logging;
  interpreter?: string[];
  dir?: string;
  environment?: Record<string, string>;
  addPreviousOutputInEnv?: boolean;
}

export interface CommandOutputs {
  stdout: string;
  stderr: string;
}

/** The outputs of the last run, as the next one sees them in its environment. */
export function previousOutputEnvironment(
  wanted: boolean | undefined,
  previous: CommandOutputs,
): Record<string, string> {
  if (wanted === false) return {};
  return {
    ...(previous.stdout !== "" && { PULUMI_COMMAND_STDOUT: previous.stdout }),
    ...(previous.stderr !== "" && { PULUMI_COMMAND_STDERR: previous.stderr }),
  };
}

function exitReason(code: number | null, signal: NodeJS.Signals | null): string {
  if (signal === null) return `exit status ${code}`;
  const names: Partial<Record<NodeJS.Signals, string>> = {
    SIGKILL: "killed",
    SIGTERM: "terminated",
    SIGINT: "interrupt",
  };
  return `signal: ${names[signal] ?? `signal ${constants.signals[signal]}`}`;
}

/**
 * Runs a command on this machine. Resolves when it has ended and nothing holds its stdout or
 * stderr open any more, as the vendor's plugin does. An abort ends it and all its descendants.
 */
export async function runLocal(
  command: string,
  inputs: LocalInputs,
  previous: CommandOutputs,
  log: Log,
  signal: AbortSignal,
): Promise<CommandOutputs> {
  signal.throwIfAborted();
  const interpreter = inputs.interpreter?.length ? inputs.interpreter : ["/bin/sh", "-c"];
  const program = interpreter[0] ?? "";
  const args = [...interpreter.slice(1), command];
  const output = new Output(inputs.logging, log);
  const child = spawn(program, args, {
    cwd: inputs.dir ?? process.cwd(),
    env: {
      ...process.env,
      ...inputs.environment,
      ...previousOutputEnvironment(inputs.addPreviousOutputInEnv, previous),
    },
    stdio: [inputs.stdin ? "pipe" : "ignore", "pipe", "pipe"],
  });
  // A command that never reads its standard input closes the pipe: no failure of the command.
  child.stdin?.on("error", () => {}).end(inputs.stdin);
  child.stdout?.on("data", (chunk: Buffer) => output.write("stdout", chunk));
  child.stderr?.on("data", (chunk: Buffer) => output.write("stderr", chunk));
  const abort = () => {
    if (child.pid !== undefined) void endTree(child.pid);
  };
  signal.addEventListener("abort", abort, { once: true });
  let failure: string | undefined;
  try {
    failure = await new Promise<string | undefined>((resolve) => {
      child.once("error", (error: NodeJS.ErrnoException) => resolve(spawnReason(error, program, inputs.dir)));
      child.once("close", (code, killedBy) => resolve(code === 0 ? undefined : exitReason(code, killedBy)));
    });
  } finally {
    signal.removeEventListener("abort", abort);
    await output.end();
  }
  if (failure !== undefined) throw output.failure(failure, command);
  return { stdout: output.stdout, stderr: output.stderr };
}

function spawnReason(error: NodeJS.ErrnoException, program: string, dir: string | undefined): string {
  if (error.code !== "ENOENT") return error.message;
  return dir === undefined
    ? `exec: ${JSON.stringify(program)}: executable file not found`
    : `chdir ${dir}: no such file or directory`;
}
