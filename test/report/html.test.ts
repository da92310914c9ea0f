import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { build, decodeFromCompressedBase64, encodeIntoCompressedBase64 } from "hdr-histogram-js";
import { browserReady, visit } from "../../harness/browser.ts";
import type { SyntheticOptions } from "../../harness/synthetic.ts";
import { syntheticResult } from "../../harness/synthetic.ts";
import type { Comparison } from "../../report/compare/compare.ts";
import { compare } from "../../report/compare/compare.ts";
import { optionsFor } from "../../report/html/client/options.ts";
import { densityCurve, mergedHistogram, percentileCurve } from "../../report/html/distribution.ts";
import { embedJson, escape } from "../../report/html/escape.ts";
import { renderReport } from "../../report/html/report.ts";
import type { ChartSpec } from "../../report/html/spec.ts";
import { percentileTable } from "../../report/html/tables.ts";
import { subjectOf } from "../../report/model.ts";
import { findPublished } from "../../report/published/index.ts";
import { publishedSubject } from "../../report/published/set.ts";

const HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\u2028`${1}`";

let folder: string;
let missing: string | null;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), "meshbench-report-"));
  missing = await browserReady();
});
after(() => rm(folder, { recursive: true, force: true }));

const subject = (label: string, options: SyntheticOptions = {}) =>
  subjectOf(syntheticResult({ stack: "s", threads: [1, 4, 16], seconds: 8, ...options }), label, `${label}.json`);

async function written(name: string, comparison: Comparison): Promise<string> {
  const file = join(folder, `${name}.html`);
  await writeFile(file, await renderReport(comparison, { now: new Date("2026-01-02T03:04:05Z") }));
  return file;
}

const small = () =>
  compare(
    [
      subject("near", { rttMs: 0, costPerHour: 0.2 }),
      subject("far", { seed: 2, outageSeconds: 2 }),
      publishedSubject(findPublished("000/hybrid")[0]!),
    ],
    {
      against: findPublished("000").map(publishedSubject),
      match: new Map([
        ["near", "aws-only"],
        ["far", "hybrid"],
      ]),
    },
  );

/** The least number of elements that the figures of a chart need. */
function marksOf(spec: ChartSpec): number {
  const sum = (counts: number[]) => counts.reduce((a, b) => a + b, 0);
  switch (spec.kind) {
    case "lines":
      return sum(spec.series.map((s) => s.points.filter((p) => p !== null).length));
    case "bars":
    case "scatter":
      return sum(spec.series.map((s) => s.values.filter((v) => v !== null).length));
    case "heat":
      return spec.cells.length;
    case "percentiles":
      return sum(spec.variants[spec.chosen]!.series.map((s) => s.points.length));
    case "density":
      return spec.variants[spec.chosen]!.series.length;
    case "time":
      return spec.series.filter((s) => s.points.length > 0).length;
    default:
      return spec satisfies never;
  }
}

