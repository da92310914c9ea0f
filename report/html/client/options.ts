/**
 * From a chart's figures to the options of echarts. Colours come from the page's own style, so both themes have one
 * source.
 */
import type { ChartSpec } from "../spec.ts";
import { lines } from "./lines.ts";
import { bars, heat, scatter } from "./marks.ts";
import { density, percentiles } from "./percentiles.ts";
import type { Options, Palette } from "./style.ts";
import { common, legendRows } from "./style.ts";
import { time } from "./time.ts";

export type { Palette } from "./style.ts";

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
