/**
 * From a chart's figures to the options of echarts. Colours come from the page's own style, so both themes have one
 * source.
 */
import type { ChartSpec, LineSeries } from "../spec.ts";

export interface Palette {
  font: string;
  text: string;
  muted: string;
  grid: string;
  surface: string;
  danger: string;
  series: string[];
}

const symbols = ["circle", "rect", "triangle", "diamond", "roundRect", "pin", "arrow", "emptyCircle"];
const dashes = ["solid", "dashed", "dotted"] as const;

type Options = Record<string, unknown>;

export function optionsFor(spec: ChartSpec, palette: Palette, variant: number, width: number): Options {
  const narrow = width < 480;
  const base = common(spec, palette, legendRows(spec, variant, width));
  switch (spec.kind) {
    case "lines":
      return { ...base, ...lines(spec, palette) };
    case "time":
      return { ...base, ...time(spec, palette, narrow, width) };
    case "percentiles":
      return { ...base, ...percentiles(spec, palette, variant) };
    case "density":
      return { ...base, ...density(spec, palette, variant) };
    case "bars":
      return { ...base, ...bars(spec, palette, narrow) };
    case "heat":
      return { ...base, ...heat(spec, palette, narrow) };
    case "scatter":
      return { ...base, ...scatter(spec, palette) };
    default:
      return spec satisfies never;
  }
}

/**
 * Legends are never cut or paged, which paper could not turn: room is left for the rows they need (about 7 px a
 * letter).
 */
function legendRows(spec: ChartSpec, variant: number, width: number): number {
  const series = "variants" in spec ? spec.variants[variant]!.series : "series" in spec ? spec.series : [];
  let rows = 1;
  let used = 0;
  for (const { name } of series) {
    const item = name.length * 7 + 52;
    if (used > 0 && used + item > width) [rows, used] = [rows + 1, 0];
    used += item;
  }
  return rows;
}

function common(spec: ChartSpec, palette: Palette, rows: number): Options {
  return {
    animation: false,
    backgroundColor: "transparent",
    color: palette.series,
    textStyle: { color: palette.text, fontFamily: palette.font, fontSize: 12 },
    grid: {
      left: 8,
      right: 16,
      top: (spec.kind === "time" ? 26 : 18) + rows * 24,
      bottom: spec.kind === "time" ? 28 : 8,
      outerBoundsMode: "same",
      outerBoundsContain: "all",
    },
    legend: {
      type: "plain",
      top: 0,
      left: 0,
      right: 0,
      textStyle: { color: palette.text },
      itemWidth: 22,
      itemGap: 14,
    },
    tooltip: {
      trigger: "axis",
      confine: true,
      renderMode: "richText",
      backgroundColor: palette.surface,
      borderColor: palette.grid,
      textStyle: { color: palette.text },
      valueFormatter: short,
    },
  };
}

function short(value: unknown): string {
  if (typeof value !== "number") return "-";
  const size = Math.abs(value);
  return value.toLocaleString("en-US", { maximumFractionDigits: size >= 1000 ? 0 : size >= 10 ? 1 : 3 });
}

const axis = (palette: Palette, extra: Options): Options => ({
  axisLine: { lineStyle: { color: palette.muted } },
  axisTick: { lineStyle: { color: palette.muted } },
  axisLabel: { color: palette.text, hideOverlap: true },
  splitLine: { lineStyle: { color: palette.grid } },
  nameTextStyle: { color: palette.text },
  ...extra,
});

const style = (palette: Palette, index: number): Options => ({
  symbol: symbols[index % symbols.length],
  symbolSize: 8,
  itemStyle: { color: palette.series[index % palette.series.length] },
  lineStyle: {
    color: palette.series[index % palette.series.length],
    width: 2,
    type: dashes[Math.floor(index / 2) % dashes.length],
  },
});

function lines(spec: ChartSpec & { kind: "lines" }, palette: Palette): Options {
  const categories = spec.threads.map(String);
  return {
    xAxis: axis(palette, {
      type: "category",
      data: categories,
      name: "threads",
      nameLocation: "middle",
      nameGap: 24,
      splitLine: { show: false },
    }),
    yAxis: axis(
      palette,
      spec.logarithmic
        ? {
            ...logarithmic(
              spec.series.flatMap((s) =>
                s.points.flatMap((p) => (p ? [Math.max(p.y - (p.half ?? 0), p.y / 2), p.y + (p.half ?? 0)] : [])),
              ),
            ),
            axisLabel: { color: palette.text, formatter: short },
          }
        : { type: "value", min: 0, axisLabel: { color: palette.text, formatter: short } },
    ),
    series: spec.series.flatMap((s, i) => [
      {
        type: "line",
        name: s.name,
        data: s.points.map((p) => (p ? p.y : null)),
        connectNulls: false,
        ...style(palette, s.colour),
      },
      ...whiskers(s, i, spec, palette),
    ]),
  };
}

