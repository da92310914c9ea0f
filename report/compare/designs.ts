/**
 * One line per design and distance: what a write costs there. The table that a decision between designs starts from;
 * everything in it stands in the blocks below with its interval.
 */
import { number } from "../format.ts";
import type { Point, Subject } from "../model.ts";
import type { Estimate } from "../stats.ts";
import type { Block, Cell, Comparison } from "./compare.ts";
import { commitRuleOf, farthestRtt } from "./floor.ts";

export interface DesignRow {
  subject: number;
  /** "MariaDB Galera". */
  design: string;
  /** Highest round trip between two database nodes, milliseconds; null: not known, or one node. */
  rttMs: number | null;
  workload: string;
  /** Transactions per second at its best thread count, and the p95 there, milliseconds. */
  peak: { threads: number; tps: Estimate; p95Ms: number | null };
  /** At the fewest threads, where nothing waits for another transaction: mean and floor, milliseconds. */
  alone: { threads: number; meanMs: number; floorMs: number | null } | null;
  /** Replication lag, milliseconds: the highest p95 of a replica over the windows; null: not measured. */
  lagP95Ms: number | null;
  /** Windows whose commits did not wait as the design says, such as semi-synchronous ones that fell back. */
  degraded: number;
}

const writes = (point: Point): boolean => (point.mix?.write ?? 0) > 1e-9;

/** Empty unless at least two runs differ in design. */
export function designRows(comparison: Pick<Comparison, "subjects" | "blocks">): DesignRow[] {
  const { subjects, blocks } = comparison;
  const designs = new Set(subjects.map(designOf).filter((name) => name !== null));
  if (designs.size < 2) return [];
  return blocks.flatMap((block) => subjects.flatMap((subject, i) => rowOf(subject, i, block) ?? []));
}

/** Title of engine and replication; null for what does not say it. */
function designOf(subject: Subject): string | null {
  const database = subject.context?.database;
  return database === undefined ? null : (database.title ?? database.engine);
}

function rowOf(subject: Subject, index: number, block: Block): DesignRow | null {
  const design = designOf(subject);
  const cells = block.rows.flatMap((row) => row.cells.filter((cell) => cell.subject === index));
  const measured = cells.filter((cell) => writes(cell.point) && cell.point.tps !== null);
  if (design === null || measured.length === 0) return null;
  const best = measured.reduce((a, b) => (b.point.tps!.mean > a.point.tps!.mean ? b : a));
  const lags = measured.flatMap((cell) => cell.point.lag?.highestP95Ms ?? []);
  return {
    subject: index,
    design,
    rttMs: farthestRtt(subject),
    workload: block.key,
    peak: { threads: best.point.threads, tps: best.point.tps!, p95Ms: best.point.p95?.mean ?? null },
    alone: aloneOf(measured),
    lagP95Ms: lags.length > 0 ? Math.max(...lags) : null,
    degraded: measured.reduce((sum, cell) => sum + (cell.point.degradedWindows ?? 0), 0),
  };
}

function aloneOf(cells: readonly Cell[]): DesignRow["alone"] {
  const fewest = cells.reduce((a, b) => (b.point.threads < a.point.threads ? b : a));
  const { point, floor } = fewest;
  if (point.avg === null) return null;
  return { threads: point.threads, meanMs: point.avg.mean, floorMs: floor?.ms ?? null };
}

export const DESIGN_HEAD = [
  "workload",
  "design",
  "run",
  "RTT ms",
  "tps at best",
  "p95 ms there",
  "mean ms alone",
  "floor ms",
  "lag p95 ms",
] as const;

/** The cells of one line as text, in the order of DESIGN_HEAD. */
export function designCells(row: DesignRow, subjects: readonly Subject[]): string[] {
  const { peak, alone } = row;
  const at = (threads: number): string => `(${threads} thread${threads === 1 ? "" : "s"})`;
  return [
    row.workload,
    row.design + (row.degraded > 0 ? ` (fell back in ${row.degraded} window${row.degraded === 1 ? "" : "s"})` : ""),
    subjects[row.subject]!.label,
    number(row.rttMs),
    `${number(peak.tps.mean)} ${at(peak.threads)}`,
    number(peak.p95Ms),
    alone === null ? "-" : `${number(alone.meanMs)} ${at(alone.threads)}`,
    number(alone?.floorMs ?? null),
    number(row.lagP95Ms),
  ];
}

/** What a reader has to know of the floor's column. */
export function designNote(subjects: readonly Subject[]): string {
  const single = subjects.filter((s) => commitRuleOf(s) === "none").length;
  return `Highest round trip between database nodes; the floor is what the round trips of commit and statements alone take at the fewest threads.${single > 0 ? " Where a commit waits for no other node, what it acknowledged can be lost with the node." : ""}`;
}
