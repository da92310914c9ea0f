/**
 * What a killed run leaves in the file backend, and how the next one gets past it without the user
 * having to know: a lock of a process that is gone, and operations that were under way.
 */

import { randomBytes } from "node:crypto";
import { existsSync, readdirSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import { hostname } from "node:os";
import { basename, join } from "node:path";
import { isAlive } from "../lock.ts";
import type { Say } from "../progress.ts";
import { lockFolder, type Project, stateFile } from "../project.ts";

/** The state of a resource in an exported stack, as far as it matters here. */
interface ResourceState {
  urn: string;
  type: string;
  id?: string;
  custom?: boolean;
  /** URN and id of what it is made by. */
  provider?: string;
  inputs?: Record<string, unknown>;
  outputs?: Record<string, unknown>;
}

interface Operation {
  resource: ResourceState;
  type: string;
}

export interface Deployment {
  version: number;
  deployment: {
    resources?: ResourceState[] | null;
    pending_operations?: Operation[] | null;
  };
}

/** A process of the same id that isn't Pulumi is another one, started since. */
function isPulumi(pid: number): boolean {
  if (!isAlive(pid)) return false;
  try {
    return basename(readlinkSync(`/proc/${pid}/exe`).replace(/ \(deleted\)$/, "")).startsWith("pulumi");
  } catch {
    return true; // another user's process: it can't be told, so the lock is respected
  }
}

/** Removes the locks on a stack whose process, on this host, is gone. */
export function clearStaleLocks(project: Project, stack: string, say: Say): void {
  const folder = lockFolder(project, stack);
  if (folder === undefined || !existsSync(folder)) return;
  for (const name of readdirSync(folder).filter((file) => file.endsWith(".json"))) {
    const file = join(folder, name);
    let holder: { pid?: number; hostname?: string };
    try {
      holder = JSON.parse(readFileSync(file, "utf8")) as typeof holder;
    } catch {
      holder = {}; // cut off while it was written
    }
    const elsewhere = holder.hostname !== undefined && holder.hostname !== hostname();
    if (elsewhere || (holder.pid !== undefined && isPulumi(holder.pid))) continue;
    for (const leftover of [file, `${file}.attrs`]) rmSync(leftover, { force: true });
    say(
      `Removed the lock that an earlier run (process ${holder.pid ?? "unknown"}, no longer there) left on stack ${stack}.`,
    );
  }
}

/** Whether a killed run left operations half done, read straight from the file backend. */
export function hasPendingOperations(project: Project, stack: string): boolean {
  const file = stateFile(project, stack);
  if (file === undefined || !existsSync(file)) return false;
  const text = readFileSync(file, "utf8");
  if (!text.includes('"pending_operations"')) return false;
  const state = JSON.parse(text) as { checkpoint?: { latest?: Deployment["deployment"] } };
  return (state.checkpoint?.latest?.pending_operations ?? []).length > 0;
}

function isCommand(state: ResourceState): boolean {
  return /^command:(local|remote):Command$/.test(state.type);
}

/** A resource of a cloud that may exist, with what its provider was told. */
export interface Lost {
  name: string;
  type: string;
  inputs: Record<string, unknown>;
  provider: Record<string, unknown>;
}

export interface Settled {
  deployment: Deployment;
  /** Resources that were being created and are taken as created, so that `destroy` deletes them. */
  adopted: string[];
  /** Resources that were being created and that only their provider knows about. */
  unknown: Lost[];
}

/**
 * Settles the operations a killed run left. Updates and deletes simply run again, because the
 * resource is still listed. A create is the hard one: nothing says whether it happened.
 *
 * - Before anything but a destroy it is dropped: the next run creates the resource again, and the
 *   project's create commands can be repeated.
 * - Before a destroy, a command that has a delete command is listed as if it had been created, so
 *   that its delete command runs; those can be repeated too, and accept that there is nothing.
 * - A resource of a cloud has no id yet and can't be listed: it's looked up by its tags and taken away, see
 *   cli/leftovers/lost.ts, before either.
 */
export function settle(exported: Deployment, destroying: boolean): Settled {
  const resources = exported.deployment.resources ?? [];
  const creates = (exported.deployment.pending_operations ?? [])
    .filter(({ type }) => type === "creating")
    .map(({ resource }) => resource);
  const listed = new Set(resources.map(({ urn }) => urn));
  const lost = creates.filter(({ urn }) => !listed.has(urn));
  const adopted = destroying ? lost.filter((state) => isCommand(state) && state.inputs?.["delete"] !== undefined) : [];
  const unknown = lost.filter((state) => state.custom && /^(aws|proxmoxve):/.test(state.type));
  return {
    deployment: {
      ...exported,
      deployment: {
        ...exported.deployment,
        resources: [
          ...resources,
          ...adopted.map((state) => ({
            ...state,
            id: randomBytes(8).toString("hex"),
            outputs: { ...state.inputs, stdout: "", stderr: "" },
          })),
        ],
        pending_operations: [],
      },
    },
    adopted: adopted.map(({ urn }) => nameOf(urn)),
    unknown: unknown.map(({ urn, type, inputs = {}, provider = "" }) => ({
      name: nameOf(urn),
      type,
      inputs,
      provider: resources.find((one) => provider.startsWith(`${one.urn}::`))?.inputs ?? {},
    })),
  };
}

function nameOf(urn: string): string {
  return urn.split("::").slice(3).join("::");
}
