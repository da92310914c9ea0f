/** Which figures have a counterpart in another subject, and why averages over a sweep may have none. Pure. */
import type { Subject } from "../model.ts";
import type { Block, Comparison, Row } from "./compare.ts";
import { METRICS } from "./compare.ts";

/** Whether two subjects state the same metric at this thread count. */
export const hasCounterpart = (row: Row): boolean =>
  METRICS.some((metric) => row.cells.filter((c) => c.point[metric] !== null).length > 1);

/** Rows to be read side by side, and those that one subject alone has. One subject is compared with nothing. */
export function splitRows(comparison: Comparison, block: Block): { shared: Row[]; alone: Row[] } {
  if (comparison.subjects.length < 2) return { shared: block.rows, alone: [] };
  const { shared = [], alone = [] } = Object.groupBy(block.rows, (row) => (hasCounterpart(row) ? "shared" : "alone"));
  return { shared, alone };
}

/**
 * One sentence per subject whose averages are over other thread counts than the baseline's: over which, and what to run
 * so that the two can be compared. Subjects of which the same is to be said share one.
 */
export function averagesApart(comparison: Comparison): string[] {
  const { subjects, blocks } = comparison;
  const pairs = subjects.slice(1).flatMap((subject, k) => {
    const apart = blocks.filter(
      (b) => b.sweeps[0]?.averageTps != null && b.sweeps[k + 1]?.averageTps != null && !b.sweepRatios[k + 1],
    );
    return apart.length === 0 ? [] : [{ base: side(subjects[0]!, apart, 0), other: side(subject, apart, k + 1) }];
  });
  const alike = Map.groupBy(pairs, ({ base, other }) =>
    [base.over, other.over, other.own, other.given && other.study].join(),
  );
  return [...alike.values()].map((group) => {
    const others = group.map((p) => p.other);
    const [base, other] = [group[0]!.base, { ...others[0]!, label: others.map((o) => o.label).join(", ") }];
    const threads = ascending(others.flatMap((o) => o.threads));
    return `The averages of ${base.label} and ${other.label} are not compared: ${base.label} averages over ${base.over}, ${other.label} over ${other.over}${remedy(base, { ...other, threads })}.`;
  });
}

interface Side {
  label: string;
  own: boolean;
  /** The thread counts in words. */
  over: string;
  /** Those at which it states a figure, ascending. */
  threads: number[];
  /** Published as an average, without the points that it is over. */
  given: boolean;
  study: string;
}

const ascending = (values: readonly number[]): number[] => [...new Set(values)].sort((a, b) => a - b);

function side(subject: Subject, blocks: readonly Block[], index: number): Side {
  const given = blocks.some((b) => b.sweeps[index]!.given);
  const threads = ascending(blocks.flatMap((b) => b.sweeps[index]!.threads));
  const stated = subject.method["thread counts"];
  return {
    label: subject.label,
    own: subject.kind === "run",
    over: given
      ? `thread counts that the source ${stated == null ? "does not state" : `states as "${stated}"`}`
      : `${threads.join(", ")} thread${threads.length === 1 && threads[0] === 1 ? "" : "s"}`,
    threads: given ? ascending(subject.points.map((p) => p.threads)) : threads,
    given,
    study: subject.label.replace(/^published:/, "").split("/")[0]!,
  };
}

/** Own runs can be repeated, published ones not. */
function remedy(base: Side, other: Side): string {
  const [run, fixed] = base.own ? [base, other] : [other, base];
  if (!run.own) return "";
  const again = `run ${run.label} with \`threads: [${fixed.threads.join(", ")}]\` in meshbench:profile`;
  if (!fixed.given) return `; ${again} to compare them`;
  const points = fixed.threads.length > 0 ? `${again} to compare single thread counts, and ` : "";
  return `; ${points}\`--against ${fixed.study}\` compares averages as ratios between topologies`;
}
