/** What the nodes' own systems did at one point: figures per node, and whether a processor set the throughput. Pure. */
import type { HostLoad, RunContext, StepResult } from "../../workloads/contract.ts";

export interface HostFigures {
  node: string;
  /** "database", "database+proxy" ...; empty where the topology is not on record. */
  role: string;
  source: HostLoad["source"] | null;
  cores: number | null;
  /** Per cent, means over the windows; cpuMax is of one-second samples. */
  cpu: number | null;
  cpuMax: number | null;
  machineCpu: number | null;
  steal: number | null;
  iowait: number | null;
  memoryAvailableMinMb: number | null;
  receivedMbit: number | null;
  sentMbit: number | null;
  gap: string | null;
}

/** A processor that is busy for this share of a window leaves no room to go faster, per cent. */
const BUSY = 90;

const mean = (values: number[]): number | null =>
  values.length > 0 ? values.reduce((a, b) => a + b, 0) / values.length : null;

/** One entry per node, over all windows of a point; empty where nobody sampled the nodes. */
export function hostFigures(windows: readonly StepResult[], context: RunContext | null): HostFigures[] {
  const names = [...new Set(windows.flatMap((w) => (w.hosts ?? []).map((h) => h.node)))];
  return names.map((node) => {
    const seen = windows.flatMap((w) =>
      (w.hosts ?? []).filter((h) => h.node === node).map((host) => ({ host, seconds: w.windowSeconds })),
    );
    const of = (pick: (h: HostLoad) => number | undefined): number[] => seen.flatMap(({ host }) => pick(host) ?? []);
    const mbit = (pick: (h: HostLoad) => number | undefined): number | null =>
      mean(
        seen.flatMap(({ host, seconds }) => {
          const bytes = pick(host);
          return bytes === undefined || seconds <= 0 ? [] : [(bytes * 8) / 1e6 / seconds];
        }),
      );
    const peaks = of((h) => h.cpu?.max),
      lows = of((h) => h.machine?.memoryAvailableMinMb);
    return {
      node,
      role: context?.topology?.nodes.find((n) => n.name === node)?.role ?? "",
      source: seen.find(({ host }) => host.source)?.host.source ?? null,
      cores: of((h) => h.cores)[0] ?? null,
      cpu: mean(of((h) => h.cpu?.avg)),
      cpuMax: peaks.length > 0 ? Math.max(...peaks) : null,
      machineCpu: mean(of((h) => h.machine?.cpu.avg)),
      steal: mean(of((h) => h.machine?.steal.avg)),
      iowait: mean(of((h) => h.machine?.iowait.avg)),
      memoryAvailableMinMb: lows.length > 0 ? Math.min(...lows) : null,
      receivedMbit: mbit((h) => h.mesh?.receivedBytes),
      sentMbit: mbit((h) => h.mesh?.sentBytes),
      gap: [...new Set(seen.flatMap(({ host }) => host.gap ?? []))].join("; ") || null,
    };
  });
}

/**
 * Why a processor, not the network, set the figure, in sentences. Steal counts as busy: the node had work and did not
 * get the processor. Containers that share a machine are named together when it is that machine which was busy.
 */
export function busyHosts(figures: readonly HostFigures[]): string[] {
  const out: string[] = [],
    shared: HostFigures[] = [];
  const percent = (v: number): string => `${v.toFixed(0)} % CPU`;
  const stolen = (f: HostFigures): string => ((f.steal ?? 0) >= 1 ? ` and ${f.steal!.toFixed(0)} % steal` : "");
  for (const f of figures) {
    const name = `${f.role ? `${f.role.replaceAll("+", " and ")} ` : ""}node ${f.node}`;
    if (f.source === "container" && (f.cpu ?? 0) > BUSY)
      out.push(
        `${name} was at ${percent(f.cpu!)} of its ${f.cores} core${f.cores === 1 ? "" : "s"}: they, not the network, were the limit`,
      );
    else if (f.source === "container" && (f.machineCpu ?? 0) + (f.steal ?? 0) > BUSY) shared.push(f);
    else if (f.source === "machine" && f.cpu !== null && f.cpu + (f.steal ?? 0) > BUSY)
      out.push(`${name} was at ${percent(f.cpu)}${stolen(f)}: the machine, not the network, was the limit`);
  }
  const [first] = shared;
  if (first)
    out.push(
      `the machine under ${shared.map((f) => f.node).join(", ")} was at ${percent(first.machineCpu!)}${stolen(first)}: it, not the network, was the limit`,
    );
  return out;
}
