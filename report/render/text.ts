/** Words for what a comparison found; shared by the terminal, Markdown and the HTML report. */

import { COMMIT_RULES } from "../compare/commit-rules.ts";
import type { Block, Cell, Comparison, Metric } from "../compare/compare.ts";
import { commitRuleOf } from "../compare/floor.ts";
import { priceOf } from "../compare/money.ts";
import { duration, number, signed } from "../format.ts";
import type { Point, Subject } from "../model.ts";
import type { Estimate, Ratio } from "../stats.ts";
import { halfWidth95 } from "../stats.ts";

/** "1,234 ± 56" (half of the 95 % interval), without ± for a single run. */
export function figure(e: Estimate | null): string {
  if (!e) return "-";
  const half = halfWidth95(e);
  return half === null ? number(e.mean) : `${number(e.mean)} ± ${number(half)}`;
}

/**
 * "x0.56 [0.52, 0.61]"; "x0.98 [0.93, 1.04] ~" where the interval holds 1; "x0.56 (no repeats)". The sign is explained
 * in READING.
 */
export function ratioText(r: Ratio | undefined): string {
  if (!r) return "-";
  const value = `x${r.value.toFixed(2)}`;
  if (r.interval)
    return `${value} [${r.interval.low.toFixed(2)}, ${r.interval.high.toFixed(2)}]${r.verdict === "no evidence of a difference" ? " ~" : ""}`;
  return r.verdict === "not tested" ? `${value} (no repeats)` : `${value} (unbounded) ~`;
}

/** Per subject and metric, the thread counts at which there is no evidence of a difference. */
export function evidenceLines(comparison: Comparison, block: Block): string[] {
  return comparison.subjects.flatMap((subject, i) =>
    (["tps", "p95"] as const).flatMap((metric) => {
      const cells = block.rows.flatMap((row) =>
        row.cells
          .filter((c) => c.subject === i && c.ratios[metric])
          .map((c) => ({ threads: row.threads, verdict: c.ratios[metric]!.verdict })),
      );
      const none = cells.filter((c) => c.verdict === "no evidence of a difference").map((c) => c.threads);
      return none.length === 0
        ? []
        : [
            `${subject.label}: no evidence of a difference in ${metric} at ${none.join(", ")} thread${none.length === 1 && none[0] === 1 ? "" : "s"}`,
          ];
    }),
  );
}

export function ratioCell(cell: Cell, metric: Metric): string {
  return cell.subject === 0 ? "baseline" : ratioText(cell.ratios[metric]);
}

/** Everything that qualifies a point: cut short, errors, outages, a driver that was the bottleneck. */
export function flags(point: Point): string[] {
  const out: string[] = [];
  if (point.completeWindows === 0) out.push(`CUT SHORT (${point.incompleteReason ?? "reason not recorded"})`);
  else if (point.completeWindows < point.windows)
    out.push(`${point.windows - point.completeWindows} of ${point.windows} windows cut short, left out`);
  if (point.errors > 0) {
    const codes = Object.entries(point.errorsByCode)
      .sort((a, b) => b[1] - a[1])
      .slice(0, 3)
      .map(([code, n]) => `${code}: ${n}`);
    out.push(`${point.errors.toLocaleString("en-US")} errors${codes.length ? ` (${codes.join(", ")})` : ""}`);
  }
  if (point.longestGapSeconds !== null && point.longestGapSeconds >= 1)
    out.push(`outage ${point.longestGapSeconds.toFixed(1)} s`);
  if (point.saturated.length > 0) out.push(`DRIVER SATURATED: ${point.saturated.join("; ")}`);
  out.push(...(point.degraded ?? []), ...(point.busy ?? []));
  return [...out, ...point.notes];
}

export function floorText(cell: Cell): string {
  if (!cell.floor) return "-";
  if (cell.floor.measuredMs === null) return `${number(cell.floor.ms)} ms`;
  const mark = cell.floor.source === "threads / tps" ? "~" : "";
  if (cell.floor.ms > cell.floor.measuredMs)
    return `${number(cell.floor.ms)} > ${mark}${number(cell.floor.measuredMs)} ms: the path is not as recorded`;
  return cell.floor.ms === 0 ? "none" : `${number(cell.floor.ms)} of ${mark}${number(cell.floor.measuredMs)} ms`;
}

