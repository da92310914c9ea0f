/** Tables of single runs: windows, round trips, facts, and all runs that were given. */
import type { Comparison } from "../compare/compare.ts";
import { rttOf } from "../compare/floor.ts";
import { number } from "../format.ts";
import type { Subject } from "../model.ts";
import { SHOWN } from "./charts.ts";
import type { Markup } from "./escape.ts";
import { html } from "./escape.ts";
import { nothing, table } from "./tables.ts";

/** Intervals in which something went wrong, and each window's own range: beside the chart over time. */
export function windowTable(subject: Subject): Markup {
  if (subject.printedIntervals) {
    return table(
      `Intervals, ${subject.label}`,
      "As the source prints them.",
      [
        { text: "seconds", n: true },
        { text: "tps", n: true },
        { text: "p95 ms", n: true },
      ],
      subject.printedIntervals.map(
        (i) =>
          html`<tr><td class="n">${i.t}</td><td class="n">${number(i.tps)}</td><td class="n">${number(i.p95)}</td></tr>`,
      ),
    );
  }
  const start = Math.min(...(subject.result?.steps ?? []).map((w) => Date.parse(w.startedAt)));
  const rows = [...(subject.result?.steps ?? [])]
    .sort((a, b) => Date.parse(a.startedAt) - Date.parse(b.startedAt))
    .map((w) => {
      const tps = w.intervals.map((i) => i.tps);
      const outage = w.outage && w.outage.longestGapSeconds >= 1 ? `${w.outage.longestGapSeconds.toFixed(1)} s` : "-";
      return html`<tr><td class="n">${((Date.parse(w.startedAt) - start) / 1000).toFixed(0)}</td><th scope="row">${w.workload}</th><td class="n">${w.threads}</td><td class="n">${w.repeat + 1}</td><td class="n">${number(w.tps)}</td>
<td class="n">${tps.length ? `${number(Math.min(...tps))} to ${number(Math.max(...tps))}` : "-"}</td><td class="n">${w.errors.total.toLocaleString("en-US")}</td><td class="n">${outage}</td><td>${w.complete ? "complete" : html`<span class="bad">cut short: ${w.incompleteReason ?? "reason not recorded"}</span>`}</td></tr>`;
    });
  return table(
    `Windows in the order they ran, ${subject.label}`,
    "",
    [
      { text: "starts at s", n: true },
      { text: "workload" },
      { text: "threads", n: true },
      { text: "repeat", n: true },
      { text: "tps", n: true },
      { text: "tps of its intervals", n: true },
      { text: "errors", n: true },
      { text: "longest outage", n: true },
      { text: "" },
    ],
    rows,
  );
}

export function rttTable(subject: Subject): Markup {
  const matrix = subject.context?.rttMatrix ?? [];
  const rtt = rttOf(subject);
  const rows = matrix.map(
    (m) =>
      html`<tr><th scope="row">${m.from} to ${m.to}</th>${(["min", "avg", "max"] as const).map((f) => html`<td class="n">${m.rttMs ? number(m.rttMs[f]) : "no answer"}</td>`)}<td class="n">${m.lossPercent ?? "-"}</td><td class="n">${m.pathMtu ?? "-"}</td><td class="n">${m.mbitPerSecond === null || m.mbitPerSecond === undefined ? "-" : number(m.mbitPerSecond)}</td></tr>`,
  );
  return table(
    `Round trips between nodes, ${subject.label}`,
    rtt.max === null ? "" : `Longest between database nodes, by the least of its pings: ${number(rtt.max)} ms.`,
    [
      { text: "path" },
      { text: "min ms", n: true },
      { text: "mean ms", n: true },
      { text: "max ms", n: true },
      { text: "loss %", n: true },
      { text: "MTU", n: true },
      { text: "Mbit/s", n: true },
    ],
    rows,
  );
}

/** Facts as lines, subjects as columns; a line in which they differ is marked. */
export function factsTable(comparison: Comparison): Markup {
  const shown = comparison.subjects.slice(0, SHOWN);
  const groups = (["unit", "method", "environment"] as const).flatMap((group) =>
    [...new Set(shown.flatMap((s) => Object.keys(s[group])))].map((what) => ({
      what,
      values: shown.map((s) => s[group][what] ?? null),
    })),
  );
  const extra = [
    { what: "kernel", values: shown.map((s) => s.result?.host.kernel ?? null) },
    { what: "driver memory (MB)", values: shown.map((s) => s.result?.host.memoryMb ?? null) },
    { what: "started", values: shown.map((s) => s.startedAt) },
    { what: "source", values: shown.map((s) => s.source) },
  ];
  const rows = [...groups, ...extra]
    .filter((g) => g.values.some((v) => v !== null))
    .map(({ what, values }) => {
      const differs = new Set(values.filter((v) => v !== null).map(String)).size > 1;
      return html`<tr><th scope="row">${what}${differs && shown.length > 1 ? html` <span class="quiet">(differs)</span>` : nothing}</th>${values.map((v) => html`<td class="wrap">${v === null ? "not stated" : v}</td>`)}</tr>`;
    });
  return table("Work, method and environment", "", [{ text: "" }, ...shown.map((s) => ({ text: s.label }))], rows);
}

/** With many runs: every run's average and peak per workload. */
export function allRunsTable(comparison: Comparison): Markup {
  const head = [
    { text: "run" },
    { text: "started" },
    { text: "complete" },
    ...comparison.blocks.flatMap((b) => [
      { text: `${b.key}: average tps`, n: true },
      { text: "peak tps", n: true },
    ]),
    { text: "errors", n: true },
  ];
  const rows = comparison.subjects.map(
    (s, i) =>
      html`<tr><th scope="row">${s.label}</th><td>${s.startedAt ?? "-"}</td><td>${s.complete ? "yes" : (s.incompleteReason ?? "no")}</td>${comparison.blocks.map((b) => html`<td class="n">${number(b.sweeps[i]?.averageTps)}</td><td class="n">${number(b.sweeps[i]?.peakTps)}</td>`)}<td class="n">${s.points.reduce((sum, p) => sum + p.errors, 0)}</td></tr>`,
  );
  return table(`All ${comparison.subjects.length} runs`, "", head, rows);
}
