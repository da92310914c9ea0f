/** One HTML file that needs nothing but a browser: no network, its script allowed by hash only. */
import type { Block, Comparison } from "../compare/compare.ts";
import { describeDifference } from "../compare/compare.ts";
import { judgement } from "../compare/shape.ts";
import type { Subject } from "../model.ts";
import { checkClaims } from "../published/claims.ts";
import { caveatLines, evidenceLines, floorReading, forcedMark, READING, subjectLine } from "../render/text.ts";
import { clientScript } from "./bundle.ts";
import { barCharts, latencyCharts, rttChart, SHOWN, scatterChart, sweepCharts } from "./charts.ts";
import { designSection } from "./designs.ts";
import type { Markup } from "./escape.ts";
import { embedJson, html, raw } from "./escape.ts";
import { hostsTable } from "./hosts.ts";
import { allRunsTable, factsTable, rttTable, windowTable } from "./run-tables.ts";
import type { ChartSpec } from "./spec.ts";
import { style } from "./style.ts";
import { summary } from "./summary.ts";
import {
  costTable,
  figuresTable,
  key,
  nothing,
  percentileTable,
  replicationTable,
  sweepTable,
  table,
} from "./tables.ts";
import { lagChart, timeChart } from "./time-charts.ts";
import { topologyPicture } from "./topology.ts";

export { SHOWN };

export interface ReportOptions {
  title?: string;
  /** Shown as the time of writing; the clock when absent. */
  now?: Date;
}

/** The page and the figures that its charts draw. Pure but for the bundling of the script. */
export async function renderReport(comparison: Comparison, options: ReportOptions = {}): Promise<string> {
  const script = await clientScript();
  const charts: ChartSpec[] = [];
  const chart = (spec: ChartSpec | null, wide = false): Markup => {
    if (!spec) return nothing;
    charts.push(spec);
    return figureOf(spec, wide);
  };
  const shown = comparison.subjects.slice(0, SHOWN);
  const title =
    options.title ??
    `meshbench: ${shown.map((s) => s.label).join(", ")}${comparison.subjects.length > SHOWN ? ` and ${comparison.subjects.length - SHOWN} more` : ""}`;
  const body = html`<a class="skip" href="#summary">To the summary</a>
<header><h1>${title}</h1><p class="quiet">Written ${(options.now ?? new Date()).toISOString().slice(0, 16).replace("T", " ")} UTC by meshbench. Everything is in this file.</p></header>
<nav aria-label="Contents"><ul>${[["summary", "Summary"], ["topology", "Topology"], ...comparison.blocks.map((b, i) => [`workload-${i}`, b.key]), ["time", "Over time"], ["environment", "Environment"], ["specs", "Specs"]].map(([id, text]) => html`<li><a href="#${id!}">${text!}</a></li>`)}</ul></nav>
<main>
${summarySection(comparison, chart)}
${designSection(comparison)}
${topologySection(shown, chart)}
${barSection(comparison, chart)}
${comparison.blocks.map((block, i) => workloadSection(comparison, block, i, chart))}
${shapeSection(comparison)}
${claimSection(comparison)}
${timeSection(shown, chart)}
${environmentSection(comparison)}
${specSection(comparison)}
</main>`;
  const policy = `default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-${script.sha256}'; img-src data:; base-uri 'none'; form-action 'none'`;
  const page = html`<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark"><title>${title}</title><style>${raw(style)}</style></head>
<body>${body}
<script type="application/json" id="charts">${raw(embedJson(charts))}</script>
<script>${raw(script.text)}</script></body></html>
`;
  return page.markup;
}

function figureOf(spec: ChartSpec, wide: boolean): Markup {
  const choice =
    "variants" in spec && spec.variants.length > 1
      ? html`<label class="controls">at <select data-for="${spec.id}">${spec.variants.map((v, i) => html`<option value="${i}"${raw(i === spec.chosen ? " selected" : "")}>${v.label}</option>`)}</select></label>`
      : nothing;
  const at =
    "variants" in spec
      ? html` <span class="printed">Shown: <span class="shown">${spec.variants[spec.chosen]!.label}</span>.</span>`
      : nothing;
  return html`<figure aria-labelledby="${spec.id}-title"><figcaption id="${spec.id}-title">${spec.title}<small>${spec.unit}. ${spec.description}${at} ${choice}</small></figcaption>
<div class="chart${wide ? " wide" : ""}" data-chart="${spec.id}" role="img" aria-label="${spec.title}. The values are in the table beside it."></div></figure>`;
}

type Draw = (spec: ChartSpec | null, wide?: boolean) => Markup;