test("escaping leaves no markup, and JSON cannot end its script element", () => {
  assert.doesNotMatch(escape(HOSTILE), /[<>"'`]/);
  const json = embedJson({ name: HOSTILE });
  assert.doesNotMatch(json, /<|\u2028/);
  assert.equal((JSON.parse(json) as { name: string }).name, HOSTILE);
});

test("a page of hostile names holds exactly the two scripts and no element of theirs", async () => {
  const hostile = subject(HOSTILE, { note: HOSTILE, incomplete: HOSTILE });
  const page = await renderReport(compare([hostile]));
  assert.equal(page.match(/<script/g)?.length, 2);
  assert.equal(page.match(/<\/script/g)?.length, 2);
  assert.doesNotMatch(page.replace(/<script[\s\S]*?<\/script>/g, ""), /<img|onerror=(?!alert\(2\)&#62;)/);
});

test("the page names no address to load from", async () => {
  const page = (await renderReport(small())).replace(/<script>[\s\S]*?<\/script>/g, "");
  assert.doesNotMatch(page, /\s(?:src|href)="(?!#)/);
  assert.doesNotMatch(page, /@import|url\(/);
});

test("percentiles and density of the merged histogram are those of the recorded values", () => {
  const windows = syntheticResult({ threads: [4], workloads: ["oltp_read_only"], repeats: 3 }).steps;
  const merged = mergedHistogram(windows)!;
  assert.equal(
    merged.totalCount,
    windows.reduce((n, w) => n + decodeFromCompressedBase64(w.histogram!).totalCount, 0),
  );
  const curve = new Map(percentileCurve(merged));
  assert.equal(curve.get(0.95), merged.getValueAtPercentile(95) / 1000);
  assert.equal(curve.has(0.99999), false, "6,000 values say nothing about the 99.999th percentile");
  const density = densityCurve(merged);
  assert.ok(Math.abs(density.reduce((s, [, share]) => s + share, 0) - 100) < 1e-9);
  const median = merged.getValueAtPercentile(50) / 1000;
  const below = density.filter(([ms]) => ms < median).reduce((s, [, share]) => s + share, 0);
  assert.ok(Math.abs(below - 50) < 15, `half lies below the median, give or take a bin: ${below}`);
  assert.equal(mergedHistogram([{ ...windows[0]!, histogram: "bm9uc2Vuc2U=" }]), null);
});

test("a percentile that takes more transactions than there were is a dash", () => {
  const row = (seconds: number) =>
    percentileTable(
      compare([subject("a", { threads: [1], workloads: ["oltp_read_only"], repeats: 1, seconds })]),
      compare([subject("a", { threads: [1], workloads: ["oltp_read_only"], repeats: 1, seconds })]).blocks[0]!,
    ).markup;
  assert.doesNotMatch(row(8), /<td class="n">-<\/td>/, "2,000 values have a 99.9th percentile");
  const few = subject("few", { threads: [1], workloads: ["oltp_read_only"], repeats: 1 });
  const histogram = build({
    lowestDiscernibleValue: 1,
    highestTrackableValue: 600_000_000,
    numberOfSignificantValueDigits: 3,
  });
  for (let i = 1; i <= 500; i++) histogram.recordValue(i * 100);
  few.result!.steps[0]!.histogram = encodeIntoCompressedBase64(histogram);
  assert.equal(
    percentileTable(compare([few]), compare([few]).blocks[0]!).markup.match(/<td class="n">-<\/td>/g)?.length,
    1,
  );
});

test("an interval that reaches below nothing, or below the axis, runs into it without a bar at its end", () => {
  const palette = {
    font: "",
    text: "",
    muted: "",
    grid: "",
    surface: "",
    danger: "",
    series: Array(8).fill("#000000") as string[],
  };
  const drawn = (y: number, half: number, logarithmic: boolean): { children: unknown[] } => {
    const spec: ChartSpec = {
      kind: "lines",
      id: "x",
      title: "",
      unit: "",
      description: "",
      threads: [1],
      logarithmic,
      series: [{ name: "a", colour: 0, points: [{ x: 1, y, half }] }],
    };
    const whisker = (
      optionsFor(spec, palette, 0, 600)["series"] as {
        type: string;
        data: number[][];
        renderItem: (plane: object, api: object) => { children: unknown[] };
      }[]
    ).find((s) => s.type === "custom")!;
    // Ten pixels to the unit above an axis at 2, which lies at 400 px.
    return whisker.renderItem(
      { coordSys: { y: 0, height: 400 } },
      { value: (i: number) => whisker.data[0]![i], coord: ([x, v]: [number, number]) => [x, 400 - (v - 2) * 10] },
    );
  };
  for (const logarithmic of [false, true]) {
    assert.equal(drawn(10, 3, logarithmic).children.length, 3, "the interval and a bar at each end");
    assert.equal(drawn(10, 12, logarithmic).children.length, 2, "and only the upper one");
    assert.equal(drawn(10, 9, logarithmic).children.length, 2, "from 1, where the axis begins at 2");
  }
});

test("in Chromium: no complaint, every chart has marks, every table value is the datum", async (t) => {
  if (missing) return t.skip(`Chromium is needed: ${missing}`);
  const comparison = small();
  await visit(
    await written("small", comparison),
    { viewport: { width: 1280, height: 900 } },
    async ({ page, complaints }) => {
      const ids = await page
        .locator("[data-chart]")
        .evaluateAll((all) => all.map((e) => e.getAttribute("data-chart")!));
      const specs = JSON.parse((await page.locator("#charts").textContent())!) as ChartSpec[];
      assert.equal(specs.length, ids.length);
      assert.deepEqual([...new Set(specs.map((s) => s.kind))].sort(), [
        "bars",
        "density",
        "heat",
        "lines",
        "percentiles",
        "time",
      ]);
      assert.ok(ids.length >= 14, `${ids.length} charts`);
      for (const id of ids) {
        await page.locator(`[data-chart="${id}"]`).scrollIntoViewIfNeeded();
        await page.locator(`[data-chart="${id}"] svg path`).first().waitFor({ state: "attached" });
        const drawn = await page.locator(`[data-chart="${id}"] svg`).evaluate((svg) => {
          const style = getComputedStyle(document.documentElement);
          const colours = new Set(
            Array.from({ length: 8 }, (_, i) => style.getPropertyValue(`--series-${i}`).trim().toLowerCase()),
          );
          const of = (e: Element) =>
            [e.getAttribute("fill"), e.getAttribute("stroke")].map((c) => c?.toLowerCase() ?? "");
          const marks = [...svg.querySelectorAll("path,rect,circle,polyline")];
          return {
            series: marks.filter((e) => of(e).some((c) => colours.has(c))).length,
            filled: marks.filter((e) => /^(rgb|#)/.test(of(e)[0]!)).length,
          };
        });
        const spec = specs.find((s) => s.id === id)!;
        assert.ok(
          (spec.kind === "heat" ? drawn.filled : drawn.series) >= marksOf(spec),
          `${id}: ${JSON.stringify(drawn)} for ${marksOf(spec)} marks`,
        );
      }
      for (const block of comparison.blocks) {
        for (const row of block.rows) {
          for (const cell of row.cells) {
            const label = comparison.subjects[cell.subject]!.label;
            for (const metric of ["tps", "qps", "avg", "p95", "p99"] as const) {
              const found = page.locator(
                `tr[data-workload="${block.key}"][data-threads="${row.threads}"][data-subject="${label}"] td[data-metric="${metric}"]`,
              );
              const datum = cell.point[metric];
              assert.equal(await found.count(), datum ? 1 : 0, `${block.key} ${row.threads} ${label} ${metric}`);
              if (!datum) continue;
              assert.equal(Number(await found.getAttribute("data-value")), datum.mean);
              const shownText = Number((await found.textContent())!.split(" ")[0]!.replaceAll(",", ""));
              assert.ok(Math.abs(shownText / datum.mean - 1) < 0.005, `${shownText} for ${datum.mean}`);
            }
          }
        }
      }
      assert.deepEqual(complaints, []);
    },
  );
});

test("in Chromium: hostile names stay text, the choice of threads redraws, and a phone sees no sideways page", async (t) => {
  if (missing) return t.skip(`Chromium is needed: ${missing}`);
  const file = await written("hostile", compare([subject(HOSTILE, { note: HOSTILE }), subject("b", { seed: 3 })]));
  for (const colorScheme of ["light", "dark"] as const) {
    await visit(file, { viewport: { width: 390, height: 844 }, colorScheme }, async ({ page, complaints }) => {
      assert.equal(await page.locator("h1").textContent(), `meshbench: ${HOSTILE}, b`);
      assert.ok(await page.evaluate("document.documentElement.scrollWidth <= innerWidth"));
      const chart = page.locator("[data-chart^=percentiles]").first();
      await chart.scrollIntoViewIfNeeded();
      await chart.locator("svg").waitFor();
      const drawing = await chart.innerHTML();
      await page.locator("select[data-for^=percentiles]").first().selectOption("0");
      assert.notEqual(await chart.innerHTML(), drawing);
      assert.deepEqual(complaints, []);
    });
  }
});

test("in Chromium: print draws every chart on white, also out of a dark screen", async (t) => {
  if (missing) return t.skip(`Chromium is needed: ${missing}`);
  await visit(
    await written("print", small()),
    { viewport: { width: 760, height: 1000 }, colorScheme: "dark" },
    async ({ page, complaints }) => {
      await page.emulateMedia({ media: "print" });
      const charts = await page.locator("[data-chart]").count();
      await page.waitForFunction(`document.querySelectorAll("[data-chart] svg").length === ${charts}`);
      assert.equal(await page.evaluate("getComputedStyle(document.body).backgroundColor"), "rgb(255, 255, 255)");
      assert.equal(
        await page.evaluate("getComputedStyle(document.documentElement).getPropertyValue('--text').trim()"),
        "#16222b",
      );
      assert.deepEqual(complaints, []);
    },
  );
});

test("in Chromium: every figure and section has a name, every table a caption and scoped headers", async (t) => {
  if (missing) return t.skip(`Chromium is needed: ${missing}`);
  await visit(await written("access", small()), { viewport: { width: 1000, height: 800 } }, async ({ page }) => {
    const unnamed = await page.evaluate(
      `[...document.querySelectorAll("figure,section,svg[role=img]")].filter((e) => !(e.getAttribute("aria-labelledby") ?? "").split(" ").every((id) => id && document.getElementById(id)?.textContent.trim())).length`,
    );
    assert.equal(unnamed, 0);
    assert.equal(
      await page.evaluate(
        `[...document.querySelectorAll("table")].filter((t) => !t.caption?.textContent.trim() || !t.querySelector("th[scope=col]") || !t.querySelector("th[scope=row], td")).length`,
      ),
      0,
    );
    assert.equal(
      await page.evaluate(
        `new Set([...document.querySelectorAll("[id]")].map((e) => e.id)).size === document.querySelectorAll("[id]").length`,
      ),
      true,
    );
    assert.equal(
      await page.evaluate(
        `[...document.querySelectorAll("a[href^='#']")].every((a) => document.getElementById(a.getAttribute("href").slice(1)))`,
      ),
      true,
    );
  });
});
