/** What exists of a lab on this machine, and how all of it goes away. */
import { readFile } from "node:fs/promises";
import { initPid } from "./boot.ts";
import { groupProcesses, listGroups, removeGroups } from "./cgroups.ts";
import { names } from "./network/addresses.ts";
import { listLinks, listNamespaces } from "./network/namespaces.ts";
import { relayPids, relayRuns, stopRelay } from "./network/wan.ts";
import { deleteNode } from "./nodes.ts";
import { findProcesses, processesMounting, signal } from "./processes.ts";
import {
  listDirectory,
  listLabs,
  listNodes,
  paths,
  readLab,
  readNode,
  removeDirectory,
  withLabLock,
} from "./registry.ts";
import { LabError, poll, progress, sleep, tryRun } from "./run.ts";
import type { Link, NodeRecord, Site } from "./schema.ts";

export interface Leftovers {
  processes: { pid: number; command: string }[];
  mounts: string[];
  namespaces: string[];
  links: string[];
  cgroups: string[];
  files: string[];
}

/** Everything on this machine that belongs to the lab, also what its own files do not know of. */
export async function findLeftovers(lab: string): Promise<Leftovers> {
  const directory = `${paths.lab(lab)}/`;
  const nodes = `${names.prefix(lab)}n-`;
  const [all, found, namespaces, links, cgroups, mountinfo] = await Promise.all([
    findProcesses(),
    Promise.all([processesMounting(directory), groupProcesses(lab), relayPids(lab)]),
    listNamespaces(names.prefix(lab)),
    listLinks(),
    listGroups(lab),
    readFile("/proc/self/mountinfo", "utf8"),
  ]);
  const own = new Set(found.flat());
  const processes = all
    .filter(
      (p) => own.has(p.pid) || p.args.some((arg) => arg.startsWith(nodes) || arg.startsWith(`--machine=${nodes}`)),
    )
    .map((p) => ({ pid: p.pid, command: p.args.join(" ").slice(0, 120) }));
  const mounts = mountinfo
    .split("\n")
    .map((line) => line.split(" ")[4] ?? "")
    .filter((path) => path.startsWith(directory) || path.startsWith(`/run/netns/${names.prefix(lab)}`));
  const files = (await listDirectory(paths.state)).includes(lab) ? [paths.lab(lab)] : [];
  return {
    processes,
    mounts,
    namespaces,
    links: links.filter((link) => link === names.operatorLink(lab)),
    cgroups,
    files,
  };
}

const isClean = (left: Leftovers) => Object.values(left).every((entries) => entries.length === 0);

/** How often a purge looks again: a command that was killed may leave a child that still makes something. */
const ROUNDS = 3;

/** Removes everything of the lab. @throws LabError that says what could not be removed. */
export async function purgeLab(lab: string): Promise<{ lab: string; leftovers: Leftovers }> {
  progress(`purging lab "${lab}"`);
  for (let round = 1; ; round++) {
    await Promise.all((await listNodes(lab)).map((node) => deleteNode(lab, node, 0)));
    await withLabLock(lab, () => removeRest(lab));
    await sleep(50);
    const leftovers = await findLeftovers(lab);
    if (isClean(leftovers)) return { lab, leftovers };
    if (round === ROUNDS)
      throw new LabError(`lab "${lab}" could not be removed entirely: ${JSON.stringify(leftovers)}`);
  }
}

/** Nodes whose directories are gone already, the relay, and whatever else holds on to the lab. */
async function removeRest(lab: string): Promise<void> {
  await stopRelay(lab);
  await poll(10_000, 20, async () => {
    const { processes } = await findLeftovers(lab);
    for (const { pid } of processes) signal(pid, "SIGKILL");
    return processes.length === 0 || undefined;
  });
  const left = await findLeftovers(lab);
  for (const mount of left.mounts.filter((path) => path.startsWith(paths.state)))
    await tryRun("umount", ["--lazy", mount]);
  for (const link of left.links) await tryRun("ip", ["link", "delete", link]);
  for (const namespace of left.namespaces) await tryRun("ip", ["netns", "delete", namespace]);
  await removeGroups(lab);
  await removeDirectory(paths.lab(lab));
}

/** Namespaces of labs whose directory is gone, found by their name alone. @returns what was removed. */
export async function purgeOrphans(): Promise<string[]> {
  const known = (await listLabs()).map(names.prefix);
  const orphans = (await listNamespaces("mb-")).filter(
    (name) => /^mb-[0-9a-f]{6}-/.test(name) && !known.some((prefix) => name.startsWith(prefix)),
  );
  for (const namespace of orphans) {
    const pids = (await tryRun("ip", ["netns", "pids", namespace])).stdout.split("\n").filter(Boolean);
    for (const pid of pids) signal(Number(pid), "SIGKILL");
    await tryRun("ip", ["netns", "delete", namespace]);
  }
  return orphans;
}

export interface LabSummary {
  lab: string;
  block: string;
  createdAt: string;
  relayRunning: boolean;
  sites: Site[];
  links: Link[];
  nodes: (Pick<NodeRecord, "name" | "site" | "address" | "state" | "labels" | "createdAt"> & {
    running: boolean;
    expired: boolean;
  })[];
}

/** Labs that have nodes, all of them past their expiry. */
export const expiredLabs = (labs: LabSummary[]) =>
  labs.filter(({ nodes }) => nodes.length > 0 && nodes.every((node) => node.expired)).map(({ lab }) => lab);

export async function listSummaries(): Promise<LabSummary[]> {
  return Promise.all(
    (await listLabs()).map(async (name) => {
      const lab = await readLab(name);
      const nodes = await Promise.all(
        (await listNodes(name)).map(async (nodeName) => {
          const node = await readNode(name, nodeName);
          const init = await initPid(name, nodeName);
          const expires = Date.parse(node?.labels.expires ?? "");
          return {
            name: nodeName,
            site: node?.site ?? "",
            address: node?.address ?? "",
            state: node?.state ?? ("creating" as const),
            labels: node?.labels ?? {},
            createdAt: node?.createdAt ?? "",
            running: init !== undefined,
            expired: expires < Date.now(),
          };
        }),
      );
      return {
        lab: name,
        block: lab?.block ?? "",
        createdAt: lab?.createdAt ?? "",
        relayRunning: await relayRuns(name),
        sites: lab?.sites ?? [],
        links: lab?.links ?? [],
        nodes,
      };
    }),
  );
}
