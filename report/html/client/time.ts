/** Figures over the time of a window. */
import type { ChartSpec } from "../spec.ts";
import type { Options, Palette } from "./style.ts";
import { axis, logarithmic, short } from "./style.ts";

export function time(spec: ChartSpec & { kind: "time" }, palette: Palette, narrow: boolean, width: number): Options {
  const end = Math.max(0, ...spec.series.flatMap((s) => s.points.map(([t]) => t)));
  // The label stands beside the shade, on the side that has room.
  const outages = spec.outages.map((o) => [
    {
      xAxis: o.from,
      name: narrow ? "" : o.label,
      label: {
        color: palette.text,
        position: o.from > end / 2 ? "left" : "right",
        textBorderColor: palette.surface,
        textBorderWidth: 3,
      },
    },
    { xAxis: o.to },
  ]);
  // About 7 px a letter: a name wider than its stretch would run into the next one's.
  const fits = (g: { from: number; to: number; label: string }): boolean =>
    ((g.to - g.from) / Math.max(end, 1)) * (width - 90) > g.label.length * 6.5;
  const groups = spec.groups.map((g, i) => [
    {
      xAxis: g.from,
      name: fits(g) ? g.label : "",
      itemStyle: { color: palette.muted, opacity: i % 2 === 0 ? 0.1 : 0 },
      label: { color: palette.muted, position: "insideTop", distance: 2 },
    },
    { xAxis: g.to },
  ]);
  const [left, right] = spec.axes ?? ["tps", "p95 ms"];
  // The first line carries the outages, the last one the stretches of a workload.
  const carries = (i: number): { outages: boolean; groups: boolean } => ({
    outages: i === 0 && outages.length > 0,
    groups: groups.length > 1 && spec.series[i]!.name === (spec.axes === undefined ? "p95" : spec.series.at(-1)!.name),
  });
  const colours: Record<string, string | undefined> = {
    tps: palette.series[0],
    p95: palette.series[1],
    errors: palette.danger,
  };
  return {
    xAxis: axis(palette, {
      type: "value",
      name: "seconds since the first window",
      nameLocation: "middle",
      nameGap: 24,
      min: 0,
      max: Math.ceil(end),
      splitLine: { show: false },
    }),
    yAxis: [
      axis(palette, { type: "value", min: 0, name: left, axisLabel: { color: palette.text, formatter: short } }),
      axis(palette, {
        ...logarithmic(spec.series.filter((s) => s.axis === 1).flatMap((s) => s.points.map(([, v]) => v ?? 0))),
        name: right,
        position: "right",
        axisLabel: { color: palette.text, formatter: short },
        splitLine: { show: false },
      }),
    ],
    dataZoom: [
      { type: "inside" },
      {
        type: "slider",
        height: 14,
        bottom: 2,
        textStyle: { color: palette.text },
        borderColor: palette.grid,
        backgroundColor: "transparent",
        fillerColor: `${palette.muted}33`,
        handleStyle: { color: palette.muted },
        moveHandleSize: 4,
        dataBackground: { lineStyle: { opacity: 0 }, areaStyle: { opacity: 0 } },
        selectedDataBackground: { lineStyle: { opacity: 0 }, areaStyle: { opacity: 0 } },
      },
    ],
    series: spec.series.map((s, i) => ({
      type: s.name === "errors" ? "scatter" : "line",
      name: s.name,
      yAxisIndex: s.axis,
      showSymbol: s.name === "errors",
      symbol: s.name === "errors" ? "triangle" : "none",
      symbolSize: 7,
      data: s.points,
      connectNulls: false,
      itemStyle: { color: colours[s.name] ?? palette.series[i % palette.series.length] },
      lineStyle: {
        color: colours[s.name] ?? palette.series[i % palette.series.length],
        width: 1.5,
        type: s.name === "p95" ? "dashed" : "solid",
      },
      ...(carries(i).outages
        ? { markArea: { silent: true, itemStyle: { color: palette.danger, opacity: 0.3 }, data: outages } }
        : {}),
      ...(carries(i).groups ? { markArea: { silent: true, data: groups } } : {}),
    })),
  };
}
