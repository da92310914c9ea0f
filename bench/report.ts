/**
 * How long 1,000 runs take: to read, compare and write as one page, and until a browser paints it. Synthetic results,
 * made in a temporary folder and removed. Usage: node bench/report.ts [runs]. Prints a table and one line of JSON last.
 */
import { execFileSync } from "node:child_process";
import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { browserReady, visit } from "../harness/browser.ts";
import { syntheticResult } from "../harness/synthetic.ts";
import { saveResult } from "../report/store.ts";

const runs = Number(process.argv[2] ?? 1000);
if (!Number.isInteger(runs) || runs < 1) throw new Error(`runs: ${process.argv[2]}; expected a whole number above 0`);

const folder = await mkdtemp(join(tmpdir(), "meshbench-bench-"));
try {
  let bytes = 0;
  for (let i = 0; i < runs; i++) {
    const at = new Date(Date.parse("2026-01-01T00:00:00Z") + i * 3_600_000).toISOString();
    const path = await saveResult(
      join(folder, "results"),
      "many",
      syntheticResult({
        stack: "many",
        runId: `run-${String(i).padStart(4, "0")}`,
        seed: i + 1,
        repeats: 1,
        seconds: 10,
        startedAt: at,
      }),
    );
    bytes += (await stat(path)).size;
  }
  const files = Array.from({ length: runs }, (_, i) =>
    join("results", "many", `run-${String(i).padStart(4, "0")}.json`),
  );
  const script = join(folder, "generate.ts");
  const source = (path: string) => JSON.stringify(fileURLToPath(new URL(`../report/${path}`, import.meta.url)));
  await writeFile(
    script,
    `
import { writeFileSync } from "node:fs";
const t0 = performance.now();
const { resolveSubjects } = await import(${source("resolve.ts")});
const { compare } = await import(${source("compare/compare.ts")});
const { renderReport } = await import(${source("html/report.ts")});
const t1 = performance.now();
const { subjects } = await resolveSubjects(${JSON.stringify(files)}, { results: "results" });
const t2 = performance.now();
const comparison = compare(subjects);
const t3 = performance.now();
writeFileSync("page.html", await renderReport(comparison));
console.log(JSON.stringify({ load: t1 - t0, read: t2 - t1, compare: t3 - t2, write: performance.now() - t3, all: performance.now() - t0, cpu: process.cpuUsage().user + process.cpuUsage().system }));
`,
  );
  const generator = JSON.parse(
    execFileSync(process.execPath, [script], { cwd: folder, encoding: "utf8", maxBuffer: 1e8 }),
  ) as Record<string, number>;
  const page = join(folder, "page.html");
  const missing = await browserReady();
  const paints: number[] = [];
  for (let i = 0; !missing && i < 5; i++) {
    paints.push(
      await visit(page, { viewport: { width: 1280, height: 900 } }, ({ page: p }) =>
        p.evaluate<number>(
          "new Promise((done) => new PerformanceObserver((l) => { const e = l.getEntriesByName('first-contentful-paint')[0]; if (e) done(e.startTime); }).observe({ type: 'paint', buffered: true }))",
        ),
      ),
    );
  }
  paints.sort((a, b) => a - b);
  const figures = {
    runs,
    resultMegabytes: bytes / 1e6,
    pageMegabytes: (await stat(page)).size / 1e6,
    generatorSeconds: generator["all"]! / 1000,
    generatorCpuSeconds: generator["cpu"]! / 1e6,
    readSeconds: generator["read"]! / 1000,
    compareSeconds: generator["compare"]! / 1000,
    writeSeconds: generator["write"]! / 1000,
    firstPaintSeconds: paints.length ? paints[Math.floor(paints.length / 2)]! / 1000 : null,
    firstPaintWorstSeconds: paints.length ? paints.at(-1)! / 1000 : null,
  };
  // On a busy machine the wall clock says little: the CPU time and the load stand beside it.
  process.stdout.write(`load average             ${loadavg()[0]!.toFixed(1)}\n`);
  for (const [name, value] of Object.entries(figures))
    process.stdout.write(
      `${name.padEnd(24)} ${value === null ? `not measured: ${missing}` : value.toFixed(name === "runs" ? 0 : 2)}\n`,
    );
  for (const [what, seconds, aim] of [
    ["generator", figures.generatorSeconds, 5],
    ["first paint, worst of 5", figures.firstPaintWorstSeconds, 2],
  ] as const) {
    const judged =
      runs < 1000
        ? "not judged: the aim is for 1,000 runs"
        : seconds === null
          ? "not judged: not measured"
          : `${seconds < aim ? "held" : "MISSED"}, ${(seconds / aim).toFixed(2)} of it`;
    process.stdout.write(`${`aim: ${what} < ${aim} s`.padEnd(36)} ${judged}\n`);
  }
  process.stdout.write(`${JSON.stringify(figures)}\n`);
} finally {
  await rm(folder, { recursive: true, force: true });
}
