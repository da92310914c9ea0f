/**
 * Results for tests, made by a seeded generator: a closed loop of n threads on a server with a service time, a ceiling
 * and a WAN. Nothing here was measured, and every result says so in its stand-ins.
 */
import { build, encodeIntoCompressedBase64 } from "hdr-histogram-js";
import type { CommitRule, RunResult, StepResult } from "../workloads/contract.ts";
import { runResultSchema } from "../workloads/contract.ts";
import { normal, random } from "./random.ts";

export const SYNTHETIC = "synthetic: made by a generator for tests, nothing was measured";

export interface SyntheticOptions {
  stack?: string;
  runId?: string;
  seed?: number;
  workloads?: string[];
  threads?: number[];
  repeats?: number;
  /** RTT between the two sites in ms; 0: one site. */
  rttMs?: number;
  /** Time of one transaction on an idle server, ms, and the server's ceiling, transactions per second. */
  serviceMs?: number;
  ceiling?: number;
  /** Relative deviation between repeats. */
  noise?: number;
  seconds?: number;
  tables?: number;
  tableSize?: number;
  histograms?: boolean;
  incomplete?: string;
  /** A stall of this many seconds in the last window, with errors. */
  outageSeconds?: number;
  saturated?: boolean;
  costPerHour?: number;
  options?: Record<string, number | string | boolean>;
  startedAt?: string;
  note?: string;
  /** Design of the database; Galera as older results say it when absent. */
  database?: { engine: string; replication: string; title: string; commit: CommitRule };
}

const mixes: Record<string, [read: number, write: number, other: number]> = {
  oltp_read_only: [14, 0, 2],
  oltp_write_only: [0, 4, 2],
  oltp_read_write: [14, 4, 2],
  oltp_point_select: [1, 0, 0],
  oltp_update_index: [0, 1, 0],
  oltp_update_non_index: [0, 1, 0],
  oltp_insert: [0, 1, 0],
  oltp_delete: [0, 1, 0],
  select_random_points: [1, 0, 0],
  select_random_ranges: [1, 0, 0],
  bulk_insert: [0, 1, 0],
};

const stat = (values: number[]) => {
  const mean = values.reduce((a, b) => a + b, 0) / values.length;
  const sd =
    values.length > 1 ? Math.sqrt(values.reduce((s, v) => s + (v - mean) ** 2, 0) / (values.length - 1)) : null;
  return { n: values.length, mean, sd, ci95: null };
};

