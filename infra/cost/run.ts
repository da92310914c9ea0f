/**
 * What one run cost: the topology for as long as the run took, and the traffic between sites as far as it was measured.
 * Pure.
 */
import type { RunResult } from "../../workloads/contract.ts";
import type { Cost } from "./cost.ts";
import { surplusOf } from "./credits.ts";

export interface RunCost {
  currency: string;
  /** Hours from the first prepared row to the last answer; setting up and taking away come on top. */
  hours: number;
  standing: number;
  /** Writesets that Galera sent from site to site; null when nothing was measured or no pair has a price. */
  traffic: { gb: number; cost: number } | null;
  /** CPU credits beyond the earned ones; null when no burstable node was sampled. */
  surplus: { vcpuHours: number; cost: number } | null;
  total: number;
  notes: string[];
}

const GB = 1e9;
const round = (value: number): number => Number(value.toPrecision(4));

/** Undefined without prices or an end. */
export function runCost(result: RunResult): RunCost | undefined {
  const cost = result.spec.context.cost as Cost | undefined;
  if (cost === undefined || typeof cost.perHour !== "number" || result.finishedAt === null) return undefined;
  const hours = (Date.parse(result.finishedAt) - Date.parse(result.startedAt)) / 3_600_000;
  const traffic = replicated(result, cost.perGbTraffic ?? {});
  const standing = hours * cost.perHour;
  const bursting = cost.surplus ?? [];
  const surplus = surplusOf(result, bursting, hours) ?? null;
  return {
    currency: cost.currency,
    hours: round(hours),
    standing: round(standing),
    traffic,
    surplus: surplus && { vcpuHours: round(surplus.vcpuHours), cost: round(surplus.cost) },
    total: round(standing + (traffic?.cost ?? 0) + (surplus?.cost ?? 0)),
    notes: [
      ...(cost.notes ?? []),
      ...(bursting.length === 0
        ? []
        : surplus === null
          ? ["CPU of the burstable nodes was not measured: credits beyond the earned ones are not counted"]
          : ["CPU credits are counted by the CPU of the measured windows; prepare is not in them"]),
      ...(traffic === null
        ? ["traffic between sites was not measured"]
        : [
            "traffic is Galera's writesets during the measured windows; reads, prepare and WireGuard's headers are not counted",
          ]),
    ],
  };
}

/**
 * wsrep_replicated_bytes are what a node sent once; Galera sends it to every other node, or once per segment, whose
 * relay sends it on. Each priced pair of sites therefore carries what one side's nodes replicated once per node of the
 * other side, or once when the other side is one segment of its own: the first is counted, as without segments.
 */
function replicated(result: RunResult, prices: Record<string, number>): RunCost["traffic"] {
  const siteOf = new Map(result.spec.observe.map((node) => [node.name, node.site]));
  const count = new Map<string, number>();
  for (const site of siteOf.values()) if (site !== undefined) count.set(site, (count.get(site) ?? 0) + 1);
  let gb = 0,
    cost = 0,
    measured = false;
  for (const { node, delta } of result.steps.flatMap((step) => step.server)) {
    const bytes = delta?.["wsrep_replicated_bytes"],
      from = siteOf.get(node);
    if (bytes === undefined || from === undefined) continue;
    for (const [to, nodes] of count) {
      const price = prices[[from, to].sort().join(" ")];
      if (to === from || price === undefined) continue;
      measured = true;
      gb += (bytes * nodes) / GB;
      cost += (bytes * nodes * price) / GB;
    }
  }
  return measured ? { gb: round(gb), cost: round(cost) } : null;
}
