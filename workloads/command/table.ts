/** A run's summary for the terminal. */
import Table from "cli-table3";
import type { RunResult, Stat } from "../contract.ts";
import type { Sweep } from "../engine/figures/summary.ts";

const f = (value: number): string => value.toLocaleString("en", { maximumFractionDigits: value < 100 ? 2 : 1 });
const withCi = (s: Stat | null): string =>
  s === null ? "-" : s.ci95 === null ? f(s.mean) : `${f(s.mean)} ±${f(s.ci95)}`;

export function table(result: RunResult): string {
  const grid = new Table({
    head: ["workload", "threads", "tps", "qps", "avg ms", "p95 ms", "p99 ms", "errors", "notes"],
    style: { head: [], border: [] },
  });
  const below: string[] = [];
  for (const s of result.summary) {
    const marks = [s.saturated ? "driver saturated" : "", s.complete ? "" : "incomplete"];
    if (s.notes !== undefined && s.notes.length > 0) {
      below.push(...s.notes.map((note) => `(${s.step + 1}) ${note}`));
      marks.push(`see (${s.step + 1})`);
    }
    const notes = marks.filter((note) => note !== "").join(", ");
    grid.push([
      s.workload,
      s.threads,
      withCi(s.tps),
      withCi(s.qps),
      withCi(s.latencyAvg),
      withCi(s.p95),
      withCi(s.p99),
      s.errors,
      notes,
    ]);
  }
  const sweeps = (result["sweeps"] ?? []) as Sweep[];
  const lines = sweeps.map(
    (s) =>
      `${s.workload} over ${s.threads.join(", ")} threads: average ${f(s.averageTps)} tps, peak ${f(s.peakTps)} at ${s.peakThreads}`,
  );
  return [grid.toString(), ...below, ...lines, ...(result.notes ?? []).map((note) => `note: ${note}`)].join("\n");
}