export function penaltyText(cell: Cell): string {
  if (!cell.penalty) return "-";
  const mark = cell.penalty.derived ? "~" : "";
  const tps = cell.penalty.tpsPercentPerMs === null ? "" : `, ${signed(cell.penalty.tpsPercentPerMs)} % tps`;
  return `${mark}${signed(cell.penalty.roundTrips, 2)} ms${tps}${cell.penalty.evident === false ? " ~" : ""}`;
}

/** "4.2 ms (west-1)", the p95 of the slowest replica. */
export function lagText({ point: { lag } }: Cell): string {
  if (!lag) return "-";
  return `${lag.unseen > 0 ? ">= " : ""}${number(lag.p95Ms)} ms (${lag.node})`;
}

export function moneyText(subject: Subject, perMillion: number | null): string {
  const price = priceOf(subject);
  if (!price) return "no price given";
  return perMillion === null ? "-" : `${perMillion.toFixed(perMillion < 0.1 ? 4 : 2)} ${price.currency}`;
}

/** One line per subject: what it is and what is wrong with it. */
export function subjectLine(subject: Subject): string {
  const when = subject.startedAt ? `, ${subject.startedAt}` : "";
  const aborted = subject.complete ? "" : ` - INCOMPLETE: ${subject.incompleteReason}`;
  const price = priceOf(subject);
  const billed = subject.result?.["cost"] as { total?: unknown; currency?: unknown } | undefined;
  const spent =
    typeof billed?.total === "number"
      ? `, ${billed.total.toFixed(2)} ${String(billed.currency ?? "")}`
      : price && subject.hours !== null
        ? `, ${(price.perHour * subject.hours).toFixed(2)} ${price.currency} for ${subject.hours.toFixed(2)} h`
        : "";
  return `${subject.label} (${subject.kind === "run" ? subject.source : `published: ${subject.source}`}${when}${spent})${aborted}`;
}

export const READING = [
  "tps, qps: per second, mean over repeats ± half of its 95 % interval (Student t). Latencies in ms; p95 and p99 are means of the repeats' percentiles.",
  "Ratios are to the first subject, [95 % interval by Fieller's theorem]; ~ marks no evidence of a difference, (unbounded) a baseline that varies too much for any interval. Each interval stands for itself: of 20 true equalities about one shows a difference.",
];

/** How a floor is to be read, with the commit rules of the subjects. */
export function floorReading(subjects: readonly Subject[]): string {
  const rules = [...new Set(subjects.map(commitRuleOf))].flatMap((rule) => COMMIT_RULES[rule].sentence ?? []);
  return `Floor: ${[...rules, "each statement takes one from the driver to its endpoint"].join("; ")}; "3.2 of 7.1 ms" sets it against the measured mean.`;
}

export function forcedMark(comparison: Comparison): string {
  return comparison.forced
    ? "NOT THE SAME WORK - compared because it was forced; ratios do not isolate the topology"
    : "";
}

/** How long loading took, and how much longer than on the baseline. */
export function prepareLines(subjects: readonly Subject[]): string[] {
  const base = subjects[0]?.prepareSeconds ?? null;
  return subjects.flatMap((s, i) => {
    if (s.prepareSeconds === null) return [];
    const times = i > 0 && base ? ` (x${(s.prepareSeconds / base).toFixed(2)})` : "";
    return [`prepare   ${s.label}: ${duration(s.prepareSeconds)}${times}`];
  });
}

/** Caveats with the subjects they hold for; one that several share is said once. */
export function caveatLines(subjects: readonly Subject[]): string[] {
  const by = new Map<string, string[]>();
  for (const s of subjects) for (const c of s.caveats) by.set(c, [...(by.get(c) ?? []), s.label]);
  return [...by].map(
    ([caveat, labels]) =>
      `note      ${labels.length === subjects.length && labels.length > 1 ? "all" : labels.join(", ")}: ${caveat}`,
  );
}
