/** The comparison as terminal text. */
import Table from "cli-table3";
import type { Block, Cell, Comparison, Row } from "../compare/compare.ts";
import { describeDifference } from "../compare/compare.ts";
import { averagesApart, splitRows } from "../compare/counterpart.ts";
import { DESIGN_HEAD, designCells, designNote, designRows } from "../compare/designs.ts";
import { judgement, type Shape } from "../compare/shape.ts";
import { number } from "../format.ts";
import {
  caveatLines,
  evidenceLines,
  figure,
  flags,
  floorText,
  forcedMark,
  lagText,
  moneyText,
  penaltyText,
  prepareLines,
  READING,
  ratioCell,
  ratioText,
  subjectLine,
} from "./text.ts";

const plain = { head: [], border: [] };

export function renderTerminal(comparison: Comparison): string {
  const { subjects, work } = comparison;
  const labels = subjects.map((s) => s.label);
  const out: string[] = [];
  if (comparison.forced)
    out.push(
      `!! ${forcedMark(comparison)}`,
      ...work.incompatible.map((d) => `   ${describeDifference(d, labels)}`),
      "",
    );
  out.push(
    ...subjects.map((s, i) => `${i === 0 && subjects.length > 1 ? "baseline  " : "          "}${subjectLine(s)}`),
    "",
  );
  const designs = renderDesigns(comparison);
  if (designs.length > 0) out.push(...designs, "");
  for (const block of comparison.blocks) out.push(...renderBlock(comparison, block), "");
  const rest = aloneTable(comparison);
  if (rest.length > 0) out.push(...rest, "");
  const apart = averagesApart(comparison);
  if (apart.length > 0) out.push(...apart.map((sentence) => `averages  ${sentence}`), "");
  if (comparison.shape) out.push(...renderShape(comparison.shape), "");
  if (subjects.length > 1) out.push(...renderWork(comparison), "");
  out.push(...prepareLines(subjects), ...caveatLines(subjects));
  out.push(...READING);
  // Names and notes come from files: a control sequence in them must not reach the terminal.
  return `${out.join("\n").replace(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/g, "?")}\n`;
}

function renderDesigns(comparison: Comparison): string[] {
  const rows = designRows(comparison);
  if (rows.length === 0) return [];
  const table = new Table({
    head: [...DESIGN_HEAD],
    style: { ...plain, compact: true },
    colAligns: DESIGN_HEAD.map((_, i) => (i < 3 ? ("left" as const) : ("right" as const))),
  });
  rows.forEach((row, i) => {
    const [workload = "", ...rest] = designCells(row, comparison.subjects);
    table.push([rows[i - 1]?.workload === row.workload ? "" : workload, ...rest]);
  });
  return ["== what a write costs, by design", table.toString(), `   ${designNote(comparison.subjects)}`];
}

interface Column {
  head: string;
  text: (c: Cell) => string;
  show: boolean;
  right?: boolean;
}

/** Nothing where every column is a dash. */
function tableOf(comparison: Comparison, rows: readonly Row[], columns: Column[]): string[] {
  const shown = columns.filter((c) => c.show);
  const only = (cell: Cell) => shown.some((c) => c.text(cell) !== "-");
  if (!rows.some((r) => r.cells.some(only))) return [];
  const table = new Table({
    head: ["threads", "", ...shown.map((c) => c.head)],
    style: { ...plain, compact: true },
    colAligns: ["right", "left", ...shown.map((c) => (c.right ? ("right" as const) : ("left" as const)))],
  });
  for (const row of rows) {
    row.cells
      .filter(only)
      .forEach((cell, i) =>
        table.push([
          i === 0 ? row.threads : "",
          comparison.subjects[cell.subject]!.label,
          ...shown.map((c) => c.text(cell)),
        ]),
      );
  }
  return [table.toString()];
}

function figureColumns(rows: readonly Row[], ratios: boolean): Column[] {
  const any = (has: (c: Cell) => boolean) => rows.some((r) => r.cells.some(has));
  return [
    { head: "tps", text: (c) => figure(c.point.tps), show: any((c) => c.point.tps !== null), right: true },
    { head: "tps ratio", text: (c) => ratioCell(c, "tps"), show: ratios && any((c) => c.ratios.tps !== undefined) },
    { head: "qps", text: (c) => number(c.point.qps?.mean), show: any((c) => c.point.qps !== null), right: true },
    { head: "avg", text: (c) => number(c.point.avg?.mean), show: any((c) => c.point.avg !== null), right: true },
    { head: "p95", text: (c) => figure(c.point.p95), show: any((c) => c.point.p95 !== null), right: true },
    { head: "p95 ratio", text: (c) => ratioCell(c, "p95"), show: ratios && any((c) => c.ratios.p95 !== undefined) },
    { head: "p99", text: (c) => number(c.point.p99?.mean), show: any((c) => c.point.p99 !== null), right: true },
  ];
}

