/** What labs there are: one directory each under /var/lib/meshbench/lab, outside of any checkout. */
import type { Dirent } from "node:fs";
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { withLock } from "./lock.ts";
import { chooseBlock, labHash } from "./network/addresses.ts";
import { LabError, run } from "./run.ts";
import type { Lab, NodeRecord } from "./schema.ts";

const STATE = "/var/lib/meshbench/lab";

export const paths = {
  state: STATE,
  lab: (lab: string) => join(STATE, lab),
  labFile: (lab: string) => join(STATE, lab, "lab.json"),
  nodes: (lab: string) => join(STATE, lab, "nodes"),
  node: (lab: string, node: string) => join(STATE, lab, "nodes", node),
  nodeFile: (lab: string, node: string) => join(STATE, lab, "nodes", node, "node.json"),
};

const LOCK_MS = 60_000;
export const withLabLock = <T>(lab: string, work: () => Promise<T>) => withLock(`lab ${lab}`, LOCK_MS, work);
/** Held by everything that changes one node, for as long as a create may take. */
export const withNodeLock = <T>(lab: string, node: string, work: () => Promise<T>) =>
  withLock(`node ${lab}/${node}`, 150_000, work);

async function readJson<T>(path: string): Promise<T | undefined> {
  try {
    return JSON.parse(await readFile(path, "utf8")) as T;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw new LabError(`${path} can't be read (${(error as Error).message}); \`lab purge --lab\` removes the lab`);
  }
}

/** Replaces a file in one step: a reader sees the old one or the new one. */
export async function writeAtomic(path: string, text: string, mode = 0o600): Promise<void> {
  const temporary = `${path}.${process.pid}.new`;
  await writeFile(temporary, text, { mode });
  await rename(temporary, path);
}

async function entries(path: string): Promise<Dirent[]> {
  try {
    return await readdir(path, { withFileTypes: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

/** Names in a directory, none when it is not there. */
export const listDirectory = async (path: string) => (await entries(path)).map((entry) => entry.name);

const listDirectories = async (path: string) =>
  (await entries(path))
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort();

export const listLabs = () => listDirectories(STATE);

export const readLab = (lab: string) => readJson<Lab>(paths.labFile(lab));

/** @throws LabError when there is no such lab. */
export async function requireLab(lab: string): Promise<Lab> {
  const found = await readLab(lab);
  if (found) return found;
  const others = await listLabs();
  throw new LabError(
    `there is no lab "${lab}" (${others.length ? `labs are ${others.join(", ")}` : "there is none at all"}); \`lab network apply\` makes one`,
  );
}

export const saveLab = (lab: Lab) => writeAtomic(paths.labFile(lab.lab), JSON.stringify(lab, null, 2));

/**
 * The lab as it is on disk, or a new one with a block of addresses that nothing else uses. Call under the lab's lock.
 */
export async function openLab(name: string): Promise<Lab> {
  const existing = await readLab(name);
  if (existing) return existing;
  return withLock("registry", LOCK_MS, async () => {
    const routes = JSON.parse(await run("ip", ["-4", "-j", "route", "show", "table", "all"])) as {
      dst: string;
      dev?: string;
    }[];
    const others = (await listLabs()).filter((other) => other !== name);
    const twin = others.find((other) => labHash(other) === labHash(name));
    if (twin)
      throw new LabError(
        `lab: the short names of "${name}" and of the lab "${twin}" on this machine are the same; choose another name`,
      );
    const labs = await Promise.all(others.map(readLab));
    const taken = [
      ...routes.map((route) => route.dst).filter((dst) => /^[0-9.]+(\/[0-9]+)?$/.test(dst)),
      ...labs.flatMap((lab) => (lab ? [lab.block] : [])),
    ];
    const lab: Lab = {
      version: 1,
      lab: name,
      block: chooseBlock(taken),
      createdAt: new Date().toISOString(),
      sites: [],
      links: [],
    };
    await mkdir(paths.nodes(name), { recursive: true, mode: 0o700 });
    await saveLab(lab);
    return lab;
  });
}

/** Of a new stack's lab: the preferred name, unless a lab that is another stack's has it. */
export async function freeName(preferred: string, otherwise: string): Promise<string> {
  const lab = await readLab(preferred);
  return lab?.stackId === undefined ? preferred : otherwise;
}

export const readNode = (lab: string, node: string) => readJson<NodeRecord>(paths.nodeFile(lab, node));

/** Names of the nodes that have a directory, complete or not. */
export const listNodes = (lab: string) => listDirectories(paths.nodes(lab));

export const saveNode = (record: NodeRecord) =>
  writeAtomic(paths.nodeFile(record.lab, record.name), JSON.stringify(record, null, 2));

export const removeDirectory = (path: string) => rm(path, { recursive: true, force: true, maxRetries: 5 });
