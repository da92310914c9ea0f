/** Processes of this machine, as /proc shows them. */
import { readdir, readFile } from "node:fs/promises";

export interface Process {
  pid: number;
  args: string[];
}

/** Every process that still has a command line (no kernel threads, no zombies). */
export async function findProcesses(): Promise<Process[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    pids.map(async (pid) => {
      const text = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
      return text ? [{ pid: Number(pid), args: text.replace(/\0$/, "").split("\0") }] : [];
    }),
  );
  return found.flat();
}

/**
 * Processes whose mount namespace holds a mount made of a path below `directory`:
 * a node's supervisor and all that runs in the node, whatever name and namespaces it has taken.
 */
export async function processesMounting(directory: string): Promise<number[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name) && name !== String(process.pid));
  const found = await Promise.all(
    pids.map(async (pid) => {
      const mounts = await readFile(`/proc/${pid}/mountinfo`, "utf8").catch(() => "");
      return mounts.includes(directory) ? [Number(pid)] : [];
    }),
  );
  return found.flat();
}

/** Processes that were started with one of these arguments. */
export async function processesNamed(...args: string[]): Promise<number[]> {
  return (await findProcesses()).filter((p) => p.args.some((arg) => args.includes(arg))).map((p) => p.pid);
}

/** "Z" for a zombie and so on; undefined when there is no such process. */
export async function processState(pid: number): Promise<string | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  return text ? text.slice(text.lastIndexOf(")") + 2)[0] : undefined;
}

export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}
