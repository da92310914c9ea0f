import { mkdirSync, readFileSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createWhole } from "./exclusive.ts";

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

type LinkFile = (existing: string, path: string) => void;

/** Whether a lock has no content yet: on a file system without hard links its taker is just writing it. */
function beingTaken(file: string): boolean {
  const there = statSync(file, { throwIfNoEntry: false });
  return there !== undefined && there.size === 0 && Date.now() - there.mtimeMs < 2000;
}

/** Removes a lock whose process is gone, and puts it back when another process has just taken it. */
function removeStale(file: string, link: LinkFile | undefined): void {
  const aside = `${file}.stale.${process.pid}`;
  try {
    renameSync(file, aside);
    if (isAlive(holder(aside) ?? 0)) createWhole(file, readFileSync(aside, "utf8"), 0o644, link);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  } finally {
    rmSync(aside, { force: true });
  }
}

/**
 * Runs `work` while no other process holds the lock. A lock whose process is gone is taken over;
 * `waiting` is called once a second while another one works. `link` stands for link(2).
 */
export async function withLock<T>(
  file: string,
  work: () => Promise<T>,
  waiting: (pid: number) => void,
  link?: LinkFile,
): Promise<T> {
  mkdirSync(dirname(file), { recursive: true });
  while (!createWhole(file, String(process.pid), 0o644, link)) {
    const pid = holder(file);
    if (pid === undefined) continue;
    if (beingTaken(file)) {
      await sleep(20);
      continue;
    }
    if (!isAlive(pid)) {
      removeStale(file, link);
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
