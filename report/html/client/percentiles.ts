/** Distributions of latencies. */
import type { ChartSpec } from "../spec.ts";
import type { Options, Palette } from "./style.ts";
import { axis, common, logarithmic, short, style } from "./style.ts";

/** 1 / (1 - q) spreads the tail: 90, 99 and 99.9 per cent are equally far apart. */
export function percentiles(
  spec: Extract<ChartSpec, { variants: unknown }>,
  palette: Palette,
  variant: number,
): Options {
  const nines = (q: number) => 1 / (1 - q);
  const label = (v: number) => `${Number((100 - 100 / v).toPrecision(6))} %`;
  return {
    xAxis: axis(palette, {
      type: "log",
      min: 1,
      name: "percentile",
      nameLocation: "middle",
      nameGap: 24,
      axisLabel: { color: palette.text, formatter: label, hideOverlap: true },
    }),
    yAxis: axis(palette, {
      ...logarithmic(spec.variants[variant]!.series.flatMap((s) => s.points.map(([, v]) => v))),
      axisLabel: { color: palette.text, formatter: short },
    }),
    tooltip: {
      ...(common(spec, palette, 1)["tooltip"] as Options),
      axisPointer: { label: { formatter: (p: { value: number }) => label(p.value) } },
    },
    series: spec.variants[variant]!.series.map((s) => ({
      type: "line",
      name: s.name,
      data: s.points.map(([q, v]) => [nines(q), v]),
      ...style(palette, s.colour),
      symbolSize: 5,
    })),
  };
}

export function density(spec: Extract<ChartSpec, { variants: unknown }>, palette: Palette, variant: number): Options {
  return {
    xAxis: axis(palette, {
      ...logarithmic(spec.variants[variant]!.series.flatMap((s) => s.points.map(([v]) => v))),
      name: "latency, ms",
      nameLocation: "middle",
      nameGap: 24,
      axisLabel: { color: palette.text, formatter: short, hideOverlap: true },
      splitLine: { show: false },
    }),
    yAxis: axis(palette, {
      type: "value",
      min: 0,
      axisLabel: { color: palette.text, formatter: (v: number) => `${v} %` },
    }),
    series: spec.variants[variant]!.series.map((s) => ({
      type: "line",
      name: s.name,
      data: s.points,
      step: "middle",
      areaStyle: { opacity: 0.12, color: palette.series[s.colour % palette.series.length] },
      ...style(palette, s.colour),
      symbol: "none",
    })),
  };
}
