/** Replication lag of a point: what its slowest replica showed. Pure. */
import type { StepResult } from "../../workloads/contract.ts";

export interface PointLag {
  /** Mean over the windows of the highest p95 of a replica, milliseconds. */
  p95Ms: number;
  /** The highest p95 of a replica in any window, milliseconds. */
  highestP95Ms: number;
  maxMs: number;
  /** The replica of the highest p95. */
  node: string;
  /** Beats that a replica had not shown a second after a window. */
  unseen: number;
}

/** Of the windows of one point; null where none measured it. */
export function lagOf(windows: readonly Pick<StepResult, "lag">[]): PointLag | null {
  const worst = windows.flatMap((w) => {
    const known = (w.lag ?? []).filter((lag) => lag.p95Ms !== null);
    if (known.length === 0) return [];
    const highest = known.reduce((a, b) => (b.p95Ms! > a.p95Ms! ? b : a));
    return [
      {
        p95Ms: highest.p95Ms!,
        node: highest.node,
        maxMs: Math.max(...known.map((lag) => lag.maxMs ?? 0)),
        unseen: known.reduce((sum, lag) => sum + lag.unseen, 0),
      },
    ];
  });
  if (worst.length === 0) return null;
  const highest = worst.reduce((a, b) => (b.p95Ms > a.p95Ms ? b : a));
  return {
    p95Ms: worst.reduce((sum, w) => sum + w.p95Ms, 0) / worst.length,
    highestP95Ms: highest.p95Ms,
    maxMs: Math.max(...worst.map((w) => w.maxMs)),
    node: highest.node,
    unseen: worst.reduce((sum, w) => sum + w.unseen, 0),
  };
}
