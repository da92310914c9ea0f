/** Replication lag of a point: what its slowest replica showed. */
import type { Point, Subject } from "../model.ts";

export interface PointLag {
  /** Mean over the windows of the highest p95 of a replica, milliseconds. */
  p95Ms: number;
  maxMs: number;
  /** The replica of the highest p95. */
  node: string;
  /** Beats that a replica had not shown a second after a window. */
  unseen: number;
}

/** Null where no window measured it. */
export function lagOf(subject: Subject, point: Pick<Point, "workload" | "threads" | "key">): PointLag | null {
  const worst = (subject.result?.steps ?? [])
    .filter((w) => w.workload === point.workload && w.threads === point.threads)
    .flatMap((w) => {
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
  return {
    p95Ms: worst.reduce((sum, w) => sum + w.p95Ms, 0) / worst.length,
    maxMs: Math.max(...worst.map((w) => w.maxMs)),
    node: worst.reduce((a, b) => (b.p95Ms > a.p95Ms ? b : a)).node,
    unseen: worst.reduce((sum, w) => sum + w.unseen, 0),
  };
}
