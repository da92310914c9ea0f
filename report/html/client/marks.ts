/** Bars, heat maps and points. */
import type { ChartSpec } from "../spec.ts";
import type { Options, Palette } from "./style.ts";
import { axis, common, short, style } from "./style.ts";

export function bars(spec: ChartSpec & { kind: "bars" }, palette: Palette, narrow: boolean): Options {
  return {
    tooltip: { ...(common(spec, palette, 1)["tooltip"] as Options), axisPointer: { type: "shadow" } },
    xAxis: axis(palette, {
      type: "category",
      data: spec.categories,
      axisLabel: {
        color: palette.text,
        interval: 0,
        rotate: narrow ? 35 : 0,
        formatter: (v: string) => v.replace(/^oltp_/, ""),
      },
    }),
    yAxis: axis(palette, { type: "value", min: 0, axisLabel: { color: palette.text, formatter: short } }),
    series: spec.series.map((s) => ({
      type: "bar",
      name: s.name,
      data: s.values,
      itemStyle: {
        color: palette.series[s.colour % palette.series.length],
        borderColor: palette.surface,
        borderWidth: 1,
      },
    })),
  };
}

export function heat(spec: ChartSpec & { kind: "heat" }, palette: Palette, narrow: boolean): Options {
  const values = spec.cells.map(([, , v]) => v);
  return {
    legend: { show: false },
    grid: { left: 8, right: 16, top: 8, bottom: 56, outerBoundsMode: "same", outerBoundsContain: "all" },
    tooltip: {
      ...(common(spec, palette, 1)["tooltip"] as Options),
      trigger: "item",
      formatter: (p: { value: [number, number, number] }) =>
        `${spec.nodes[p.value[1]]} to ${spec.nodes[p.value[0]]}: ${short(p.value[2])} ms`,
    },
    xAxis: axis(palette, {
      type: "category",
      data: spec.nodes,
      splitLine: { show: false },
      axisLine: { show: false },
      axisTick: { show: false },
      axisLabel: { color: palette.text, rotate: narrow ? 45 : 0 },
    }),
    yAxis: axis(palette, {
      type: "category",
      data: spec.nodes,
      inverse: true,
      splitLine: { show: false },
      axisLine: { show: false },
      axisTick: { show: false },
    }),
    visualMap: {
      show: Math.max(...values) > Math.min(...values),
      min: 0,
      max: Math.max(...values),
      calculable: false,
      orient: "horizontal",
      left: "center",
      bottom: 0,
      precision: 2,
      text: [`${short(Math.max(...values))} ms`, "0"],
      textStyle: { color: palette.text },
      inRange: { color: ["#cfe8f7", "#5aa9d6", "#0b4f8a"] },
    },
    series: [
      {
        type: "heatmap",
        data: spec.cells.map(([x, y, v]) => ({
          value: [x, y, v],
          // Dark figures on the light end of the scale and light ones on the dark end.
          label: {
            show: true,
            formatter: short(v),
            color: v > 0.6 * Math.max(...values) ? "#ffffff" : "#10222e",
            textBorderWidth: 0,
          },
        })),
        itemStyle: { borderColor: palette.surface, borderWidth: 2 },
      },
    ],
  };
}

export function scatter(spec: ChartSpec & { kind: "scatter" }, palette: Palette): Options {
  return {
    tooltip: { ...(common(spec, palette, 1)["tooltip"] as Options), trigger: "item" },
    xAxis: axis(palette, { type: "category", data: spec.categories, splitLine: { show: false } }),
    yAxis: axis(palette, { type: "value", min: 0, axisLabel: { color: palette.text, formatter: short } }),
    series: spec.series.map((s) => ({
      type: "scatter",
      name: s.name,
      data: s.values,
      ...style(palette, s.colour),
      symbolSize: 5,
      large: true,
    })),
  };
}
