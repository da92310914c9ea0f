/** The comparison as GitHub-flavoured Markdown. */
import type { Comparison } from "../compare/compare.ts";
import { describeDifference } from "../compare/compare.ts";
import { judgement } from "../compare/shape.ts";
import { number } from "../format.ts";
import {
  caveatLines,
  evidenceLines,
  figure,
  flags,
  floorText,
  forcedMark,
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
  for (const block of comparison.blocks) {
    out.push(`## ${cellText(block.key)}${comparison.forced ? " (not the same work)" : ""}`, "");
    if (block.rows.length > 0) {
      out.push(
        table(
          [
            "threads",
            "",
            "tps",
            "tps ratio",
            "qps",
            "avg ms",
            "p95 ms",
            "p95 ratio",
            "p99 ms",
            "RTT floor of avg",
            "per 10^6 tx",
            "flags",
          ],
          block.rows.flatMap((row) =>
            row.cells.map((c) => [
              String(row.threads),
              labels[c.subject]!,
              figure(c.point.tps),
              ratioCell(c, "tps"),
              number(c.point.qps?.mean),
              number(c.point.avg?.mean),
              figure(c.point.p95),
              ratioCell(c, "p95"),
              number(c.point.p99?.mean),
              floorText(c),
              moneyText(subjects[c.subject]!, c.perMillion),
              flags(c.point).join("; "),
            ]),
          ),
        ),
        "",
      );
    }
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