export function syntheticResult(options: SyntheticOptions = {}): RunResult {
  const o = {
    stack: "synthetic",
    seed: 1,
    workloads: ["oltp_read_only", "oltp_write_only", "oltp_read_write"],
    threads: [1, 4, 16, 64],
    repeats: 3,
    rttMs: 10,
    serviceMs: 4,
    ceiling: 900,
    noise: 0.03,
    seconds: 10,
    tables: 4,
    tableSize: 10_000,
    histograms: true,
    startedAt: "2026-01-02T03:04:05.000Z",
    ...options,
  };
  const next = random(o.seed);
  const start = Date.parse(o.startedAt);
  const steps = o.workloads.flatMap((workload) => o.threads.map((threads) => ({ workload, threads })));
  const windows: StepResult[] = [];
  let clock = 0;
  for (const [step, { workload, threads }] of steps.entries()) {
    for (let repeat = 0; repeat < o.repeats; repeat++) {
      const last = step === steps.length - 1 && repeat === o.repeats - 1;
      windows.push(
        makeWindow(o, next, {
          step,
          repeat,
          workload,
          threads,
          startedAt: new Date(start + clock * 1000).toISOString(),
          last,
        }),
      );
      clock += o.seconds;
    }
  }
  const summary = steps.map(({ workload, threads }, step) => {
    const own = windows.filter((w) => w.step === step);
    return {
      step,
      workload,
      threads,
      tps: stat(own.map((w) => w.tps)),
      qps: stat(own.map((w) => w.qps)),
      latencyAvg: stat(own.map((w) => w.latency!.avg)),
      p95: stat(own.map((w) => w.latency!.p95)),
      p99: stat(own.map((w) => w.latency!.p99)),
      errors: own.reduce((s, w) => s + w.errors.total, 0),
      saturated: own.some((w) => w.driver.saturated),
      complete: own.every((w) => w.complete),
    };
  });
  const spread = o.rttMs > 0;
  const nodes = [
    ["db1", "alpha"],
    ["db2", "alpha"],
    ["db3", spread ? "beta" : "alpha"],
  ].map(([name, site], i) => ({ name: name!, site: site!, role: "database", meshAddress: `10.99.0.${i + 1}` }));
  const all = [...nodes, { name: "drv", site: "alpha", role: "driver", meshAddress: "10.99.0.9" }];
  const rttMatrix = all.flatMap((a) =>
    all
      .filter((b) => b !== a)
      .map((b) => {
        const rtt = a.site === b.site ? 0.2 : o.rttMs;
        return {
          from: a.name,
          to: b.name,
          rttMs: { min: rtt, avg: rtt * 1.05, max: rtt * 1.2, mdev: rtt * 0.02 },
          lossPercent: 0,
          pathMtu: 1420,
          mbitPerSecond: a.site === b.site ? 900 : 95,
        };
      }),
  );
  const input: unknown = {
    schema: 1,
    kind: "meshbench-result",
    runId: o.runId ?? `synthetic-${o.seed}`,
    complete: o.incomplete === undefined,
    ...(o.incomplete === undefined ? {} : { incompleteReason: o.incomplete }),
    startedAt: o.startedAt,
    finishedAt: new Date(start + clock * 1000).toISOString(),
    spec: {
      schema: 1,
      runId: o.runId ?? `synthetic-${o.seed}`,
      seed: o.seed,
      target: {
        driver: "mysql",
        endpoints: [{ name: "db1", host: "10.99.0.1", port: 3306 }],
        user: "bench",
        passwordFile: "/run/secret",
      },
      data: { tables: o.tables, tableSize: o.tableSize },
      steps: steps.map((s) => ({ ...s, durationSeconds: o.seconds, repeats: o.repeats, options: o.options ?? {} })),
      context: {
        project: "meshbench",
        stack: o.stack,
        topology: {
          sites: spread
            ? [
                { name: "alpha", kind: "local", nodes: 2 },
                { name: "beta", kind: "local", nodes: 1 },
              ]
            : [{ name: "alpha", kind: "local", nodes: 3 }],
          nodes: all,
          links: spread ? [{ between: ["alpha", "beta"], rttMs: o.rttMs }] : [],
        },
        database: {
          ...(o.database ?? { engine: "mariadb-galera" }),
          version: "10.11.11",
          options: { innodb_buffer_pool_size: "256M" },
        },
        proxy: { kind: "haproxy", version: "2.6.12", node: "db1" },
        rttMatrix,
        standIns: [SYNTHETIC, ...(o.note ? [o.note] : [])],
        ...(o.costPerHour === undefined ? {} : { cost: { perHour: o.costPerHour, currency: "USD" } }),
      },
    },
    engine: { name: "meshbench", version: "0.1.0", node: "v24.0.0" },
    host: { hostname: "drv", cpus: 2, cpuModel: "Synthetic CPU", memoryMb: 4096, kernel: "6.1" },
    server: { version: "10.11.11-MariaDB", variables: { innodb_flush_log_at_trx_commit: "1" } },
    prepare: {
      seconds: 3 + o.rttMs / 5,
      rows: o.tables * o.tableSize,
      rowsPerSecond: 20_000,
      method: "load-data",
      reused: false,
    },
    verify: { ok: true, tables: [{ table: "sbtest1", rows: o.tableSize }], problems: [] },
    steps: windows,
    summary,
  };
  return runResultSchema.parse(input);
}

