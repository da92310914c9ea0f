/** A result, small enough for a stack output. */
import type { RunResult } from "../../workloads/contract.ts";

export interface StepOutput {
  workload: string;
  threads: number;
  repeat: number;
  tps: number;
  qps: number;
  /** Milliseconds; null when no transaction succeeded. */
  latency: { avg: number; p50: number; p95: number; p99: number; max: number } | null;
  errors: number;
  /** The driver, not the database, was the limit: why. */
  saturated?: string[];
  /** Several drivers: from the first one's begin to the last one's, milliseconds. */
  startSkewMs?: number;
}

export interface RunSummary {
  runId: string;
  resultFile: string;
  startedAt: string;
  finishedAt: string | null;
  results: StepOutput[];
}

const round = (value: number): number => Number(value.toPrecision(5));

export function summarize(result: RunResult, resultFile: string): RunSummary {
  return {
    runId: result.runId,
    resultFile,
    startedAt: result.startedAt,
    finishedAt: result.finishedAt,
    results: result.steps.map((s) => ({
      workload: s.workload,
      threads: s.threads,
      repeat: s.repeat,
      tps: round(s.tps),
      qps: round(s.qps),
      latency: s.latency && {
        avg: round(s.latency.avg),
        p50: round(s.latency.p50),
        p95: round(s.latency.p95),
        p99: round(s.latency.p99),
        max: round(s.latency.max),
      },
      errors: s.errors.total,
      ...(s.driver.saturated ? { saturated: s.driver.reasons } : {}),
      ...(s.driver.startSkewMs === undefined ? {} : { startSkewMs: round(s.driver.startSkewMs) }),
    })),
  };
}
