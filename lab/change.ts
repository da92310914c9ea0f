/** What can be changed of nodes that stand: their labels, their processors and memory, who reaches them. */
import { initPid } from "./boot.ts";
import { type Limits, moveInto } from "./cgroups.ts";
import { operatorPath } from "./network/operator.ts";
import { listNodes, readNode, requireLab, saveNode, withNodeLock } from "./registry.ts";
import { LabError, progress } from "./run.ts";
import type { NodeRecord } from "./schema.ts";

async function change(
  lab: string,
  node: string,
  work: (record: NodeRecord) => Promise<NodeRecord>,
): Promise<NodeRecord | undefined> {
  return withNodeLock(lab, node, async () => {
    const record = await readNode(lab, node);
    if (record?.state !== "ready") return undefined;
    const changed = await work(record);
    await saveNode(changed);
    return changed;
  });
}

/** All nodes of the lab get these labels in place of those they had. @returns which nodes. */
export async function label(lab: string, labels: NodeRecord["labels"]): Promise<{ lab: string; nodes: string[] }> {
  await requireLab(lab);
  const changed = await Promise.all(
    (await listNodes(lab)).map((node) => change(lab, node, async (record) => ({ ...record, labels }))),
  );
  return { lab, nodes: changed.flatMap((record) => record?.name ?? []) };
}

/** Opens or closes the operator's way to a node, for good. */
export async function access(lab: string, node: string, open: boolean): Promise<{ name: string; closed: boolean }> {
  const known = await requireLab(lab);
  const changed = await change(lab, node, async ({ closed: _, ...record }) => {
    await operatorPath(known, record, open);
    return open ? record : { ...record, closed: true };
  });
  if (!changed) throw new LabError(`lab "${lab}" has no node "${node}"`);
  return { name: node, closed: !open };
}

/** @returns by node "none", "applied", or what could not be set and why; a node that is down has it at its next boot. */
export async function limit(lab: string, nodes: Record<string, Limits>): Promise<Record<string, string>> {
  await requireLab(lab);
  const set = await Promise.all(
    Object.entries(nodes).map(async ([node, limits]): Promise<[string, string]> => {
      const changed = await change(lab, node, (record) => apply(record, limits));
      if (!changed) throw new LabError(`lab "${lab}" has no node "${node}"`);
      return [node, changed.limits];
    }),
  );
  return Object.fromEntries(set);
}

async function apply(record: NodeRecord, wanted: Limits): Promise<NodeRecord> {
  const { cpus: hadCpus, memoryMb: hadMemory, ...rest } = record;
  const asked = {
    ...(typeof wanted.cpus === "number" ? { cpus: wanted.cpus } : {}),
    ...(typeof wanted.memoryMb === "number" ? { memoryMb: wanted.memoryMb } : {}),
  };
  if (wanted.cpus === hadCpus && wanted.memoryMb === hadMemory) return record;
  const none = Object.keys(asked).length === 0;
  if ((await initPid(record.lab, record.name)) === undefined)
    return { ...rest, ...asked, limits: none ? "none" : record.limits };
  const refused = await moveInto(record.lab, record.name, {
    cpus: wanted.cpus ?? (hadCpus === undefined ? undefined : null),
    memoryMb: wanted.memoryMb ?? (hadMemory === undefined ? undefined : null),
  });
  if (refused.length) progress(`node "${record.name}": ${refused.join("; ")}`);
  return { ...rest, ...asked, limits: refused.length ? refused.join("; ") : none ? "none" : "applied" };
}
