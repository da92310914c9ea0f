/** The workloads that there are. A new one is a file of its own and a line here. */
import { suggestion } from "./options.ts";
import { sysbench } from "./sysbench/index.ts";
import type { Workload } from "./workload.ts";

const ALL: readonly Workload[] = [...sysbench];

export const workloads: ReadonlyMap<string, Workload> = new Map(ALL.map((workload) => [workload.name, workload]));
export const WORKLOADS: readonly string[] = [...workloads.keys()];

/** Throws one line that begins with `where` when there is none of this name. */
export function workload(name: string, where: string): Workload {
  const found = workloads.get(name);
  if (!found) throw new Error(`${where}: ${JSON.stringify(name)}${suggestion(name, WORKLOADS)}`);
  return found;
}
