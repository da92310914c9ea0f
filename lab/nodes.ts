/** Nodes: create, start, stop, kill, delete. Each command holds the node's lock; nodes boot side by side. */
import { mkdir, readFile } from "node:fs/promises";
import { connect } from "node:net";
import { initPid, kill, launch, nodeDirectories, nodeProcesses, shutDown } from "./boot.ts";
import { makeDisk } from "./disk.ts";
import { requireImage } from "./image/image.ts";
import { FIRST_HOST, LAST_HOST, names, nodeAddress, siteAddresses } from "./network/addresses.ts";
import { ensureNamespace, listNamespaces } from "./network/namespaces.ts";
import { publicAddress, removeIfLeft, restoreNetwork } from "./network/network.ts";
import { operatorPath } from "./network/operator.ts";
import {
  listNodes,
  paths,
  readNode,
  removeDirectory,
  requireLab,
  saveNode,
  withLabLock,
  withNodeLock,
} from "./registry.ts";
import { LabError, poll, progress, run, tryRun } from "./run.ts";
import type { Lab, NodeRecord, NodeRequest } from "./schema.ts";

export interface NodeResult {
  name: string;
  site: string;
  address: string;
  user: "root";
  port: 22;
  hostKey: string;
  publicAddress: string;
  behindNat: boolean;
  /** The node's process 1 on this machine. */
  pid: number;
  labels: NodeRecord["labels"];
  /** "none", "applied", or what could not be set and why, at the last boot. */
  limits: string;
  /** True when this command made it. */
  created: boolean;
}

const findSite = (lab: Lab, name: string) => {
  const site = lab.sites.find((candidate) => candidate.name === name);
  if (site) return site;
  throw new LabError(
    `site: lab "${lab.lab}" has no site "${name}"; sites are ${lab.sites.map((s) => s.name).join(", ")}`,
  );
};

/** Creates the node, or returns the one that is there (booted again if it was down). */
export async function createNode(request: NodeRequest): Promise<NodeResult> {
  const image = await requireImage(request.debian, request.bare !== undefined);
  return withNodeLock(request.lab, request.name, async () => {
    const timeoutMs = request.timeoutSeconds * 1000;
    const existing = await readNode(request.lab, request.name);
    if (existing?.state === "ready") {
      if (existing.site !== request.site)
        throw new LabError(
          `name: node "${request.name}" is already there at site "${existing.site}"; delete it first to have it at "${request.site}"`,
        );
      const labelled = { ...existing, labels: request.labels };
      await saveNode(labelled);
      return { ...(await bringUp(labelled, timeoutMs)), created: false };
    }
    if (existing) await demolish(request.lab, request.name, 0);
    const record = await reserve(request, image);
    progress(`node "${request.name}": ${record.address}, booting`);
    record.hostKey = await makeDisk(request, record.address);
    await saveNode(record);
    const result = await bringUp(record, timeoutMs);
    if (record.userData) {
      await waitCloudInit(record, timeoutMs);
      record.hostKey = result.hostKey = await presentHostKey(result.pid);
    }
    await saveNode({ ...record, state: "ready" });
    progress(`node "${request.name}": sshd answers`);
    return { ...result, created: true };
  });
}

/** Takes a free address of the site under the lab's lock. */
function reserve(request: NodeRequest, image: string): Promise<NodeRecord> {
  return withLabLock(request.lab, async () => {
    const lab = await requireLab(request.lab);
    const site = findSite(lab, request.site);
    const others = await Promise.all((await listNodes(lab.lab)).map((node) => readNode(lab.lab, node)));
    const used = new Set(
      others.filter((node) => node?.site === site.name && node.name !== request.name).map((node) => node?.host),
    );
    let host = FIRST_HOST;
    while (used.has(host)) host++;
    if (host > LAST_HOST) throw new LabError(`site: "${site.name}" is full (${LAST_HOST - FIRST_HOST + 1} nodes)`);
    const record: NodeRecord = {
      version: 1,
      lab: lab.lab,
      site: site.name,
      name: request.name,
      host,
      address: nodeAddress(lab.block, site.index, host),
      state: "creating",
      hostKey: "",
      image,
      labels: request.labels,
      ...(request.cpus === undefined ? {} : { cpus: request.cpus }),
      ...(request.memoryMb === undefined ? {} : { memoryMb: request.memoryMb }),
      limits: "none",
      userData: request.userData !== undefined,
      createdAt: new Date().toISOString(),
    };
    await mkdir(paths.node(lab.lab, request.name), { recursive: true, mode: 0o700 });
    await saveNode(record);
    return record;
  });
}

