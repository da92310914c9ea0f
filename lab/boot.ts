/** Starting and ending the container of a node. */
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { groupProcesses, killGroup, type Limits, makeGroups, removeGroups } from "./cgroups.ts";
import { archiveOf } from "./image/package-archive.ts";
import { ARCHIVE_PATH } from "./image/recipe.ts";
import { names } from "./network/addresses.ts";
import { processesMounting, processesNamed, processState, signal } from "./processes.ts";
import { paths } from "./registry.ts";
import { LabError, poll, startDetached } from "./run.ts";

/**
 * The overlay is mounted in a mount namespace of the container's own: with its last process the
 * mount is gone too, however that process ended. Slave propagation, so that a namespace that is
 * deleted outside is not kept alive in here.
 *
 * $1 root, $2 overlay options, then the groups to enter, "--", the command.
 */
const LAUNCH = `
set -e
root=$1 options=$2
shift 2
while [ "$1" != -- ]; do echo $$ > "$1"; shift; done
shift
mount -t overlay -o "$options" overlay "$root"
exec "$@"
`;

export const nodeDirectories = (lab: string, node: string) => {
  const base = paths.node(lab, node);
  return {
    base,
    upper: join(base, "upper"),
    work: join(base, "work"),
    root: join(base, "root"),
    log: join(base, "console.log"),
  };
};

/** Boots the node on its disk. @returns why a limit could not be set. */
export async function launch(lab: string, node: string, image: string, limits: Limits): Promise<string[]> {
  const { upper, work, root, log } = nodeDirectories(lab, node);
  const { enter, refused } = await makeGroups(lab, node, limits);
  startDetached(
    "unshare",
    [
      "--mount",
      "--propagation",
      "slave",
      "--",
      "sh",
      "-c",
      LAUNCH,
      names.node(lab, node),
      root,
      `lowerdir=${image},upperdir=${upper},workdir=${work}`,
      ...enter,
      "--",
      "systemd-nspawn",
      "--quiet",
      "--boot",
      "--register=no",
      "--keep-unit",
      `--machine=${names.node(lab, node)}`,
      `--hostname=${node}`,
      `--directory=${root}`,
      `--network-namespace-path=/run/netns/${names.node(lab, node)}`,
      // A namespace given by path is not taken as private: without this a node could not make its WireGuard interface.
      "--capability=CAP_NET_ADMIN",
      "--bind=/dev/net/tun",
      ...(existsSync(archiveOf(image)) ? [`--bind-ro=${archiveOf(image)}:${ARCHIVE_PATH}`] : []),
      "--resolv-conf=off",
      "--timezone=off",
      "--link-journal=no",
      "--console=read-only",
    ],
    log,
    {
      // The node's systemd sees version 2 groups only: its own, and none of this machine's controllers.
      SYSTEMD_NSPAWN_UNIFIED_HIERARCHY: "1",
      // /tmp on the disk, as on an installed Debian 12, instead of in memory.
      SYSTEMD_NSPAWN_TMPFS_TMP: "0",
    },
  );
  return refused;
}

/** All processes of a node: in its groups, with its disk mounted, or about to be either. */
export async function nodeProcesses(lab: string, node: string): Promise<number[]> {
  const machine = names.node(lab, node);
  const found = await Promise.all([
    groupProcesses(lab, node),
    processesMounting(`${paths.node(lab, node)}/`),
    processesNamed(machine, `--machine=${machine}`),
  ]);
  return [...new Set(found.flat())];
}

/** The node's process 1, as this machine numbers it; undefined when the node is down. */
export async function initPid(lab: string, node: string): Promise<number | undefined> {
  for (const pid of (await groupProcesses(lab, node)).sort((a, b) => a - b)) {
    const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
    const inner = /^NSpid:\s+\d+\s+(\d+)$/m.exec(status)?.[1];
    if (inner === "1" && /^Name:\s+systemd$/m.test(status)) return pid;
  }
  return undefined;
}

const END_MS = 30_000;

/** Pulls the plug: everything of the node is gone when this returns. */
export async function kill(lab: string, node: string): Promise<void> {
  const gone = await poll(END_MS, 20, async () => {
    await killGroup(lab, node);
    // The groups are cheap to read and hold nearly everything; the machine's processes are searched when they are
    // empty.
    const inGroups = await groupProcesses(lab, node);
    const pids = inGroups.length ? inGroups : await nodeProcesses(lab, node);
    for (const pid of pids) signal(pid, "SIGKILL");
    return pids.length === 0 || undefined;
  });
  if (!gone) {
    const pids = await nodeProcesses(lab, node);
    const states = await Promise.all(pids.map(async (pid) => `${pid} (${await processState(pid)})`));
    throw new LabError(`node "${node}" of lab "${lab}": processes that do not end: ${states.join(", ")}`);
  }
  await removeGroups(lab, node);
}

/** systemd's signal for an orderly power-off: SIGRTMIN+4, which on Linux is 38. */
const POWER_OFF = 38;

/** Shuts the node down in order, and pulls the plug when that takes longer than `graceMs`. */
export async function shutDown(lab: string, node: string, graceMs: number): Promise<void> {
  const init = await initPid(lab, node);
  if (init !== undefined && graceMs > 0) {
    try {
      process.kill(init, POWER_OFF);
      await poll(graceMs, 20, async () => ((await processState(init)) === undefined ? true : undefined));
    } catch {
      // It ended by itself meanwhile.
    }
  }
  await kill(lab, node);
}
