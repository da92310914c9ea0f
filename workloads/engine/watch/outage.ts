/** The longest stretch without a success in any loop, as far as it can be the server's doing. */
import type { StepResult } from "../../contract.ts";
import type { Gap, PartReport } from "../figures/counters.ts";
import { KEPT_GAP_MS } from "../figures/recorder.ts";
import { round } from "../progress.ts";

type Stretches = Pick<PartReport, "gaps" | "idle" | "stalls" | "longestShortGap" | "drainedAfter">;
interface Stretch {
  from: number;
  to: number;
}

/** Undefined without a window. */
export function outage(reports: readonly Stretches[]): StepResult["outage"] {
  if (reports.length === 0) return undefined;
  const end = Math.max(...reports.map((r) => r.drainedAfter));
  const common = reports.map((r) => r.gaps).reduce(intersect);
  // A moment counts when at least one loop looked and had something due.
  const blind = reports.map(blindness).reduce(intersect);
  const longest = longestOf(common, blind, end);
  if (longest === null || longest.net < KEPT_GAP_MS) {
    // A stretch that no list holds whole is bounded by the longest one of the loop that has the shortest.
    const bounds = reports.map((r) => {
      const own = longestOf(r.gaps, blindness(r), end)?.net ?? 0;
      return Math.max(r.longestShortGap, own);
    });
    return {
      longestGapSeconds: round(Math.min(...bounds) / 1000, 4),
      gapStartedAt: null,
      firstSuccessAfter: null,
    };
  }
  return {
    longestGapSeconds: round(longest.net / 1000, 3),
    gapStartedAt: round(longest.gap.from / 1000, 3),
    firstSuccessAfter: longest.gap.to === null ? null : round(longest.gap.to / 1000, 3),
  };
}

function longestOf(gaps: readonly Gap[], blind: readonly Gap[], end: number): { gap: Gap; net: number } | null {
  let longest: { gap: Gap; net: number } | null = null;
  for (const gap of gaps) {
    let { from } = gap;
    let to = gap.to ?? Math.max(from, end);
    // What nobody saw at either end is no part of it; in its middle it is not counted.
    let hidden = 0;
    for (const stretch of blind as readonly Stretch[]) {
      if (stretch.to <= from || stretch.from >= to) continue;
      if (stretch.from <= from) from = stretch.to;
      else if (stretch.to >= to) to = stretch.from;
      else hidden += stretch.to - stretch.from;
    }
    const net = Math.max(0, to - from - hidden);
    if (longest === null || net > longest.net) longest = { gap: { from, to: gap.to }, net };
  }
  return longest;
}

/** Where a loop stood still or had nothing to do: sorted, without overlaps. */
function blindness({ idle, stalls }: Stretches): Stretch[] {
  const merged: Stretch[] = [];
  for (const { from, to } of [...idle, ...stalls].toSorted((a, b) => a.from - b.from)) {
    const last = merged.at(-1);
    const until = to ?? from;
    if (last !== undefined && from <= last.to) last.to = Math.max(last.to, until);
    else merged.push({ from, to: until });
  }
  return merged;
}

/** Stretches that lie in one of both lists; both are sorted. */
export function intersect<T extends Gap>(a: readonly T[], b: readonly T[]): T[] {
  const result: Gap[] = [];
  const end = (gap: Gap): number => gap.to ?? Infinity;
  let i = 0;
  let j = 0;
  while (i < a.length && j < b.length) {
    const x = a[i] as Gap;
    const y = b[j] as Gap;
    const from = Math.max(x.from, y.from);
    const to = Math.min(end(x), end(y));
    if (to > from) result.push({ from, to: to === Infinity ? null : to });
    if (end(x) < end(y)) i++;
    else j++;
  }
  return result as T[];
}
