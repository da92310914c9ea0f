/** The comparison as GitHub-flavoured Markdown. */
import type { Cell, Comparison, Row } from "../compare/compare.ts";
import { describeDifference } from "../compare/compare.ts";
import { averagesApart, splitRows } from "../compare/counterpart.ts";
import { DESIGN_HEAD, designCells, designNote, designRows } from "../compare/designs.ts";
import { priceOf } from "../compare/money.ts";
import { judgement } from "../compare/shape.ts";
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
  prepareLines,
  READING,
  ratioCell,
  ratioText,
  subjectLine,
} from "./text.ts";

/** Text in a cell: nothing may end the cell, start a tag or a link. */
const cellText = (text: string) =>
  text
    .replace(/[\\|<>`*_[\]~]/g, (c) => (c === "<" ? "&lt;" : c === ">" ? "&gt;" : `\\${c}`))
    .replace(/\s*[\r\n]+\s*/g, " ");

function table(head: string[], rows: string[][]): string {
  const line = (cells: string[]) => `| ${cells.map(cellText).join(" | ")} |`;
  return [line(head), `|${head.map(() => " --- ").join("|")}|`, ...rows.map(line)].join("\n");
}

/** Figures of one workload, or of several named ones: then each line says of which, and there is no ratio to show. */
function figures(comparison: Comparison, parts: readonly { key: string; rows: readonly Row[] }[]): string {
  const { subjects } = comparison;
  const named = parts.some((p) => p.key !== "");
  const cells = parts.flatMap((p) => p.rows.flatMap((row) => row.cells.map((cell) => ({ key: p.key, row, cell }))));
  const priced = subjects.some((s) => priceOf(s));
  const columns: [head: string, show: boolean, text: (c: Cell) => string][] = [
    ["tps", true, (c) => figure(c.point.tps)],
    ["tps ratio", !named, (c) => ratioCell(c, "tps")],
    ["qps", true, (c) => number(c.point.qps?.mean)],
    ["avg ms", true, (c) => number(c.point.avg?.mean)],
    ["p95 ms", true, (c) => figure(c.point.p95)],
    ["p95 ratio", !named, (c) => ratioCell(c, "p95")],
    ["p99 ms", true, (c) => number(c.point.p99?.mean)],
    ["RTT floor of avg", true, floorText],
    ["lag p95", cells.some(({ cell }) => Boolean(cell.point.lag)), lagText],
    ["per 10^6 tx", priced, (c) => moneyText(subjects[c.subject]!, c.perMillion)],
    ["flags", true, (c) => flags(c.point).join("; ")],
  ];
  const shown = columns.filter(([, show]) => show);
  return table(
    [...(named ? ["workload"] : []), "threads", "", ...shown.map(([head]) => head)],
    cells.map(({ key, row, cell }) => [
      ...(named ? [key] : []),
      String(row.threads),
      subjects[cell.subject]!.label,
      ...shown.map(([, , text]) => text(cell)),
    ]),
  );
}

export function renderMarkdown(comparison: Comparison): string {
  const { subjects, work } = comparison;
  const labels = subjects.map((s) => s.label);
  const out = ["# Comparison", ""];
  if (comparison.forced)
    out.push(
      `**${forcedMark(comparison)}**`,
      "",
      ...work.incompatible.map((d) => `- ${cellText(describeDifference(d, labels))}`),
      "",
    );
  out.push(
    ...subjects.map((s, i) => `- ${i === 0 && subjects.length > 1 ? "baseline: " : ""}${cellText(subjectLine(s))}`),
    "",
  );
  const designs = designRows(comparison);
  if (designs.length > 0)
    out.push(
      "## What a write costs, by design",
      "",
      table(
        [...DESIGN_HEAD],
        designs.map((row) => designCells(row, subjects)),
      ),
      "",
      cellText(designNote(subjects)),
      "",
    );
  for (const block of comparison.blocks) {
    out.push(`## ${cellText(block.key)}${comparison.forced ? " (not the same work)" : ""}`, "");
    const { shared } = splitRows(comparison, block);
    if (shared.length > 0) out.push(figures(comparison, [{ key: "", rows: shared }]), "");
    out.push(...evidenceLines(comparison, block).map((l) => `- ${cellText(l)}`), "");
    out.push(
      table(
        ["", "average tps", "ratio", "peak tps", "at threads", "average p95 ms", "saturation"],
        block.sweeps.flatMap((sweep, i) =>
          sweep
            ? [
                [
                  labels[i]!,
                  figure(sweep.average),
                  ratioText(block.sweepRatios[i] ?? undefined),
                  number(sweep.peakTps),
                  sweep.peakThreads === null ? "-" : String(sweep.peakThreads),
                  number(sweep.averageP95),
                  sweep.saturation.at === null
                    ? sweep.saturation.because
                    : `${sweep.saturation.at} threads: ${sweep.saturation.because}`,
                ],
              ]
            : [],
        ),
      ),
      "",
    );
  }
  const rest = comparison.blocks.map((block) => ({ key: block.key, rows: splitRows(comparison, block).alone }));
  if (rest.some((r) => r.rows.length > 0))
    out.push("## No counterpart at the same thread count", "", figures(comparison, rest), "");
  out.push(...averagesApart(comparison).flatMap((sentence) => [cellText(sentence), ""]));
  if (comparison.shape) {
    const { shape } = comparison;
    out.push(
      "## Our shape against the published one",
      "",
      table(
        ["workload", "", "published", "ours", ""],
        shape.rows.map((r) => [r.workload, r.what, r.published, r.ours, judgement(r)]),
      ),
      "",
      "Why they differ, as far as it is on record:",
      "",
      ...shape.reasons.map((r) => `- ${cellText(r)}`),
      "",
    );
  }
  if (subjects.length > 1) {
    out.push("## Same work?", "");
    out.push(work.incompatible.length === 0 ? "As far as it is stated, yes." : "No, see above.", "");
    out.push(...work.unstated.map((u) => `- not stated: ${cellText(u.what)} (${u.missing.map(cellText).join(", ")})`));
    out.push(...work.differences.map((d) => `- ${d.kind}: ${cellText(describeDifference(d, labels))}`), "");
  }
  const caveats = [...prepareLines(subjects), ...caveatLines(subjects)].map(
    (line) => `- ${cellText(line.replace(/^note {6}/, "").replace(/^prepare {3}/, "prepare "))}`,
  );
  if (caveats.length) out.push("## Notes", "", ...caveats, "");
  out.push(...READING.map((r) => `${r}  `));
  return `${out.join("\n")}\n`;
}
