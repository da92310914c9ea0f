/** From a comparison to the figures of its charts. */

import type { StepResult } from "../../workloads/contract.ts";
import type { Block, Comparison } from "../compare/compare.ts";
import type { Point, Subject } from "../model.ts";
import { unitKey } from "../model.ts";
import { halfWidth95 } from "../stats.ts";
import { densityCurve, mergedHistogram, percentileCurve } from "./distribution.ts";
import type { ChartSpec, LineSeries } from "./spec.ts";

/**
 * Beyond this many subjects lines can no longer be told apart: charts show the first ones, a scatter shows all
 * averages.
 */
export const SHOWN = 8;
/** Tests per bar chart, as published study 002 draws them. */
const TESTS_PER_CHART = 5;

const slug = (text: string) => text.replace(/[^a-zA-Z0-9]+/g, "-").toLowerCase();

/** Throughput and p95 over thread counts. */
export function sweepCharts(comparison: Comparison, block: Block): ChartSpec[] {
  const series = (metric: "tps" | "p95"): LineSeries[] =>
    comparison.subjects.slice(0, SHOWN).flatMap((subject, i) => {
      const points = block.rows.map((row) => {
        const cell = row.cells.find((c) => c.subject === i);
        const e = cell?.point[metric];
        return e
          ? {
              x: row.threads,
              y: e.mean,
              half: halfWidth95(e),
              ...(cell!.point.completeWindows === 0 ? { note: "cut short" } : {}),
            }
          : null;
      });
      return points.some((p) => p !== null) ? [{ name: subject.label, colour: i, points }] : [];
    });
  const threads = block.rows.map((r) => r.threads);
  const all: ChartSpec[] = [
    {
      kind: "lines",
      id: `tps-${slug(block.key)}`,
      title: `Throughput over threads, ${block.key}`,
      unit: "transactions per second",
      logarithmic: false,
      threads,
      series: series("tps"),
      description: "Mean of the repeats; whiskers are the 95 % interval where there are repeats.",
    },
    {
      kind: "lines",
      id: `p95-${slug(block.key)}`,
      title: `95th percentile of latency over threads, ${block.key}`,
      unit: "ms, logarithmic",
      logarithmic: true,
      threads,
      series: series("p95"),
      description: "Mean of the repeats' percentiles; whiskers are the 95 % interval where there are repeats.",
    },
  ];
  return all.filter((c) => c.kind === "lines" && c.series.length > 0);
}

export function windowsOf(subject: Subject, key: string, threads: number): StepResult[] {
  return (subject.result?.steps ?? []).filter((w) => {
    const step = subject.result!.spec.steps[w.step];
    return w.threads === threads && unitKey(w.workload, step?.options ?? {}, step?.rate?.perSecond) === key;
  });
}

/** Percentile plot and distribution of a workload, one variant per thread count. */
export function latencyCharts(comparison: Comparison, block: Block): ChartSpec[] {
  const variants = block.rows.flatMap((row) => {
    const curves = comparison.subjects.slice(0, SHOWN).flatMap((subject, i) => {
      const merged = mergedHistogram(windowsOf(subject, block.key, row.threads).filter((w) => w.complete));
      return merged
        ? [{ name: subject.label, colour: i, percentiles: percentileCurve(merged), density: densityCurve(merged) }]
        : [];
    });
    return curves.length > 0 ? [{ label: `${row.threads} thread${row.threads === 1 ? "" : "s"}`, curves }] : [];
  });
  if (variants.length === 0) return [];
  const most = Math.max(...variants.map((v) => v.curves.length));
  const chosen = variants.findLastIndex((v) => v.curves.length === most);
  const of = (which: "percentiles" | "density") =>
    variants.map((v) => ({
      label: v.label,
      series: v.curves.map((c) => ({ name: c.name, colour: c.colour, points: c[which] })),
    }));
  return [
    {
      kind: "percentiles",
      id: `percentiles-${slug(block.key)}`,
      title: `Latency by percentile, ${block.key}`,
      unit: "ms, logarithmic",
      chosen,
      variants: of("percentiles"),
      description: "All complete windows of a thread count together; to the right, the rarer and slower transactions.",
    },
    {
      kind: "density",
      id: `distribution-${slug(block.key)}`,
      title: `Distribution of latency, ${block.key}`,
      unit: "per cent of transactions",
      chosen,
      variants: of("density"),
      description:
        "Share of the transactions per bin; bins are equally wide in the logarithm, twenty to a factor of ten.",
    },
  ];
}

