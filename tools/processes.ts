import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/** A process and its descendants, parents first. */
export function tree(root: number): number[] {
  const children = new Map<number, number[]>();
  for (const entry of readdirSync("/proc")) {
    const pid = Number(entry);
    if (!Number.isInteger(pid)) continue;
    try {
      // The name in parentheses may hold anything, spaces and parentheses too.
      const afterName = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").pop() ?? "";
      const parent = Number(afterName.split(" ")[1]);
      children.set(parent, [...(children.get(parent) ?? []), pid]);
    } catch {
      // ended while we looked
    }
  }
  const found = [root];
  for (const pid of found) found.push(...(children.get(pid) ?? []));
  return found;
}

function send(pids: number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch {
      // already gone
    }
  }
}

/** Ends a process and its descendants: SIGTERM, and SIGKILL for what is left after `graceMs`. */
export async function endTree(root: number, graceMs = 1500): Promise<void> {
  const pids = tree(root);
  send(pids, "SIGTERM");
  const alive = () => pids.filter((pid) => isRunning(pid));
  for (const end = Date.now() + graceMs; Date.now() < end && alive().length > 0; ) await sleep(25);
  send([...new Set([...alive(), ...pids.flatMap(tree).filter((pid) => isRunning(pid))])], "SIGKILL");
}

/** Whether a process is there and no zombie. */
export function isRunning(pid: number): boolean {
  try {
    const afterName = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").pop() ?? "";
    return !afterName.startsWith("Z");
  } catch {
    return false;
  }
}