/** Powers of two where powers of ten would leave two ticks; bounds close to the figures. */
function logarithmic(values: readonly number[]): Options {
  const positive = values.filter((v) => v > 0);
  const [low, high] = [Math.min(...positive), Math.max(...positive)];
  if (!(high > low) || high / low > 300) return { type: "log" };
  return { type: "log", logBase: 2, min: 2 ** Math.floor(Math.log2(low)), max: 2 ** Math.ceil(Math.log2(high)) };
}

interface Plane {
  coordSys: { y: number; height: number };
}
interface Drawing {
  value(dimension: number): number;
  coord(point: [number, number]): [number, number];
}

/** 95 % intervals as whiskers; the colour and a small shift keep those of two series apart. */
function whiskers(series: LineSeries, index: number, spec: ChartSpec & { kind: "lines" }, palette: Palette): Options[] {
  // An interval that reaches to nothing or below runs into the axis, without the bar that would say it ended there.
  const data = series.points.flatMap((p, i) =>
    p && p.half !== null && p.half > 0 ? [[i, p.y - p.half > 0 ? p.y - p.half : -1, p.y + p.half]] : [],
  );
  if (data.length === 0) return [];
  const shift = (index - (spec.series.length - 1) / 2) * 4;
  const stroke = palette.series[series.colour % palette.series.length];
  return [
    {
      type: "custom",
      name: series.name,
      silent: true,
      tooltip: { show: false },
      data,
      encode: { x: 0, y: [1, 2] },
      z: 3,
      renderItem: ({ coordSys }: Plane, api: Drawing) => {
        const [x, high] = api.coord([api.value(0), api.value(2)]);
        const bottom = coordSys.y + coordSys.height,
          end = api.value(1) < 0 ? Infinity : api.coord([api.value(0), api.value(1)])[1];
        const open = end > bottom,
          low = open ? bottom : end;
        const at = x + shift;
        const line = (x1: number, y1: number, x2: number, y2: number) => ({
          type: "line",
          shape: { x1, y1, x2, y2 },
          style: { stroke, lineWidth: 1.5 },
        });
        return {
          type: "group",
          children: [
            line(at, low, at, high),
            ...(open ? [] : [line(at - 4, low, at + 4, low)]),
            line(at - 4, high, at + 4, high),
          ],
        };
      },
    },
  ];
}

function time(spec: ChartSpec & { kind: "time" }, palette: Palette, narrow: boolean, width: number): Options {
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
      axis(palette, { type: "value", min: 0, name: "tps", axisLabel: { color: palette.text, formatter: short } }),
      axis(palette, {
        ...logarithmic(spec.series.filter((s) => s.axis === 1).flatMap((s) => s.points.map(([, v]) => v ?? 0))),
        name: "p95 ms",
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
    series: spec.series.map((s) => ({
      type: s.name === "errors" ? "scatter" : "line",
      name: s.name,
      yAxisIndex: s.axis,
      showSymbol: s.name === "errors",
      symbol: s.name === "errors" ? "triangle" : "none",
      symbolSize: 7,
      data: s.points,
      connectNulls: false,
      itemStyle: { color: colours[s.name] },
      lineStyle: { color: colours[s.name], width: 1.5, type: s.name === "p95" ? "dashed" : "solid" },
      ...(s.name === "tps"
        ? { markArea: { silent: true, itemStyle: { color: palette.danger, opacity: 0.3 }, data: outages } }
        : {}),
      ...(s.name === "p95" && groups.length > 1 ? { markArea: { silent: true, data: groups } } : {}),
    })),
  };
}

/** 1 / (1 - q) spreads the tail: 90, 99 and 99.9 per cent are equally far apart. */
function percentiles(spec: Extract<ChartSpec, { variants: unknown }>, palette: Palette, variant: number): Options {
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

function density(spec: Extract<ChartSpec, { variants: unknown }>, palette: Palette, variant: number): Options {
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

function bars(spec: ChartSpec & { kind: "bars" }, palette: Palette, narrow: boolean): Options {
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

function heat(spec: ChartSpec & { kind: "heat" }, palette: Palette, narrow: boolean): Options {
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

function scatter(spec: ChartSpec & { kind: "scatter" }, palette: Palette): Options {
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
