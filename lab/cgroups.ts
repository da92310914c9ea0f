/**
 * Control groups of nodes. Each node has its own: its systemd takes the group for its root, and
 * two nodes with the same root would stop each other's services. It also ends a node in one write.
 */
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rmdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

const MOUNT = "/sys/fs/cgroup";
/** On machines with the older layout version 2 is mounted below the version 1 controllers. */
const unified = () => (existsSync(join(MOUNT, "cgroup.controllers")) ? MOUNT : join(MOUNT, "unified"));
const isV1 = () => unified() !== MOUNT;

const below = (mount: string, lab: string, node?: string) => join(mount, "meshbench", lab, ...(node ? [node] : []));
/** All hierarchies in which a lab may have groups; the one named systemd mirrors the unified one, by systemd-nspawn. */
const hierarchies = () =>
  isV1() ? [unified(), join(MOUNT, "systemd"), join(MOUNT, "cpu"), join(MOUNT, "memory")] : [unified()];

/** null takes a limit away. */
export interface Limits {
  cpus?: number | null | undefined;
  memoryMb?: number | null | undefined;
}

const CPU_PERIOD_US = 100_000;

/**
 * Makes the node's groups and sets its limits.
 * @returns the `cgroup.procs` files its first process must enter, and why a limit could not be set.
 */
export async function makeGroups(
  lab: string,
  node: string,
  limits: Limits,
): Promise<{ enter: string[]; refused: string[] }> {
  const enter: string[] = [];
  const refused: string[] = [];
  const attempt = async (what: string, work: () => Promise<void>) => {
    try {
      await work();
    } catch (error) {
      refused.push(`${what} not applied: ${(error as Error).message}`);
    }
  };
  const group = below(unified(), lab, node);
  await mkdir(group, { recursive: true });
  enter.push(join(group, "cgroup.procs"));
  const { cpus, memoryMb } = limits;
  const quota = cpus === null ? undefined : Math.round((cpus ?? 0) * CPU_PERIOD_US);
  if (isV1()) {
    if (cpus !== undefined)
      await attempt("cpus", async () => {
        const directory = below(join(MOUNT, "cpu"), lab, node);
        await mkdir(directory, { recursive: true });
        await writeFile(join(directory, "cpu.cfs_period_us"), String(CPU_PERIOD_US));
        await writeFile(join(directory, "cpu.cfs_quota_us"), String(quota ?? -1));
        enter.push(join(directory, "cgroup.procs"));
      });
    if (memoryMb !== undefined)
      await attempt("memoryMb", async () => {
        const directory = below(join(MOUNT, "memory"), lab, node);
        await mkdir(directory, { recursive: true });
        await writeFile(join(directory, "memory.limit_in_bytes"), memoryMb === null ? "-1" : `${memoryMb}M`);
        enter.push(join(directory, "cgroup.procs"));
      });
    return { enter, refused };
  }
  const controllers = [...(cpus === undefined ? [] : ["+cpu"]), ...(memoryMb === undefined ? [] : ["+memory"])];
  await attempt("limits", async () => {
    for (const parent of [MOUNT, join(MOUNT, "meshbench"), join(MOUNT, "meshbench", lab)])
      if (controllers.length) await writeFile(join(parent, "cgroup.subtree_control"), controllers.join(" "));
    if (cpus !== undefined) await writeFile(join(group, "cpu.max"), `${quota ?? "max"} ${CPU_PERIOD_US}`);
    if (memoryMb !== undefined) await writeFile(join(group, "memory.max"), memoryMb === null ? "max" : `${memoryMb}M`);
  });
  return { enter, refused };
}

/**
 * Sets the limits of a node that runs: in the older layout its processes have to enter groups that were not there.
 * @returns why a limit could not be set.
 */
export async function moveInto(lab: string, node: string, limits: Limits): Promise<string[]> {
  const { enter, refused } = await makeGroups(lab, node, limits);
  // The unified group they are in already, and their systemd has made others below it.
  const groups = enter.slice(1);
  for (let moved = true; groups.length > 0 && moved; ) {
    moved = false;
    const pids = await groupProcesses(lab, node);
    for (const group of groups) {
      const inside = new Set((await readFile(group, "utf8")).split("\n").map(Number));
      // One that has ended meanwhile has taken no child with it that would not be seen.
      for (const pid of pids.filter((one) => !inside.has(one)))
        moved =
          (await writeFile(group, String(pid)).then(
            () => true,
            () => false,
          )) || moved;
    }
  }
  return refused;
}

/** Kills all that runs in the node at once, as a power cut does. */
export async function killGroup(lab: string, node: string): Promise<void> {
  await writeFile(join(below(unified(), lab, node), "cgroup.kill"), "1").catch(() => {});
}

/** The groups of a lab that exist, deepest last. */
export async function listGroups(lab: string, node?: string): Promise<string[]> {
  const found: string[] = [];
  const walk = async (directory: string) => {
    found.push(directory);
    for (const entry of await readdir(directory, { withFileTypes: true }).catch(() => []))
      if (entry.isDirectory()) await walk(join(directory, entry.name));
  };
  for (const mount of hierarchies()) if (existsSync(below(mount, lab, node))) await walk(below(mount, lab, node));
  return found;
}

/** Processes in the groups of a lab or node. */
export async function groupProcesses(lab: string, node?: string): Promise<number[]> {
  const groups = await listGroups(lab, node);
  const texts = await Promise.all(groups.map((group) => readFile(join(group, "cgroup.procs"), "utf8").catch(() => "")));
  // A process outside of the reader's process namespace shows as 0.
  return [...new Set(texts.flatMap((text) => text.split("\n").filter(Boolean).map(Number)))].filter((pid) => pid > 0);
}

/** Removes the (empty) groups of a lab or node, and the common parent with the last of them. */
export async function removeGroups(lab: string, node?: string): Promise<void> {
  for (const group of (await listGroups(lab, node)).reverse()) await rmdir(group).catch(() => {});
  for (const mount of hierarchies()) {
    await rmdir(below(mount, lab)).catch(() => {});
    await rmdir(join(mount, "meshbench")).catch(() => {});
  }
}