function summarySection(comparison: Comparison, chart: Draw): Markup {
  const labels = comparison.subjects.map((s) => s.label);
  const forced = comparison.forced
    ? html`<div class="warning" role="note"><strong>${forcedMark(comparison)}</strong><ul>${comparison.work.incompatible.map((d) => html`<li>${describeDifference(d, labels)}</li>`)}</ul></div>`
    : nothing;
  const standIns = [...new Set(comparison.subjects.flatMap((s) => s.context?.standIns ?? []))];
  return html`<section id="summary" aria-labelledby="summary-title"><h2 id="summary-title">Summary</h2>${forced}
${standIns.length ? html`<div class="warning" role="note">Stand-ins and emulations in these runs: ${standIns.join("; ")}</div>` : nothing}
<ul class="lead">${summary(comparison).map((s) => html`<li>${s}</li>`)}</ul>
<ul class="quiet">${comparison.subjects.slice(0, SHOWN).map((s, i) => html`<li>${key(i)}${i === 0 && comparison.subjects.length > 1 ? "Baseline: " : ""}${subjectLine(s)}</li>`)}</ul>
${comparison.subjects.length > SHOWN ? html`${chart(scatterChart(comparison), true)}<details class="later long"><summary>All ${comparison.subjects.length} runs</summary>${allRunsTable(comparison)}</details>` : nothing}</section>`;
}

/** Subjects of one topology share a picture and a matrix: told apart by what was measured. */
function topologySection(shown: Subject[], chart: Draw): Markup {
  const cards = shown.flatMap((subject, i) => {
    const picture = topologyPicture(subject, i);
    if (!picture) return [];
    return [
      html`<div class="pair"><div class="card"><h3>${key(i)}${subject.label}</h3>${picture}</div>${chart(rttChart(subject, i))}</div>
<details class="later beside"><summary>Round trips, ${subject.label}</summary>${rttTable(subject)}</details>`,
    ];
  });
  const without = shown.filter((s) => !s.context?.topology);
  return html`<section id="topology" aria-labelledby="topology-title"><h2 id="topology-title">Topology</h2>${cards}
${without.length ? html`<ul>${without.map((s) => html`<li>${s.label}: ${s.environment["sites"] ?? "topology not recorded"}</li>`)}</ul>` : nothing}</section>`;
}

function barSection(comparison: Comparison, chart: Draw): Markup {
  const { charts, threads } = barCharts(comparison);
  if (charts.length === 0) return nothing;
  const shown = comparison.subjects.slice(0, SHOWN);
  const value = (i: number, test: string, metric: "qps" | "avg") =>
    charts.flatMap((c) =>
      c.kind === "bars" && c.id.startsWith(`bars-${metric}`) && c.categories.includes(test)
        ? (c.series.find((s) => s.colour === i)?.values[c.categories.indexOf(test)] ?? [])
        : [],
    )[0];
  const tests = [...new Set(charts.flatMap((c) => (c.kind === "bars" ? c.categories : [])))];
  const drawn = (i: number) => charts.some((c) => c.kind === "bars" && c.series.some((x) => x.colour === i));
  const rows = tests.flatMap((test) =>
    shown.flatMap((s, i) =>
      !drawn(i)
        ? []
        : html`<tr${raw(i === 0 ? ' class="first"' : "")}><td>${test}</td><th scope="row">${key(i)}${s.label}</th>${(["qps", "avg"] as const).map((m) => html`<td class="n">${value(i, test, m)?.toLocaleString("en-US", { maximumFractionDigits: 2 }) ?? "-"}</td>`)}</tr>`,
    ),
  );
  return html`<section id="tests" aria-labelledby="tests-title"><h2 id="tests-title">All tests at ${threads ?? 0} threads</h2><div class="pair">${charts.map((c) => chart(c))}</div>
${table("Queries per second and mean latency by test", "", [{ text: "test" }, { text: "run" }, { text: "qps", n: true }, { text: "avg ms", n: true }], rows)}</section>`;
}

function workloadSection(comparison: Comparison, block: Block, index: number, chart: Draw): Markup {
  const evidence = evidenceLines({ ...comparison, subjects: comparison.subjects.slice(0, SHOWN) }, block);
  return html`<section id="workload-${index}" aria-labelledby="workload-${index}-title"><h2 id="workload-${index}-title">${block.key}${comparison.forced ? " (not the same work)" : ""}</h2>
<div class="pair">${sweepCharts(comparison, block).map((c) => chart(c))}</div>
${figuresTable(comparison, block)}
${evidence.length ? html`<ul>${evidence.map((e) => html`<li>${e}</li>`)}</ul>` : nothing}
${sweepTable(comparison, block)}
${costTable(comparison, block)}
${replicationTable(comparison, block)}
<div class="pair">${latencyCharts(comparison, block).map((c) => chart(c))}</div>
${percentileTable(comparison, block)}</section>`;
}