/** What only one of several subjects measured, of all workloads in one table. */
function aloneTable(comparison: Comparison): string[] {
  const parts = comparison.blocks.map((block) => ({ block, rows: splitRows(comparison, block).alone }));
  const rows = parts.flatMap((p) => p.rows);
  if (rows.length === 0) return [];
  const columns = figureColumns(rows, false).filter((c) => c.show);
  const table = new Table({
    head: ["workload", "threads", "", ...columns.map((c) => c.head)],
    style: { ...plain, compact: true },
    colAligns: ["left", "right", "left", ...columns.map(() => "right" as const)],
  });
  for (const part of parts)
    part.rows.forEach((row, r) =>
      row.cells.forEach((cell, i) =>
        table.push([
          r === 0 && i === 0 ? part.block.key : "",
          i === 0 ? row.threads : "",
          comparison.subjects[cell.subject]!.label,
          ...columns.map((c) => c.text(cell)),
        ]),
      ),
    );
  return ["== no counterpart at the same thread count", table.toString()];
}

function renderBlock(comparison: Comparison, block: Block): string[] {
  const { subjects } = comparison;
  const many = subjects.length > 1;
  const cells = block.rows.flatMap((r) => r.cells);
  const any = (has: (c: Cell) => boolean) => cells.some(has);
  const { shared } = splitRows(comparison, block);
  const lines = [`== ${block.key}${comparison.forced ? "  (not the same work)" : ""}`];
  lines.push(...tableOf(comparison, shared, figureColumns(shared, many)));
  const costs: Column[] = [
    { head: "floor of avg by RTT", text: floorText, show: any((c) => c.floor !== null && c.floor.ms > 0) },
    { head: "extra per ms of RTT", text: penaltyText, show: any((c) => c.penalty !== null) },
    { head: "lag p95", text: lagText, show: any((c) => Boolean(c.point.lag)) },
    {
      head: "per million transactions",
      text: (c) => moneyText(subjects[c.subject]!, c.perMillion),
      show: any((c) => c.perMillion !== null),
    },
  ];
  if (costs.some((c) => c.show))
    lines.push("   what distance and machines cost", ...tableOf(comparison, block.rows, costs));
  for (const row of block.rows) {
    for (const cell of row.cells) {
      const raised = flags(cell.point);
      if (raised.length > 0)
        lines.push(
          `   ! ${subjects[cell.subject]!.label}, ${row.threads} thread${row.threads === 1 ? "" : "s"}: ${raised.join("; ")}`,
        );
    }
  }
  lines.push(...evidenceLines(comparison, block).map((l) => `   ${l}`));
  block.sweeps.forEach((sweep, i) => {
    if (!sweep) return void lines.push(`   ${subjects[i]!.label}: not measured`);
    const ratio = block.sweepRatios[i];
    const average =
      sweep.averageTps === null
        ? "average not given"
        : `average ${number(sweep.averageTps)} tps${ratio ? ` (${ratioText(ratio)})` : ""}`;
    const peak =
      sweep.peakTps === null
        ? "peak not given"
        : `peak ${number(sweep.peakTps)} at ${sweep.peakThreads ?? "?"} threads`;
    const p95 = sweep.averageP95 === null ? "" : `; average p95 ${number(sweep.averageP95)} ms`;
    const saturation =
      sweep.saturation.at === null
        ? sweep.saturation.because
        : `saturates at ${sweep.saturation.at} threads (${sweep.saturation.because})`;
    lines.push(
      `   ${subjects[i]!.label}: ${average}${sweep.given ? " as published" : ` over ${sweep.threads.length} thread count${sweep.threads.length === 1 ? "" : "s"}`}; ${peak}${p95}; ${saturation}`,
    );
  });
  return lines;
}

function renderWork(comparison: Comparison): string[] {
  const labels = comparison.subjects.map((s) => s.label);
  const { work } = comparison;
  const lines = [
    work.incompatible.length === 0
      ? "same work   as far as it is stated: data, table options, reconnects, statements per transaction"
      : "same work   NO, see above",
  ];
  for (const u of work.unstated) lines.push(`not stated  ${u.what} (${u.missing.join(", ")})`);
  for (const d of work.differences)
    lines.push(`${d.kind === "method" ? "method      " : "environment "}${describeDifference(d, labels)}`);
  if (work.differences.length === 0) lines.push("            no difference of method or environment on record");
  return lines;
}

function renderShape(shape: Shape): string[] {
  const table = new Table({
    head: ["workload", "", "published", "ours", ""],
    style: { ...plain, compact: true },
    colAligns: ["left", "left", "right", "right", "left"],
  });
  for (const r of shape.rows) table.push([r.workload, r.what, r.published, r.ours, judgement(r)]);
  return [
    `== our shape against the published one (${shape.pairs.map((p) => `${p.ours} ~ ${p.published}`).join(", ")})`,
    table.toString(),
    "why they differ, as far as it is on record:",
    ...shape.reasons.map((r) => `   - ${r}`),
  ];
}