/** QPS and mean latency as bars over tests, at the highest thread count that every test shares. */
export function barCharts(comparison: Comparison): { charts: ChartSpec[]; threads: number | null } {
  const blocks = comparison.blocks.filter((b) => b.rows.some((r) => r.cells.some((c) => c.point.qps || c.point.tps)));
  const shared = blocks
    .map((b) => new Set(b.rows.map((r) => r.threads)))
    .reduce<Set<number> | null>((a, b) => (a ? a.intersection(b) : b), null);
  const threads = shared && shared.size > 0 ? Math.max(...shared) : null;
  if (threads === null || blocks.length < 2) return { charts: [], threads: null };
  const charts: ChartSpec[] = [];
  for (const [metric, title, unit] of [
    ["qps", "Queries per second", "queries per second"],
    ["avg", "Mean latency", "ms"],
  ] as const) {
    for (let from = 0; from < blocks.length; from += TESTS_PER_CHART) {
      const some = blocks.slice(from, from + TESTS_PER_CHART);
      const series = comparison.subjects
        .slice(0, SHOWN)
        .map((subject, i) => ({
          name: subject.label,
          colour: i,
          values: some.map((b) => valueAt(b, i, threads, metric)),
        }))
        .filter((s) => s.values.some((v) => v !== null));
      if (series.length > 0) {
        const part =
          blocks.length > TESTS_PER_CHART
            ? `, tests ${from + 1} to ${Math.min(from + TESTS_PER_CHART, blocks.length)}`
            : "";
        charts.push({
          kind: "bars",
          id: `bars-${metric}-${from}`,
          title: `${title} by test, ${threads} threads${part}`,
          unit,
          categories: some.map((b) => b.key),
          series,
          description: "Mean of the repeats.",
        });
      }
    }
  }
  return { charts, threads };
}

function valueAt(block: Block, subject: number, threads: number, metric: "qps" | "avg"): number | null {
  const point: Point | undefined = block.rows
    .find((r) => r.threads === threads)
    ?.cells.find((c) => c.subject === subject)?.point;
  return point?.[metric]?.mean ?? null;
}

export function rttChart(subject: Subject, index: number): ChartSpec | null {
  const matrix = (subject.context?.rttMatrix ?? []).filter((m) => m.rttMs !== null);
  if (matrix.length === 0) return null;
  const order = (subject.context?.topology?.nodes ?? []).map((n) => n.name);
  const nodes = [...new Set(matrix.flatMap((m) => [m.from, m.to]))].sort((a, b) => order.indexOf(a) - order.indexOf(b));
  return {
    kind: "heat",
    id: `rtt-${index}`,
    title: `Round-trip time between nodes, ${subject.label}`,
    unit: "ms",
    nodes,
    cells: matrix.map((m) => [nodes.indexOf(m.to), nodes.indexOf(m.from), Math.round(m.rttMs!.min * 1000) / 1000]),
    description: "Least of the pings before the run; mean and highest are in the table.",
  };
}

/** With many runs: one dot per run and workload, in the order given. */
export function scatterChart(comparison: Comparison): ChartSpec | null {
  if (comparison.subjects.length <= SHOWN) return null;
  return {
    kind: "scatter",
    id: "all-averages",
    title: "Average throughput of every run",
    unit: "transactions per second, average over the sweep",
    categories: comparison.subjects.map((s) => s.label),
    series: comparison.blocks
      .slice(0, SHOWN)
      .map((b, i) => ({ name: b.key, colour: i, values: b.sweeps.map((s) => s?.averageTps ?? null) })),
    description: `The other charts show the first ${SHOWN} of ${comparison.subjects.length} runs.`,
  };
}
