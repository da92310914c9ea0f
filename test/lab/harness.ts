/** Runs the lab's command line as a user would, for tests on real nodes. */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { check } from "../../lab/check.ts";

const CLI = join(import.meta.dirname, "../../lab/cli.ts");

export interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

export function startLab(args: string[], input?: unknown): { pid: number; ended: Promise<Ended> } {
  const child = spawn(process.execPath, [CLI, ...args], { stdio: ["pipe", "pipe", "pipe"] });
  child.stdin.end(input === undefined ? "" : JSON.stringify(input));
  return { pid: child.pid ?? 0, ended: collect(child) };
}

async function collect(child: ChildProcessWithoutNullStreams): Promise<Ended> {
  const [stdout, stderr, code] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise<number | null>((resolve) => child.on("close", resolve)),
  ]);
  return { code, stdout, stderr };
}

/** Runs a command that must succeed. @returns its JSON. */
export async function lab<T = any>(args: string[], input?: unknown): Promise<T> {
  const { code, stdout, stderr } = await startLab(args, input).ended;
  if (code !== 0) throw new Error(`lab ${args.join(" ")} ended with ${code}: ${stderr}`);
  return JSON.parse(stdout) as T;
}

/**
 * Runs a command inside the node whose process 1 has this pid, whatever its exit code; what `lab node exec` does,
 * without starting Node.
 */
export const inNode = (pid: number, ...command: string[]): Promise<Ended> =>
  collect(
    spawn("nsenter", [`--target=${pid}`, "--mount", "--uts", "--ipc", "--net", "--pid", "--cgroup", "--", ...command]),
  );

/** Why real nodes can't be had here, or false: the value of a test's `skip`. */
export async function whyNot(): Promise<string | false> {
  const { problems } = await check();
  if (problems.length === 0) return false;
  const reason = `SKIPPED, no local nodes on this machine: ${problems.join("; ")}`;
  process.stderr.write(`${reason}\n`);
  return reason;
}