/** Boots the node unless it runs, and waits until sshd answers. */
async function bringUp(record: NodeRecord, timeoutMs: number): Promise<Omit<NodeResult, "created">> {
  const lab = await requireLab(record.lab);
  const site = findSite(lab, record.site);
  await restoreNetwork(lab);
  if ((await initPid(record.lab, record.name)) === undefined) {
    await powerOff(record.lab, record.name, 0);
    await plugIn(lab, record);
    const refused = await launch(record.lab, record.name, record.image, record);
    const wanted = record.cpus !== undefined || record.memoryMb !== undefined;
    record.limits = refused.length ? refused.join("; ") : wanted ? "applied" : "none";
    await saveNode(record);
  }
  const log = nodeDirectories(record.lab, record.name).log;
  // Also for a node at an address that one which was closed had before. This is the operator's machine: a node that is
  // closed to it is looked at first.
  await operatorPath(lab, record, true);
  let lookedAt = Date.now();
  const answered = await poll(timeoutMs, 25, async () => {
    if (await sshAnswers(record.address)) return "up";
    // Searching the machine's processes costs more than trying the port: once a second will do.
    if (Date.now() - lookedAt < 1_000) return undefined;
    lookedAt = Date.now();
    return (await nodeProcesses(record.lab, record.name)).length === 0 ? "ended" : undefined;
  });
  if (answered === "ended") throw new LabError(`node "${record.name}" ended while booting; see ${log}`);
  if (!answered)
    throw new LabError(`node "${record.name}": sshd did not answer within ${timeoutMs / 1000} s; see ${log}`);
  const init = await initPid(record.lab, record.name);
  if (init === undefined) throw new LabError(`node "${record.name}" ended while booting; see ${log}`);
  if (record.closed) await operatorPath(lab, record, false);
  return {
    name: record.name,
    site: record.site,
    address: record.address,
    user: "root",
    port: 22,
    hostKey: record.hostKey,
    publicAddress: publicAddress(lab, site) ?? record.address,
    behindNat: site.nat,
    pid: init,
    labels: record.labels,
    limits: record.limits,
  };
}

/** The node's network namespace, and a cable from its eth0 to the site's switch. */
async function plugIn(lab: Lab, record: NodeRecord): Promise<void> {
  const namespace = names.node(record.lab, record.name);
  const site = findSite(lab, record.site);
  const router = names.site(record.lab, record.site);
  const port = names.port(record.host);
  if (!(await listNamespaces(router)).includes(router))
    throw new LabError(
      `the network of lab "${record.lab}" is not up (has the machine been restarted?); \`lab network apply\` makes it again`,
    );
  await ensureNamespace(namespace, [], false);
  // The same hardware address after every start: neighbours have it in their caches.
  const hardware = `02:6d:${record.address
    .split(".")
    .map((octet) => Number(octet).toString(16).padStart(2, "0"))
    .join(":")}`;
  await run("ip", ["-n", router, "-batch", "-"], {
    input: `link add ${port} type veth peer name eth0 address ${hardware} netns ${namespace}\nlink set ${port} master br0 up\n`,
  });
  await run("ip", ["-n", namespace, "-batch", "-"], {
    input: `addr replace ${record.address}/24 dev eth0\nlink set eth0 up\nroute replace default via ${siteAddresses(lab.block, site.index).gateway}\n`,
  });
}

