/** Figures over thread counts, with their intervals. */
import type { ChartSpec, LineSeries } from "../spec.ts";
import type { Options, Palette } from "./style.ts";
import { axis, logarithmic, short, style } from "./style.ts";

export function lines(spec: ChartSpec & { kind: "lines" }, palette: Palette): Options {
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

export interface Plane {
  coordSys: { y: number; height: number };
}

export interface Drawing {
  value(dimension: number): number;
  coord(point: [number, number]): [number, number];
}

/** 95 % intervals as whiskers; the colour and a small shift keep those of two series apart. */
export function whiskers(
  series: LineSeries,
  index: number,
  spec: ChartSpec & { kind: "lines" },
  palette: Palette,
): Options[] {
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
