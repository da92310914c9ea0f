/** The comparison itself: pure, from subjects to rows. The first subject is the baseline that ratios are taken to. */
import { ReportError } from "../errors.ts";
import type { Point, Subject } from "../model.ts";
import type { Ratio } from "../stats.ts";
import { ratio } from "../stats.ts";
import type { Floor } from "./floor.ts";
import { farthestRtt, floorOf, meanLatency } from "./floor.ts";
import { perMillion } from "./money.ts";
import type { Shape } from "./shape.ts";
import { pairUp, shapeOf } from "./shape.ts";
import type { Sweep } from "./sweep.ts";
import { sweepOf } from "./sweep.ts";
import type { Difference, WorkCheck } from "./work.ts";
import { checkWork, keysOf } from "./work.ts";

export const METRICS = ["tps", "qps", "avg", "p95", "p99"] as const;
export type Metric = (typeof METRICS)[number];

export interface Cell {
  subject: number;
  point: Point;
  /** Against the baseline's point of the same key and thread count; absent for the baseline and where it has none. */
  ratios: Partial<Record<Metric, Ratio>>;
  floor: Floor | null;
  penalty: Penalty | null;
  perMillion: number | null;
}

/** What distance costs: differences to the baseline, per millisecond of highest RTT between database nodes. */
export interface Penalty {
  rttDifferenceMs: number;
  /** Additional mean latency in ms per ms of RTT: how many round trips a transaction pays. */
  roundTrips: number;
  /** Change of throughput in per cent per ms of RTT. */
  tpsPercentPerMs: number | null;
  derived: boolean;
  /** Whether the mean latencies differ at all, by their repeats; null without repeats. */
  evident: boolean | null;
}

export interface Row {
  threads: number;
  cells: Cell[];
}
export interface Block {
  key: string;
  rows: Row[];
  sweeps: (Sweep | null)[] /** Averages over the sweep against the baseline's. */;
  sweepRatios: (Ratio | null)[];
}

export interface Comparison {
  subjects: Subject[];
  work: WorkCheck;
  /**
   * True when incompatible work was compared because it was forced: every figure derived from two subjects is marked.
   */
  forced: boolean;
  blocks: Block[];
  /** Beside a published study, when one was asked for. */
  shape: Shape | null;
}

/** "rows per table: a 10000; b 20000"; with many subjects those of one value are put together. */
export function describeDifference(difference: Difference, labels: readonly string[]): string {
  const groups = new Map<string, string[]>();
  difference.values.forEach((v, i) => {
    const value = v === null ? "not stated" : String(v);
    groups.set(value, [...(groups.get(value) ?? []), labels[i]!]);
  });
  const name = (who: string[]) =>
    who.length > 4 ? `${who.slice(0, 3).join(", ")} and ${who.length - 3} more` : who.join(", ");
  return `${difference.what}: ${[...groups].map(([value, who]) => `${name(who)} ${value}`).join("; ")}`;
}

export interface CompareOptions {
  force?: boolean;
  /** Sets of a published study whose shape is laid beside ours, and which of ours is which of them. */
  against?: readonly Subject[];
  match?: ReadonlyMap<string, string>;
}

/** Compares subjects. Throws ReportError when they did different work, unless `force` is set. */
export function compare(subjects: readonly Subject[], options: CompareOptions = {}): Comparison {
  if (subjects.length === 0)
    throw new ReportError("nothing to compare: name at least one stack, result file or published set");
  for (const subject of subjects) {
    if (keysOf(subject).length === 0)
      throw new ReportError(
        `${subject.label}: holds no measured window${subject.complete ? "" : ` (${subject.incompleteReason})`}`,
      );
  }
  const labels = subjects.map((s) => s.label);
  const work = checkWork(subjects);
  if (work.incompatible.length > 0 && !options.force) {
    const lines = work.incompatible.map((d) => `  ${describeDifference(d, labels)}`);
    throw new ReportError(
      `these are not the same work, so a ratio would mean nothing (--force compares all the same and marks it):\n${lines.join("\n")}`,
    );
  }
  const keys = [...new Set(subjects.flatMap(keysOf))];
  return {
    subjects: [...subjects],
    work,
    forced: work.incompatible.length > 0,
    blocks: keys.map((key) => blockOf(subjects, key)),
    shape: options.against
      ? shapeOf(
          pairUp(
            subjects.filter((s) => s.kind === "run"),
            options.against,
            options.match,
          ),
        )
      : null,
  };
}

function blockOf(subjects: readonly Subject[], key: string): Block {
  const threads = [
    ...new Set(subjects.flatMap((s) => s.points.filter((p) => p.key === key).map((p) => p.threads))),
  ].sort((a, b) => a - b);
  const rows = threads.map((n): Row => {
    const points = subjects.map((s) => s.points.find((p) => p.key === key && p.threads === n));
    const cells = points.flatMap((point, i) => (point ? [cellOf(subjects, i, point, points[0])] : []));
    return { threads: n, cells };
  });
  const sweeps = subjects.map((s) => sweepOf(s, key));
  const base = sweeps[0];
  const sweepRatios = sweeps.map((sweep, i) =>
    i > 0 && base && sweep && sameThreads(base, sweep) && base.average && sweep.average
      ? ratio(sweep.average, base.average)
      : null,
  );
  return { key, rows, sweeps, sweepRatios };
}

/** Averages over different thread counts are not averages of the same thing; two given ones are trusted to be. */
function sameThreads(a: Sweep, b: Sweep): boolean {
  return (a.given && b.given) || (!a.given && !b.given && a.threads.join() === b.threads.join());
}

function cellOf(subjects: readonly Subject[], index: number, point: Point, base: Point | undefined): Cell {
  const subject = subjects[index]!;
  const ratios: Cell["ratios"] = {};
  if (index > 0 && base) {
    for (const metric of METRICS) {
      const [of, to] = [point[metric], base[metric]];
      const r = of && to ? ratio(of, to) : null;
      if (r) ratios[metric] = r;
    }
  }
  return {
    subject: index,
    point,
    ratios,
    floor: floorOf(subject, point),
    perMillion: perMillion(subject, point),
    penalty: index > 0 && base ? penaltyOf(subjects[0]!, base, subject, point, ratios.avg) : null,
  };
}

function penaltyOf(
  baseline: Subject,
  base: Point,
  subject: Subject,
  point: Point,
  avg: Ratio | undefined,
): Penalty | null {
  const near = farthestRtt(baseline);
  const far = farthestRtt(subject);
  // Below a millisecond the quotient is noise divided by nearly nothing.
  if (near === null || far === null || Math.abs(far - near) < 1) return null;
  const [from, to] = [meanLatency(base), meanLatency(point)];
  if (!from || !to) return null;
  const difference = far - near;
  return {
    rttDifferenceMs: difference,
    roundTrips: (to.ms - from.ms) / difference,
    tpsPercentPerMs:
      base.tps && point.tps && base.tps.mean > 0 ? ((point.tps.mean / base.tps.mean - 1) * 100) / difference : null,
    evident: avg === undefined || avg.verdict === "not tested" ? null : avg.verdict !== "no evidence of a difference",
    derived: from.source !== "measured mean" || to.source !== "measured mean",
  };
}
