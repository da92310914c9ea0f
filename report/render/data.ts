/** The comparison as data: JSON for programs, CSV for spreadsheets. Units: per second, milliseconds. */
import type { Comparison } from "../compare/compare.ts";
import { METRICS } from "../compare/compare.ts";
import { designRows } from "../compare/designs.ts";
import { priceOf } from "../compare/money.ts";
import type { Estimate } from "../stats.ts";
import { halfWidth95 } from "../stats.ts";
import { flags } from "./text.ts";

const full = (e: Estimate | null) => (e ? { ...e, ci95: halfWidth95(e) } : null);

/** A stable, versioned document; every figure that is not known is null. */
export function toData(comparison: Comparison) {
  const { subjects, work, forced, blocks } = comparison;
  return {
    kind: "meshbench-comparison",
    schema: 1,
    sameWork: work.incompatible.length === 0,
    forced,
    baseline: subjects[0]!.label,
    subjects: subjects.map((s) => ({
      label: s.label,
      kind: s.kind,
      source: s.source,
      complete: s.complete,
      incompleteReason: s.incompleteReason,
      startedAt: s.startedAt,
      runId: s.result?.runId ?? null,
      hours: s.hours,
      price: priceOf(s),
      prepareSeconds: s.prepareSeconds,
      unit: s.unit,
      method: s.method,
      environment: s.environment,
      caveats: s.caveats,
    })),
    incompatible: work.incompatible,
    differences: work.differences,
    notStated: work.unstated,
    shape: comparison.shape,
    designs: designRows(comparison).map((row) => ({ ...row, subject: subjects[row.subject]!.label })),
    workloads: blocks.map((block) => ({
      workload: block.key,
      sweeps: block.sweeps.map((sweep, i) => ({
        subject: subjects[i]!.label,
        ...(sweep ?? { missing: true }),
        averageTpsRatio: block.sweepRatios[i]?.value ?? null,
        averageTpsRatioInterval: block.sweepRatios[i]?.interval ?? null,
      })),
      points: block.rows.flatMap((row) =>
        row.cells.map((cell) => ({
          subject: subjects[cell.subject]!.label,
          threads: row.threads,
          ...Object.fromEntries(METRICS.map((m) => [m, full(cell.point[m])])),
          ratios: Object.fromEntries(METRICS.flatMap((m) => (cell.ratios[m] ? [[m, cell.ratios[m]]] : []))),
          floor: cell.floor,
          penaltyPerMsOfRtt: cell.penalty,
          perMillion: cell.perMillion,
          lag: cell.point.lag ?? null,
          windows: cell.point.windows,
          completeWindows: cell.point.completeWindows,
          incompleteReason: cell.point.incompleteReason,
          errors: cell.point.errors,
          errorsByCode: cell.point.errorsByCode,
          longestGapSeconds: cell.point.longestGapSeconds,
          saturated: cell.point.saturated,
          degraded: cell.point.degraded ?? null,
          busy: cell.point.busy ?? null,
          statementsPerTransaction: cell.point.mix,
          notes: cell.point.notes,
        })),
      ),
    })),
  };
}

export function renderJson(comparison: Comparison): string {
  return `${JSON.stringify(toData(comparison), null, 2)}\n`;
}

/** RFC 4180, with a guard: text that a spreadsheet would run as a formula is prefixed by an apostrophe. */
function csvField(value: string | number | null): string {
  if (value === null) return "";
  if (typeof value === "number") return String(value);
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export function renderCsv(comparison: Comparison): string {
  const head = [
    "workload",
    "threads",
    "subject",
    "complete",
    ...METRICS.flatMap((m) => [m, `${m}_n`, `${m}_ci95`, `${m}_ratio`, `${m}_ratio_low`, `${m}_ratio_high`]),
    "verdict_tps",
    "floor_ms",
    "round_trips_per_ms_rtt",
    "per_million",
    "lag_p95_ms",
    "currency",
    "errors",
    "longest_gap_s",
    "same_work",
    "flags",
  ];
  const lines = comparison.blocks.flatMap((block) =>
    block.rows.flatMap((row) =>
      row.cells.map((cell) => {
        const subject = comparison.subjects[cell.subject]!;
        const { point } = cell;
        const price = priceOf(subject);
        return [
          block.key,
          row.threads,
          subject.label,
          String(point.completeWindows > 0),
          ...METRICS.flatMap((m) => {
            const [e, r] = [point[m], cell.ratios[m]];
            return [
              e?.mean ?? null,
              e?.n ?? null,
              e ? halfWidth95(e) : null,
              r?.value ?? null,
              r?.interval?.low ?? null,
              r?.interval?.high ?? null,
            ];
          }),
          cell.ratios.tps?.verdict ?? null,
          cell.floor?.ms ?? null,
          cell.penalty?.roundTrips ?? null,
          cell.perMillion,
          cell.point.lag?.p95Ms ?? null,
          price ? price.currency : "no price given",
          point.errors,
          point.longestGapSeconds,
          String(!comparison.forced),
          flags(point).join("; "),
        ];
      }),
    ),
  );
  return `${[head, ...lines].map((line) => line.map(csvField).join(",")).join("\r\n")}\r\n`;
}
