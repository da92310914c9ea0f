/**
 * What a killed run was making on a Proxmox host and no state knows: a guest by its name and all of its tags, one of which
 * is the stack's id; a file by its name, which carries the stack's id too.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { callProxmox, type ProxmoxApi } from "../../infra/sites/proxmox/api.ts";
import { readSettings } from "../doctor/settings.ts";
import type { Lost, LostInput, Say } from "./lost-item.ts";
import { finished, type Guest, hostsOf, pathOf, removeGuest } from "./proxmox.ts";

/** Of the host's tasks: which make a resource of this type, and what they are about when they do. */
const MAKING: Record<string, string> = {
  "proxmoxve:index/vmLegacy:VmLegacy": "qmcreate",
  "proxmoxve:index/containerLegacy:ContainerLegacy": "vzcreate",
  "proxmoxve:download/file:File": "download",
  "proxmoxve:index/fileLegacy:FileLegacy": "imgcopy",
};

/** Whether a resource of this type is something on a Proxmox host: a provider is not. */
const isOnHost = (type: string): boolean => type in MAKING;

/** @throws Error, ProxmoxError: what there is could not be found out, or stays. */
export async function recoverProxmox(
  api: ProxmoxApi,
  { name, type, inputs }: Pick<Lost, "name" | "type" | "inputs">,
  say: Say,
): Promise<void> {
  const sayOf: Say = (line) => say(`${name}: ${line}`);
  const node = String(inputs["nodeName"]);
  // A host goes on with what it was asked for, whoever asked is gone; until the end a guest has neither name nor tags.
  await idle(api, node, (task) => task.type === MAKING[type], sayOf);
  if (type.endsWith(":File") || type.endsWith(":FileLegacy")) await recoverFile(api, node, inputs, sayOf);
  else await recoverGuest(api, inputs, sayOf);
}

async function recoverGuest(api: ProxmoxApi, inputs: Lost["inputs"], say: Say): Promise<void> {
  const hostname = (inputs["initialization"] as { hostname?: unknown } | undefined)?.hostname;
  const name = inputs["name"] ?? hostname;
  const tags = (inputs["tags"] as string[] | undefined) ?? [];
  if (!tags.some((tag) => tag.startsWith("id-"))) return;
  const own = (guest: Guest): boolean => {
    const has = (guest.tags ?? "").split(/[;, ]/);
    return guest.name === name && tags.every((tag) => has.includes(tag));
  };
  for (const { node, vmid } of (await guestsOf(api)).filter(own)) {
    await idle(api, node, (task) => task.id === String(vmid), say);
    // As it is after its last task: that may have started it.
    const now = (await guestsOf(api)).find((guest) => guest.vmid === vmid);
    if (now === undefined || !own(now)) continue;
    const { status } = await callProxmox<{ status: string }>(api, "GET", `${pathOf(now)}/status/current`);
    await removeGuest(api, { ...now, status }, say);
  }
}

const guestsOf = (api: ProxmoxApi): Promise<Guest[]> => callProxmox(api, "GET", "/cluster/resources?type=vm");

async function recoverFile(api: ProxmoxApi, node: string, inputs: Lost["inputs"], say: Say): Promise<void> {
  const storage = String(inputs["datastoreId"]);
  const name = inputs["fileName"] ?? (inputs["sourceRaw"] as { fileName?: unknown } | undefined)?.fileName;
  if (name === undefined) return;
  const volume = `${storage}:${String(inputs["contentType"])}/${String(name)}`;
  const path = `/nodes/${encodeURIComponent(node)}/storage/${encodeURIComponent(storage)}/content`;
  const content = await callProxmox<{ volid: string }[]>(api, "GET", path);
  if (!content.some(({ volid }) => volid === volume)) return;
  say(`deleting ${volume}`);
  const task = await callProxmox<string | null>(api, "DELETE", `${path}/${encodeURIComponent(volume)}`);
  if (task !== null) await finished(api, node, task);
}

interface Task {
  type: string;
  /** Of the guest, or of the storage. */
  id: string;
  /** Absent while it runs. */
  endtime?: number;
}

const IDLE_MS = 300_000;

/** Waits until no such task runs on the node any more. */
async function idle(api: ProxmoxApi, node: string, which: (task: Task) => boolean, say: Say): Promise<void> {
  let said = "";
  for (const deadline = Date.now() + IDLE_MS; ; await sleep(1000)) {
    const path = `/nodes/${encodeURIComponent(node)}/tasks?source=active&limit=500`;
    const running = (await callProxmox<Task[]>(api, "GET", path)).filter((task) => !task.endtime && which(task));
    if (running.length === 0) return;
    const now = running.map(({ type, id }) => `${type} ${id}`).join(", ");
    if (Date.now() > deadline) throw new Error(`${node} is not done with ${now} within ${IDLE_MS / 1000} s`);
    if (now !== said) say(`waiting for what ${node} still does: ${now}`);
    said = now;
  }
}

export async function recover({ root, stack }: LostInput, one: Lost, say: Say): Promise<void> {
  if (!isOnHost(one.type)) return;
  const { hosts, skipped } = hostsOf([{ stack, ...(await readSettings(root, stack)) }]);
  const api = hosts.get(String(one.provider["endpoint"]));
  if (api === undefined)
    throw new Error(skipped.join("; ") || `${String(one.provider["endpoint"])} is in no site any more`);
  await recoverProxmox(api, one, say);
}
