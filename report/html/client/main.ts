/// <reference lib="dom" />
/** Runs in the page: draws every chart when it comes into view, and again when theme, width or medium change. */
import { BarChart, CustomChart, HeatmapChart, LineChart, ScatterChart } from "echarts/charts";
import {
  DataZoomComponent,
  GridComponent,
  LegendComponent,
  MarkAreaComponent,
  TooltipComponent,
  VisualMapComponent,
} from "echarts/components";
import type { EChartsType } from "echarts/core";
import { init, use } from "echarts/core";
import { SVGRenderer } from "echarts/renderers";
import type { ChartSpec } from "../spec.ts";
import type { Palette } from "./options.ts";
import { optionsFor } from "./options.ts";

use([
  BarChart,
  CustomChart,
  HeatmapChart,
  LineChart,
  ScatterChart,
  DataZoomComponent,
  GridComponent,
  LegendComponent,
  MarkAreaComponent,
  TooltipComponent,
  VisualMapComponent,
  SVGRenderer,
]);

interface Drawn {
  spec: ChartSpec;
  holder: HTMLElement;
  chart: EChartsType;
  variant: number;
}

const specs = new Map(
  (JSON.parse(document.getElementById("charts")!.textContent!) as ChartSpec[]).map((s) => [s.id, s]),
);
const drawn = new Map<string, Drawn>();

function palette(): Palette {
  const style = getComputedStyle(document.documentElement);
  const read = (name: string) => style.getPropertyValue(name).trim();
  return {
    font: getComputedStyle(document.body).fontFamily,
    text: read("--text"),
    muted: read("--muted"),
    grid: read("--grid"),
    surface: read("--surface"),
    danger: read("--danger"),
    series: Array.from({ length: 8 }, (_, i) => read(`--series-${i}`)),
  };
}

function paint(d: Drawn): void {
  d.chart.resize();
  d.chart.setOption(optionsFor(d.spec, palette(), d.variant, d.holder.clientWidth), { notMerge: true });
}

function draw(holder: HTMLElement): void {
  const spec = specs.get(holder.dataset["chart"]!);
  if (!spec || drawn.has(spec.id)) return;
  const d: Drawn = {
    spec,
    holder,
    chart: init(holder, null, { renderer: "svg" }),
    variant: "chosen" in spec ? spec.chosen : 0,
  };
  drawn.set(spec.id, d);
  paint(d);
  // The drawing is decoration for a reader who hears the page: the figure has a name and its table holds the values.
  holder.querySelector("svg")?.setAttribute("aria-hidden", "true");
}

function drawAll(): void {
  for (const holder of holders) draw(holder);
}

const holders = [...document.querySelectorAll<HTMLElement>("[data-chart]")];
const seen = new IntersectionObserver(
  (entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      seen.unobserve(entry.target);
      draw(entry.target as HTMLElement);
    }
  },
  { rootMargin: "300px" },
);
for (const holder of holders) seen.observe(holder);

const width = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    const d = drawn.get((target as HTMLElement).dataset["chart"]!);
    if (d && Math.abs(d.chart.getWidth() - d.holder.clientWidth) > 1 && d.holder.clientWidth > 0) paint(d);
  }
});
for (const holder of holders) width.observe(holder);

for (const select of document.querySelectorAll<HTMLSelectElement>("select[data-for]")) {
  select.addEventListener("change", () => {
    for (const id of select.dataset["for"]!.split(" ")) {
      const holder = holders.find((h) => h.dataset["chart"] === id);
      if (holder) draw(holder);
      const d = drawn.get(id);
      if (!d) continue;
      d.variant = Number(select.value);
      const shown = d.holder.closest("figure")?.querySelector(".shown");
      if (shown) shown.textContent = select.selectedOptions[0]!.textContent;
      paint(d);
    }
  });
}

const repaint = () => {
  for (const d of drawn.values()) paint(d);
};
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", repaint);
matchMedia("print").addEventListener("change", () => {
  drawAll();
  repaint();
});
// Everything has to be there before the printer looks: charts not yet seen, and the tables that belong to them.
const beside = [...document.querySelectorAll<HTMLDetailsElement>("details.beside:not([open])")];
addEventListener("beforeprint", () => {
  for (const d of beside) d.dataset["closed"] = String(!d.open);
  for (const d of beside) d.open = true;
  drawAll();
});
addEventListener("afterprint", () => {
  for (const d of beside) d.open = d.dataset["closed"] !== "true";
});
document.documentElement.dataset["ready"] = "true";
