/** Child processes, progress and the one kind of error that reaches the user. */
import { spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { execa } from "execa";

/** What the user is told: one sentence, no stack trace. */
export class LabError extends Error {}

export interface RunOptions {
  /** Written to the child's stdin. */
  input?: string;
  /** The child is killed after this long, ms; 60 s unless told. */
  timeoutMs?: number;
  /** Called with each line of stderr as it comes. */
  onLine?: (line: string) => void;
}

export interface RunResult {
  code: number;
  stdout: string;
  stderr: string;
}

/** English messages, and the administrator's programs also where PATH lacks them. */
const environment = (): NodeJS.ProcessEnv => ({
  ...process.env,
  LC_ALL: "C",
  PATH: `${process.env.PATH ?? "/usr/bin:/bin"}:/usr/sbin:/sbin`,
});

/** Runs a command to its end and returns its exit code and output; never rejects on a non-zero code. */
export async function tryRun(command: string, args: string[], options: RunOptions = {}): Promise<RunResult> {
  const timeoutMs = options.timeoutMs ?? 60_000;
  const child = execa(command, args, {
    input: options.input ?? "",
    env: environment(),
    extendEnv: false,
    stripFinalNewline: false,
    maxBuffer: Number.POSITIVE_INFINITY,
    reject: false,
    timeout: timeoutMs,
    killSignal: "SIGKILL",
  });
  const { onLine } = options;
  if (onLine)
    void (async () => {
      for await (const line of child.iterable({ from: "stderr" })) onLine(line);
    })().catch(() => {});
  const { exitCode, stdout, stderr, timedOut, code, originalMessage } = await child;
  if (timedOut) throw new LabError(`${command} ${args.join(" ")} did not end within ${timeoutMs / 1000} s`);
  if (exitCode === undefined && code !== undefined && code !== "EPIPE") {
    const reason = code === "ENOENT" ? "is not installed; `lab check --install` installs it" : originalMessage;
    throw new LabError(`${command} ${reason}`);
  }
  return { code: exitCode ?? 137, stdout, stderr };
}

/** Runs a command and returns its stdout. @throws LabError with the last line of stderr when it fails. */
export async function run(command: string, args: string[], options: RunOptions = {}): Promise<string> {
  const result = await tryRun(command, args, options);
  if (result.code !== 0) {
    const reason = result.stderr.trim().split("\n").at(-1) || `exit code ${result.code}`;
    throw new LabError(`${command} ${args.join(" ")}: ${reason}`);
  }
  return result.stdout;
}

/**
 * Starts a program that outlives this one, in a session of its own, its output appended to `log`.
 * Nothing of this process stays open in it: whoever waits for this process's pipes is not held up.
 */
export function startDetached(command: string, args: string[], log: string, env?: NodeJS.ProcessEnv): number {
  const output = openSync(log, "a", 0o600);
  try {
    const child = spawn(command, args, {
      detached: true,
      stdio: ["ignore", output, output],
      cwd: "/",
      // Not this process's environment: it may hold secrets, and the program lives long.
      env: { PATH: environment().PATH, LC_ALL: "C", ...env },
    });
    child.on("error", () => {});
    child.unref();
    if (child.pid === undefined) throw new LabError(`${command} could not be started`);
    return child.pid;
  } finally {
    closeSync(output);
  }
}

const startedAt = Date.now();

/** One line of progress on stderr, with the seconds since the command began. */
export function progress(line: string): void {
  process.stderr.write(`[${((Date.now() - startedAt) / 1000).toFixed(1).padStart(5)} s] ${line}\n`);
}

export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Polls until `test` gives something other than undefined. @returns undefined when `timeoutMs` passed first. */
export async function poll<T>(timeoutMs: number, everyMs: number, test: () => Promise<T | undefined> | T | undefined) {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const value = await test();
    if (value !== undefined || Date.now() >= deadline) return value;
    await sleep(everyMs);
  }
}