function shapeSection(comparison: Comparison): Markup {
  const { shape } = comparison;
  if (!shape) return nothing;
  return html`<section id="shape" aria-labelledby="shape-title"><h2 id="shape-title">Our shape against the published one</h2>
<p>${shape.pairs.map((p) => `${p.ours} stands for ${p.published}`).join("; ")}.</p>
${table(
  "Ratios between topologies, and growth over threads",
  "Absolute figures belong to other machines and are not judged.",
  [{ text: "workload" }, { text: "" }, { text: "published", n: true }, { text: "ours", n: true }, { text: "" }],
  shape.rows.map(
    (r) =>
      html`<tr><td>${r.workload}</td><th scope="row">${r.what}</th><td class="n">${r.published}</td><td class="n">${r.ours}</td><td>${judgement(r)}</td></tr>`,
  ),
)}
<h3>Why they differ, as far as it is on record</h3><ul>${shape.reasons.map((r) => html`<li>${r}</li>`)}</ul></section>`;
}

/** Claims of the published texts that stand in this report, judged by their own figures. */
function claimSection(comparison: Comparison): Markup {
  const labels = [
    ...comparison.subjects.filter((s) => s.kind === "published").map((s) => s.label),
    ...(comparison.shape?.pairs.map((p) => p.published) ?? []),
  ];
  const studies = new Set(labels.map((l) => l.slice("published:".length).split("/")[0]!));
  const claims = checkClaims().filter((c) => studies.has(c.study));
  if (claims.length === 0) return nothing;
  const rows = claims.map(
    (c) =>
      html`<tr><td>${c.study}</td><td class="wrap">${c.claim}</td><td${raw(["follows", "rounding"].includes(c.verdict) ? "" : ' class="bad"')}>${c.verdict}</td><td class="wrap">${c.found}</td></tr>`,
  );
  return html`<section id="claims" aria-labelledby="claims-title"><h2 id="claims-title">What the published texts claim</h2>
${table("Claims against the figures of the same text", "follows; rounding: but for the last digit; contradicted; not from these figures; not checkable: a figure is missing.", [{ text: "study" }, { text: "claim" }, { text: "verdict" }, { text: "from the figures" }], rows)}</section>`;
}

function timeSection(shown: Subject[], chart: Draw): Markup {
  const parts = shown.flatMap((subject, i) => {
    const spec = timeChart(subject, i);
    const lag = lagChart(subject, i);
    return spec
      ? [
          html`${chart(spec, true)}${lag ? chart(lag, true) : nothing}<details class="later long beside"><summary>${subject.printedIntervals ? "Intervals" : "Windows"}, ${subject.label}</summary>${windowTable(subject)}</details>`,
        ]
      : [];
  });
  return html`<section id="time" aria-labelledby="time-title"><h2 id="time-title">Over time</h2>${parts.length ? parts : html`<p>No intervals on record.</p>`}</section>`;
}

function environmentSection(comparison: Comparison): Markup {
  const { work, subjects } = comparison;
  const labels = subjects.map((s) => s.label);
  const lines = [
    ...work.unstated.map(
      (u) =>
        `not stated: ${u.what} (${u.missing.length > 4 ? `${u.missing.length} of ${subjects.length}` : u.missing.join(", ")})`,
    ),
    ...work.differences.map((d) => `${d.kind}: ${describeDifference(d, labels)}`),
  ];
  return html`<section id="environment" aria-labelledby="environment-title"><h2 id="environment-title">Environment</h2>
${subjects.length > 1 ? html`<h3>Same work?</h3><p>${work.incompatible.length === 0 ? "As far as it is stated: the same data, table options, reconnects and statements per transaction." : "No; see the top of the page."}</p><ul>${lines.map((l) => html`<li>${l}</li>`)}</ul>` : nothing}
${factsTable(comparison)}
${subjects.slice(0, SHOWN).map(hostsTable)}
<h3>Caveats</h3><ul>${caveatLines(subjects.slice(0, SHOWN)).map((c) => html`<li>${c.replace(/^note\s+/, "")}</li>`)}</ul>
<h3>How to read the figures</h3><ul>${READING.map((r) => html`<li>${r}</li>`)}<li>${floorReading(subjects)}</li></ul></section>`;
}

function specSection(comparison: Comparison): Markup {
  const indent = comparison.subjects.length > SHOWN ? 0 : 2;
  const runs = comparison.subjects.filter((s) => s.result);
  const variables = (s: Subject) =>
    Object.entries(s.result!.server?.variables ?? {})
      .map(([k, v]) => `${k} = ${v}`)
      .join("\n");
  return html`<section id="specs" aria-labelledby="specs-title"><h2 id="specs-title">Specs</h2><p>What each run was asked to do, whole: with it the run can be repeated.</p><div class="later">${runs.map((s) => html`<details class="later long"><summary>${s.label}: ${s.result!.runId}</summary><pre>${JSON.stringify(s.result!.spec, null, indent)}</pre>${indent && variables(s) ? html`<h3>Server variables</h3><pre>${variables(s)}</pre>` : nothing}</details>`)}</div></section>`;
}