function sshAnswers(address: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: address, port: 22 });
    const end = (answer: boolean) => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(1_000, () => end(false));
    socket.on("error", () => end(false));
    socket.on("data", (data) => end(data.toString("latin1").startsWith("SSH-")));
    socket.on("close", () => end(false));
  });
}

/** Runs a command inside a running node. */
export async function nodeCommand(lab: string, node: string): Promise<string[]> {
  const init = await initPid(lab, node);
  if (init === undefined) throw new LabError(`node "${node}" of lab "${lab}" does not run`);
  return ["nsenter", `--target=${init}`, "--mount", "--uts", "--ipc", "--net", "--pid", "--cgroup", "--"];
}

async function waitCloudInit(record: NodeRecord, timeoutMs: number): Promise<void> {
  const [command = "", ...args] = await nodeCommand(record.lab, record.name);
  const result = await tryRun(command, [...args, "cloud-init", "status", "--wait", "--long"], { timeoutMs });
  if (/^status: done/m.test(result.stdout)) return;
  throw new LabError(
    `node "${record.name}": cloud-init did not succeed: ${result.stdout.trim().replace(/\s*\n\s*/g, "; ") || result.stderr.trim()}`,
  );
}

/** The key that sshd shows now: user data may have brought another than the one that was made. */
async function presentHostKey(init: number): Promise<string> {
  const text = await readFile(`/proc/${init}/root/etc/ssh/ssh_host_ed25519_key.pub`, "utf8");
  return text.trim().split(" ").slice(0, 2).join(" ");
}

/**
 * Off, and off the network: what follows finds no address that still answers. Without grace the cable
 * goes first, as in a power cut: the dying processes' sockets must not say good-bye to their peers.
 */
async function powerOff(lab: string, node: string, graceMs: number): Promise<void> {
  if (graceMs > 0) await shutDown(lab, node, graceMs);
  const namespaces = await listNamespaces(names.prefix(lab));
  const record = await readNode(lab, node).catch(() => undefined);
  if (record && namespaces.includes(names.site(lab, record.site))) {
    // Deleting one end of the cable deletes both. It may be gone already.
    await tryRun("ip", ["-n", names.site(lab, record.site), "link", "delete", names.port(record.host)]);
  }
  await kill(lab, node);
  if (namespaces.includes(names.node(lab, node))) await run("ip", ["netns", "delete", names.node(lab, node)]);
}

/** Removes whatever there is of the node, complete or not. */
async function demolish(lab: string, node: string, graceMs: number): Promise<void> {
  await powerOff(lab, node, graceMs);
  await removeDirectory(paths.node(lab, node));
}

/** @param graceMs how long an orderly shutdown may take; 0 pulls the plug. */
export async function deleteNode(
  lab: string,
  node: string,
  graceMs: number,
): Promise<{ name: string; deleted: boolean }> {
  return withNodeLock(lab, node, async () => {
    const was = (await listNodes(lab)).includes(node);
    const site = (await readNode(lab, node).catch(() => undefined))?.site;
    await demolish(lab, node, graceMs);
    if (site !== undefined) await removeIfLeft(lab, site);
    return { name: node, deleted: was };
  });
}

async function requireNode(lab: string, node: string): Promise<NodeRecord> {
  const record = await readNode(lab, node);
  if (record?.state === "ready") return record;
  await requireLab(lab);
  throw new LabError(`lab "${lab}" has no node "${node}"; nodes are ${(await listNodes(lab)).join(", ") || "none"}`);
}

export const startNode = (lab: string, node: string, timeoutMs: number) =>
  withNodeLock(lab, node, async () => bringUp(await requireNode(lab, node), timeoutMs));

/** Off, with the disk kept: in order, or with `graceMs` 0 as a power cut. */
export const stopNode = (lab: string, node: string, graceMs: number) =>
  withNodeLock(lab, node, async () => {
    await requireNode(lab, node);
    await powerOff(lab, node, graceMs);
    return { name: node, running: false };
  });
