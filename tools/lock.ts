import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/**
 * Whether a process of that id runs; one of another user counts, a zombie does not (a container's
 * first process may never collect them).
 */
export function isAlive(pid: number): boolean {
  if (!(pid > 0)) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
  try {
    const afterName = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").pop() ?? "";
    return !afterName.startsWith("Z");
  } catch {
    return false;
  }
}

function holder(file: string): number | undefined {
  try {
    return Number(readFileSync(file, "utf8"));
  } catch {
    return undefined;
  }
}

/** The lock file appears with its content or not at all: a link to a finished file. */
function take(file: string): boolean {
  const own = `${file}.${process.pid}`;
  writeFileSync(own, String(process.pid));
  try {
    linkSync(own, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    return false;
  } finally {
    rmSync(own, { force: true });
  }
}

/** Removes a lock whose process is gone, and puts it back when another process has just taken it. */
function removeStale(file: string): void {
  const aside = `${file}.stale.${process.pid}`;
  try {
    renameSync(file, aside);
    if (isAlive(holder(aside) ?? 0)) linkSync(aside, file);
  } catch (error) {
    if (!["ENOENT", "EEXIST"].includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
  } finally {
    rmSync(aside, { force: true });
  }
}

/**
 * Runs `work` while no other process holds the lock. A lock whose process is gone is taken over;
 * `waiting` is called once a second while another one works.
 */
export async function withLock<T>(file: string, work: () => Promise<T>, waiting: (pid: number) => void): Promise<T> {
  mkdirSync(dirname(file), { recursive: true });
  while (!take(file)) {
    const pid = holder(file);
    if (pid === undefined) continue;
    if (!isAlive(pid)) {
      removeStale(file);
      continue;
    }
    waiting(pid);
    await sleep(1000);
  }
  try {
    return await work();
  } finally {
    rmSync(file, { force: true });
  }
}
