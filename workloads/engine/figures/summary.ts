/** Over the repeats of each step, and over the thread counts of each workload. */
import type { RunSpec, StepResult, StepSummary } from "../../contract.ts";
import { stat } from "./stats.ts";
import { commonestError, remarks } from "./trust.ts";

/**
 * One entry per step that has a window; the windows of aborted or short-handed repeats count too, and `complete` says
 * so.
 */
export function summarize(spec: RunSpec, windows: readonly StepResult[]): StepSummary[] {
  return spec.steps.flatMap((step, index): StepSummary[] => {
    const own = windows.filter((w) => w.step === index);
    if (own.length === 0) return [];
    const latencies = own.flatMap((w) => (w.latency ? [w.latency] : []));
    const of = (pick: (l: (typeof latencies)[number]) => number): StepSummary["p95"] =>
      latencies.length > 0 ? stat(latencies.map(pick)) : null;
    return [
      {
        step: index,
        workload: step.workload,
        threads: step.threads,
        tps: stat(own.map((w) => w.tps)),
        qps: stat(own.map((w) => w.qps)),
        latencyAvg: of((l) => l.avg),
        p95: of((l) => l.p95),
        p99: of((l) => l.p99),
        errors: own.reduce((n, w) => n + w.errors.total, 0),
        saturated: own.some((w) => w.driver.saturated),
        complete: own.length === step.repeats && own.every((w) => w.complete),
        ...(notes(own).length > 0 ? { notes: notes(own) } : {}),
      },
    ];
  });
}

/** One line per kind and window; with repeats each says which one it speaks of. */
function notes(windows: readonly StepResult[]): string[] {
  return windows.flatMap((w) => {
    const error = commonestError(w.errors);
    return [...remarks(w), ...(error === "" ? [] : [`${w.errors.total.toLocaleString("en-US")} errors, ${error}`])].map(
      (line) => (windows.length > 1 ? `repeat ${w.repeat + 1}: ${line}` : line),
    );
  });
}

export interface Sweep {
  workload: string;
  threads: number[];
  /** Mean of the steps' mean TPS: what published studies call the average over the thread counts. */
  averageTps: number;
  peakTps: number;
  peakThreads: number;
}

/** Closed-loop steps of one workload with the same options, over their thread counts (two or more). */
export function sweeps(spec: RunSpec, summary: readonly StepSummary[]): Sweep[] {
  const groups = new Map<string, StepSummary[]>();
  for (const entry of summary) {
    const step = spec.steps[entry.step];
    if (!step || step.rate) continue;
    const key = JSON.stringify([step.workload, step.options]);
    groups.set(key, [...(groups.get(key) ?? []), entry]);
  }
  return [...groups.values()]
    .filter((g) => new Set(g.map((e) => e.threads)).size > 1)
    .map((group) => {
      const peak = group.reduce((best, e) => (e.tps.mean > best.tps.mean ? e : best));
      return {
        workload: peak.workload,
        threads: group.map((e) => e.threads),
        averageTps: group.reduce((sum, e) => sum + e.tps.mean, 0) / group.length,
        peakTps: peak.tps.mean,
        peakThreads: peak.threads,
      };
    });
}
