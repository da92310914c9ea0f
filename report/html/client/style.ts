/** What the charts share: colours, symbols, axes, legend. */
import type { ChartSpec } from "../spec.ts";

export interface Palette {
  font: string;
  text: string;
  muted: string;
  grid: string;
  surface: string;
  danger: string;
  series: string[];
}

export const symbols = ["circle", "rect", "triangle", "diamond", "roundRect", "pin", "arrow", "emptyCircle"];

export const dashes = ["solid", "dashed", "dotted"] as const;

export type Options = Record<string, unknown>;

/**
 * Legends are never cut or paged, which paper could not turn: room is left for the rows they need (about 7 px a
 * letter).
 */
export function legendRows(spec: ChartSpec, variant: number, width: number): number {
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

export function common(spec: ChartSpec, palette: Palette, rows: number): Options {
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

export function short(value: unknown): string {
  if (typeof value !== "number") return "-";
  const size = Math.abs(value);
  return value.toLocaleString("en-US", { maximumFractionDigits: size >= 1000 ? 0 : size >= 10 ? 1 : 3 });
}

export const axis = (palette: Palette, extra: Options): Options => ({
  axisLine: { lineStyle: { color: palette.muted } },
  axisTick: { lineStyle: { color: palette.muted } },
  axisLabel: { color: palette.text, hideOverlap: true },
  splitLine: { lineStyle: { color: palette.grid } },
  nameTextStyle: { color: palette.text },
  ...extra,
});

export const style = (palette: Palette, index: number): Options => ({
  symbol: symbols[index % symbols.length],
  symbolSize: 8,
  itemStyle: { color: palette.series[index % palette.series.length] },
  lineStyle: {
    color: palette.series[index % palette.series.length],
    width: 2,
    type: dashes[Math.floor(index / 2) % dashes.length],
  },
});

/** Powers of two where powers of ten would leave two ticks; bounds close to the figures. */
export function logarithmic(values: readonly number[]): Options {
  const positive = values.filter((v) => v > 0);
  const [low, high] = [Math.min(...positive), Math.max(...positive)];
  if (!(high > low) || high / low > 300) return { type: "log" };
  return { type: "log", logBase: 2, min: 2 ** Math.floor(Math.log2(low)), max: 2 ** Math.ceil(Math.log2(high)) };
}
