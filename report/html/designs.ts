/** The table of designs: what a write costs in each, and at which distance. */
import type { Comparison } from "../compare/compare.ts";
import { DESIGN_HEAD, designCells, designNote, designRows } from "../compare/designs.ts";
import { SHOWN } from "./charts.ts";
import type { Markup } from "./escape.ts";
import { html } from "./escape.ts";
import { key, nothing, table } from "./tables.ts";

export function designSection(comparison: Comparison): Markup {
  const rows = designRows(comparison);
  if (rows.length === 0) return nothing;
  return html`<section id="designs" aria-labelledby="designs-title"><h2 id="designs-title">What a write costs, by design</h2>
${table(
  "Writes by design and distance",
  designNote(comparison.subjects),
  DESIGN_HEAD.map((text, i) => ({ text, n: i > 2 })),
  rows.map((row) => {
    const [workload, design, label, ...figures] = designCells(row, comparison.subjects);
    const values = [
      row.rttMs,
      row.peak.tps.mean,
      row.peak.p95Ms,
      row.alone?.meanMs ?? null,
      row.alone?.floorMs ?? null,
      row.lagP95Ms,
    ];
    return html`<tr><td>${workload!}</td><td>${design!}</td><th scope="row">${row.subject < SHOWN ? key(row.subject) : nothing}${label!}</th>${figures.map((text, i) => html`<td class="n" data-metric="design-${i}" data-value="${values[i] ?? ""}">${text}</td>`)}</tr>`;
  }),
)}</section>`;
}
