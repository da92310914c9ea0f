/**
 * Tables of the page. Every figure carries its unrounded value in data-value, so that a reader's script, and a test,
 * can check it.
 */
import type { Block, Cell, Comparison, Metric, Row } from "../compare/compare.ts";
import { splitRows } from "../compare/counterpart.ts";
import { number } from "../format.ts";
import { figure, flags, floorText, lagText, moneyText, penaltyText, ratioText } from "../render/text.ts";
import { SHOWN, windowsOf } from "./charts.ts";
import { mergedHistogram } from "./distribution.ts";
import type { Markup } from "./escape.ts";
import { html, raw } from "./escape.ts";

export const nothing = raw("");

/** A table in a box that scrolls sideways on a narrow screen and can be reached by keyboard. */
export function table(
  caption: string,
  note: string,
  head: readonly { text: string; n?: boolean }[],
  rows: readonly Markup[],
): Markup {
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${caption}"><table><caption>${caption}${note ? html`<small>${note}</small>` : nothing}</caption>
<thead><tr>${head.map((h) => html`<th scope="col"${raw(h.n ? ' class="n"' : "")}>${h.text}</th>`)}</tr></thead><tbody>${rows}</tbody></table></div>`;
}

export const key = (index: number): Markup =>
  raw(`<span style="color:var(--series-${index % SHOWN})" aria-hidden="true">&#9632;</span>&#160;`);

interface Column {
  head: string;
  show: boolean;
  n?: boolean;
  cell: (c: Cell) => Markup;
}

/** Figures of one workload: one line per thread count and subject. */
export function figuresTable(comparison: Comparison, block: Block): Markup {
  const cells = block.rows.flatMap((r) => r.cells.filter((c) => c.subject < SHOWN));
  if (cells.length === 0) return nothing;
  const any = (has: (c: Cell) => boolean) => cells.some(has);
  const metric = (m: Metric, head: string, spread = false): Column => ({
    head,
    n: true,
    show: any((c) => c.point[m] !== null),
    cell: (c) =>
      c.point[m]
        ? html`<td class="n" data-metric="${m}" data-value="${c.point[m].mean}">${spread ? figure(c.point[m]) : number(c.point[m].mean)}</td>`
        : html`<td class="n">-</td>`,
  });
  const ratio = (m: Metric, head: string): Column => ({
    head,
    n: true,
    show: any((c) => c.ratios[m] !== undefined),
    cell: (c) =>
      c.ratios[m]
        ? html`<td class="n" data-metric="${m}-ratio" data-value="${c.ratios[m].value}">${ratioText(c.ratios[m])}</td>`
        : html`<td class="n">${c.subject === 0 ? "baseline" : "-"}</td>`,
  });
  const columns = [
    metric("tps", "tps", true),
    ratio("tps", "tps ratio"),
    metric("qps", "qps"),
    metric("avg", "avg ms"),
    metric("p95", "p95 ms", true),
    ratio("p95", "p95 ratio"),
    metric("p99", "p99 ms"),
    {
      head: "remarks",
      show: any((c) => flags(c.point).length > 0),
      cell: (c: Cell) =>
        html`<td class="wrap">${flags(c.point).map((f) => html`<div${raw(/CUT|SATURATED|outage|error/.test(f) ? ' class="bad"' : "")}>${f}</div>`)}</td>`,
    },
  ].filter((c) => c.show);
  return pointTable(comparison, block, `Figures, ${block.key}`, "", columns);
}

/** What distance and machines cost at each point; nothing when no subject has round-trip times or a price. */
export function costTable(comparison: Comparison, block: Block): Markup {
  const cells = block.rows.flatMap((r) => r.cells.filter((c) => c.subject < SHOWN));
  const text = (head: string, show: (c: Cell) => boolean, of: (c: Cell) => string): Column => ({
    head,
    n: true,
    show: cells.some(show),
    cell: (c) => html`<td class="n">${of(c)}</td>`,
  });
  const columns = [
    text("floor of avg by RTT", (c) => c.floor !== null && c.floor.ms > 0, floorText),
    text("extra per ms of RTT", (c) => c.penalty !== null, penaltyText),
    text("lag p95", (c) => Boolean(c.point.lag), lagText),
    text(
      "per million transactions",
      (c) => c.perMillion !== null,
      (c) => moneyText(comparison.subjects[c.subject]!, c.perMillion),
    ),
  ].filter((c) => c.show);
  if (columns.length === 0) return nothing;
  const run = (c: Cell) => comparison.subjects[c.subject]!.kind === "run";
  return pointTable(
    comparison,
    block,
    `What distance and machines cost, ${block.key}`,
    "Floor: the least that round trips alone allow, against the measured mean. Extra: change of the mean latency, and of tps, per ms of the longest round trip, against the baseline. Lag: p95 of the replica that was furthest behind.",
    columns,
    run,
  );
}

function pointTable(
  comparison: Comparison,
  block: Block,
  caption: string,
  note: string,
  columns: Column[],
  only: (c: Cell) => boolean = () => true,
): Markup {
  const lines = (rows: readonly Row[]): Markup[] =>
    rows.flatMap((row) =>
      row.cells
        .filter((c) => c.subject < SHOWN && only(c))
        .map(
          (
            cell,
            i,
          ) => html`<tr${raw(i === 0 ? ' class="first"' : "")} data-workload="${block.key}" data-threads="${row.threads}" data-subject="${comparison.subjects[cell.subject]!.label}">
<td class="n">${row.threads}</td><th scope="row">${key(cell.subject)}${comparison.subjects[cell.subject]!.label}</th>${columns.map((c) => c.cell(cell))}</tr>`,
        ),
    );
  const { shared, alone } = splitRows(comparison, block);
  const rest = lines(alone);
  const divider = html`<tr class="first"><th scope="rowgroup" colspan="${columns.length + 2}">No counterpart at the same thread count</th></tr>`;
  const rows = [...lines(shared), ...(rest.length > 0 ? [divider, ...rest] : [])];
  return table(
    caption,
    note,
    [{ text: "threads", n: true }, { text: "run" }, ...columns.map((c) => ({ text: c.head, n: c.n ?? false }))],
    rows,
  );
}

/** Average, peak and saturation over the sweep, one line per subject. */
export function sweepTable(comparison: Comparison, block: Block): Markup {
  const rows = block.sweeps.slice(0, SHOWN).flatMap((sweep, i) => {
    if (!sweep) return [];
    const saturation =
      sweep.saturation.at === null
        ? sweep.saturation.because
        : `at ${sweep.saturation.at} threads: ${sweep.saturation.because}`;
    const scaling =
      sweep.scaling.length > 1
        ? sweep.scaling.map((s) => `${s.threads}:\u00a0${(s.efficiency * 100).toFixed(0)}\u00a0%`).join(", ")
        : "-";
    return [
      html`<tr><th scope="row">${key(i)}${comparison.subjects[i]!.label}</th><td class="n" data-metric="average" data-value="${sweep.averageTps ?? ""}">${figure(sweep.average)}${sweep.given ? " (as published)" : ""}</td><td class="n">${ratioText(block.sweepRatios[i] ?? undefined)}</td>
<td class="n">${number(sweep.peakTps)}</td><td class="n">${sweep.peakThreads ?? "-"}</td><td class="n">${number(sweep.averageP95)}</td><td class="wrap">${saturation}</td><td class="wrap">${scaling}</td></tr>`,
    ];
  });
  return table(
    `Over the sweep, ${block.key}`,
    "Scaling: throughput per thread against the lowest thread count.",
    [
      { text: "run" },
      { text: "average tps", n: true },
      { text: "ratio", n: true },
      { text: "peak tps", n: true },
      { text: "at threads", n: true },
      { text: "average p95 ms", n: true },
      { text: "saturation" },
      { text: "scaling" },
    ],
    rows,
  );
}

/**
 * What the database nodes report of their replication during the windows of each point; nothing where they report none.
 */
export function replicationTable(comparison: Comparison, block: Block): Markup {
  const rows = block.rows.flatMap((row) =>
    comparison.subjects.slice(0, SHOWN).flatMap((subject, i) => {
      const windows = windowsOf(subject, block.key, row.threads);
      const nodes = windows.flatMap((w) =>
        w.server.flatMap((s) =>
          s.delta && "wsrep_flow_control_paused_ns" in s.delta
            ? [{ ...s, seconds: w.windowSeconds, counters: s.delta }]
            : [],
        ),
      );
      if (nodes.length === 0) return [];
      const paused = Math.max(...nodes.map((n) => n.counters["wsrep_flow_control_paused_ns"]! / 1e7 / n.seconds));
      const sum = (name: string) =>
        nodes.reduce((total, n) => total + (n.counters[name] ?? 0), 0).toLocaleString("en-US");
      const counts = [sum("wsrep_flow_control_sent"), sum("wsrep_local_cert_failures"), sum("wsrep_local_bf_aborts")];
      return [
        html`<tr><td class="n">${row.threads}</td><th scope="row">${key(i)}${subject.label}</th><td class="n">${paused.toFixed(1)}</td>${counts.map((v) => html`<td class="n">${v}</td>`)}</tr>`,
      ];
    }),
  );
  if (rows.length === 0) return nothing;
  return table(
    `Replication as the nodes report it, ${block.key}`,
    "Paused: the highest share of a window in which flow control stopped a node. The rest are sums over nodes and windows.",
    [
      { text: "threads", n: true },
      { text: "run" },
      { text: "paused %", n: true },
      { text: "flow control sent", n: true },
      { text: "certification failures", n: true },
      { text: "brute-force aborts", n: true },
    ],
    rows,
  );
}

const PERCENTILES = [50, 90, 95, 99, 99.9] as const;

/** Percentiles of the merged histograms: beside the percentile plot. */
export function percentileTable(comparison: Comparison, block: Block): Markup {
  const rows = block.rows.flatMap((row) =>
    comparison.subjects.slice(0, SHOWN).flatMap((subject, i) => {
      const merged = mergedHistogram(windowsOf(subject, block.key, row.threads).filter((w) => w.complete));
      if (!merged) return [];
      return [
        html`<tr><td class="n">${row.threads}</td><th scope="row">${key(i)}${subject.label}</th>${PERCENTILES.map((p) => html`<td class="n">${merged.totalCount * (1 - p / 100) < 1 ? "-" : number(merged.getValueAtPercentile(p) / 1000)}</td>`)}<td class="n">${number(merged.maxValue / 1000)}</td><td class="n">${merged.totalCount.toLocaleString("en-US")}</td></tr>`,
      ];
    }),
  );
  if (rows.length === 0) return nothing;
  return table(
    `Latency by percentile, ${block.key}`,
    "Milliseconds, all complete windows together. A dash: fewer transactions than that percentile needs.",
    [
      { text: "threads", n: true },
      { text: "run" },
      ...PERCENTILES.map((p) => ({ text: `p${p}`, n: true })),
      { text: "max", n: true },
      { text: "transactions", n: true },
    ],
    rows,
  );
}