interface Slot {
  step: number;
  repeat: number;
  workload: string;
  threads: number;
  startedAt: string;
  last: boolean;
}

function makeWindow(
  o: Required<Pick<SyntheticOptions, "rttMs" | "serviceMs" | "ceiling" | "noise" | "seconds" | "histograms">> &
    SyntheticOptions,
  next: () => number,
  slot: Slot,
): StepResult {
  const [read, write, other] = mixes[slot.workload] ?? [1, 1, 0];
  // Every statement goes 0.2 ms to the endpoint and back; a commit with writes crosses the WAN once.
  const floor = (read + write + other) * 0.2 + (write > 0 ? o.rttMs : 0);
  const ceiling = write > 0 ? o.ceiling / 2 : o.ceiling;
  const tps = Math.min(slot.threads / ((o.serviceMs + floor) / 1000), ceiling) * (1 + o.noise * normal(next));
  const mean = (slot.threads / tps) * 1000;
  const histogram = build({
    lowestDiscernibleValue: 1,
    highestTrackableValue: 600_000_000,
    numberOfSignificantValueDigits: 3,
  });
  const stalled = slot.last ? (o.outageSeconds ?? 0) : 0;
  for (let i = 0; i < 2000; i++)
    histogram.recordValue(Math.max(1, Math.round(mean * 1000 * Math.exp(0.35 * normal(next) - 0.061))));
  if (stalled > 0) histogram.recordValue(Math.round(stalled * 1e6));
  const at = (p: number) => histogram.getValueAtPercentile(p) / 1000;
  const transactions = Math.round(tps * (o.seconds - stalled));
  const intervals = Array.from({ length: o.seconds }, (_, i) => {
    const dark = stalled > 0 && i >= 3 && i < 3 + stalled;
    const now = dark ? 0 : tps * (1 + 0.05 * normal(next));
    return {
      t: i + 1,
      tps: now,
      qps: now * (read + write + other),
      reads: now * read,
      writes: now * write,
      others: now * other,
      p95: dark ? null : at(95) * (1 + 0.04 * normal(next)),
      errors: dark ? slot.threads : 0,
      reconnects: dark ? slot.threads : 0,
      driverCpu: 20,
      eventLoopDelayP99Ms: 1.2,
    };
  });
  const cut = slot.last && o.incomplete !== undefined;
  return {
    step: slot.step,
    repeat: slot.repeat,
    workload: slot.workload,
    threads: slot.threads,
    startedAt: slot.startedAt,
    windowSeconds: o.seconds,
    complete: !cut,
    ...(cut ? { incompleteReason: o.incomplete } : {}),
    transactions,
    queries: {
      read: transactions * read,
      write: transactions * write,
      other: transactions * other,
      total: transactions * (read + write + other),
    },
    tps: transactions / o.seconds,
    qps: (transactions * (read + write + other)) / o.seconds,
    latency: {
      min: histogram.minNonZeroValue / 1000,
      avg: histogram.mean / 1000,
      p50: at(50),
      p90: at(90),
      p95: at(95),
      p99: at(99),
      p999: at(99.9),
      max: histogram.maxValue / 1000,
    },
    ...(o.histograms ? { histogram: encodeIntoCompressedBase64(histogram) } : {}),
    errors: { total: stalled * slot.threads, byCode: stalled ? { "1047": stalled * slot.threads } : {}, restarts: 0 },
    reconnects: stalled * slot.threads,
    ...(stalled > 0 ? { outage: { longestGapSeconds: stalled, gapStartedAt: 3, firstSuccessAfter: 3 + stalled } } : {}),
    intervals,
    driver: {
      cpuSeconds: 2,
      cpuPercent: o.saturated ? 97 : 20,
      eventLoopDelayP99Ms: 1.2,
      saturated: o.saturated ?? false,
      reasons: o.saturated ? ["driver CPU at 97 %"] : [],
    },
    server: [],
  };
}
