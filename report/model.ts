/**
 * What is laid side by side: a Subject is one run of ours or one published set, in the same shape. A figure that a
 * source does not give is null, never a guess.
 */
import type { RunContext, RunResult, StepResult } from "../workloads/contract.ts";
import { busyHosts, hostFigures } from "./compare/hosts.ts";
import { lagOf, type PointLag } from "./compare/lag.ts";
import type { Estimate } from "./stats.ts";
import { estimate } from "./stats.ts";

/** Statements of one transaction, as measured: reads, writes, others such as BEGIN and COMMIT (null: not stated). */
export interface StatementMix {
  read: number;
  write: number;
  other: number | null;
  /**
   * Share of it that the windows' edges may move: statements count when they are answered, a transaction when it ends,
   * so each connection may bring up to one transaction's statements more or less. Absent: not known to matter.
   */
  cut?: number;
}

/** One workload at one thread count: throughput per second, latencies in milliseconds. */
export interface Point {
  /** The unit of work: points of two subjects may only be divided by one another when their keys are equal. */
  key: string;
  workload: string;
  threads: number;
  tps: Estimate | null;
  qps: Estimate | null;
  avg: Estimate | null;
  p95: Estimate | null;
  p99: Estimate | null;
  mix: StatementMix | null;
  /** Windows measured, and how many of them ran to their end. */
  windows: number;
  completeWindows: number;
  /** tps of each window that the means are over, in the order of the repeats. Absent where a source has means only. */
  samples?: readonly number[];
  incompleteReason: string | null;
  errors: number;
  restarts: number;
  errorsByCode: Record<string, number>;
  longestGapSeconds: number | null;
  /** Why the driver, not the database, may have set the figure; empty when it did not. */
  saturated: string[];
  /** Windows whose commits did not wait as the design says, in words; absent where nothing tells. */
  degraded?: string[];
  /** How many windows that was. */
  degradedWindows?: number;
  /** Replication lag over the windows; null or absent where none measured it. */
  lag?: PointLag | null;
  /** Nodes that were a primary in one of the windows; empty or absent where that was not recorded. */
  primaries?: string[];
  /** Nodes whose processors were the limit, in words; absent where a source has no such figures. */
  busy?: string[];
  /** How a figure that the source does not give was derived, in words. */
  notes: string[];
}

/** A figure over the whole sweep of a workload, where a source gives only that. */
export interface GivenSweep {
  workload: string;
  averageTps?: number;
  peakTps?: number;
  peakThreads?: number;
  /** Mean of the p95 over the sweep, milliseconds. */
  averageP95?: number;
}

/** A fact about how the figures came about: compared name by name, null where it is not known. */
export type Facts = Record<string, string | number | null>;

export interface Subject {
  label: string;
  kind: "run" | "published";
  /** File or citation. */
  source: string;
  complete: boolean;
  incompleteReason: string | null;
  startedAt: string | null;
  hours: number | null;
  points: Point[];
  given: GivenSweep[];
  /** What a transaction works on and does: differences make figures incomparable. */
  unit: Facts;
  /** How it was measured: differences are named beside every comparison. */
  method: Facts;
  /** What it ran on; topology is usually the very thing that is compared. */
  environment: Facts;
  /** What a reader has to know before the figures are used. */
  caveats: string[];
  context: RunContext | null;
  prepareSeconds: number | null;
  /** Interval lines that a published text prints; those of our runs are in their windows. */
  printedIntervals: { t: number; tps: number; p95: number }[] | null;
  result: RunResult | null;
}

/** Options that are part of a step, in a stable order: `oltp_read_only{range_size=10}@100/s`. */
export function unitKey(workload: string, options: Record<string, unknown>, perSecond?: number): string {
  const given = Object.keys(options)
    .sort()
    .map((k) => `${k}=${String(options[k])}`)
    .join(",");
  return `${workload}${given ? `{${given}}` : ""}${perSecond ? `@${perSecond}/s` : ""}`;
}

/** Groups the windows of a result by unit of work and thread count, in the order of their first appearance. */
export function pointsOf(result: RunResult): Point[] {
  const groups = new Map<string, { key: string; windows: StepResult[] }>();
  for (const window of result.steps) {
    const step = result.spec.steps[window.step];
    const key = unitKey(window.workload, step?.options ?? {}, step?.rate?.perSecond);
    const id = `${key}#${window.threads}`;
    const group = groups.get(id) ?? { key, windows: [] };
    group.windows.push(window);
    groups.set(id, group);
  }
  return [...groups.values()].map(({ key, windows }) => pointOf(key, windows, result.spec.context));
}

function pointOf(key: string, windows: StepResult[], context: RunContext): Point {
  const whole = windows.filter((w) => w.complete);
  // A window that was cut short says something only when there is no whole one.
  const used = whole.length > 0 ? whole : windows;
  const succeeded = used.filter((w) => w.latency !== null);
  const transactions = used.reduce((sum, w) => sum + w.transactions, 0);
  const per = (field: "read" | "write" | "other") => used.reduce((sum, w) => sum + w.queries[field], 0) / transactions;
  const cut = used.reduce((sum, w) => sum + w.threads, 0) / transactions;
  const byCode: Record<string, number> = {};
  for (const w of windows)
    for (const [code, n] of Object.entries(w.errors.byCode)) byCode[code] = (byCode[code] ?? 0) + n;
  const gaps = windows.flatMap((w) => (w.outage ? [w.outage.longestGapSeconds] : []));
  const latency = (field: "avg" | "p95" | "p99") => estimate(succeeded.map((w) => w.latency![field]));
  return {
    key,
    workload: windows[0]!.workload,
    threads: windows[0]!.threads,
    tps: estimate(used.map((w) => w.tps)),
    qps: estimate(used.map((w) => w.qps)),
    avg: latency("avg"),
    p95: latency("p95"),
    p99: latency("p99"),
    mix: transactions > 0 ? { read: per("read"), write: per("write"), other: per("other"), cut } : null,
    windows: windows.length,
    completeWindows: whole.length,
    samples: used.map((w) => w.tps),
    incompleteReason:
      windows.find((w) => !w.complete)?.incompleteReason ?? (whole.length < windows.length ? "cut short" : null),
    errors: windows.reduce((sum, w) => sum + w.errors.total, 0),
    restarts: windows.reduce((sum, w) => sum + w.errors.restarts, 0),
    errorsByCode: byCode,
    longestGapSeconds: gaps.length > 0 ? Math.max(...gaps) : null,
    saturated: [
      ...new Set(
        used
          .filter((w) => w.driver.saturated)
          .flatMap((w) => (w.driver.reasons.length ? w.driver.reasons : ["driver saturated"])),
      ),
    ],
    degraded: used.flatMap((w) => w.degraded ?? []),
    degradedWindows: used.filter((w) => w.degraded !== undefined).length,
    lag: lagOf(used),
    primaries: [...new Set(used.flatMap((w) => w.primaries ?? []).flatMap((entry) => entry.nodes))],
    busy: busyHosts(hostFigures(used, context)),
    notes: [],
  };
}

const list = (values: readonly (string | number)[]) => [...new Set(values)].join(", ");

/** A run of ours as a subject. */
export function subjectOf(result: RunResult, label: string, source: string): Subject {
  const { spec } = result;
  const { context, target, data } = spec;
  const hours = result.finishedAt ? (Date.parse(result.finishedAt) - Date.parse(result.startedAt)) / 3_600_000 : null;
  const topology = context.topology;
  const databases = topology?.nodes.filter((n) => n.role.split("+").includes("database")) ?? [];
  return {
    label,
    kind: "run",
    source,
    complete: result.complete,
    incompleteReason: result.complete ? null : (result.incompleteReason ?? "cut short"),
    startedAt: result.startedAt,
    hours: hours !== null && Number.isFinite(hours) ? hours : null,
    points: pointsOf(result),
    given: [],
    unit: {
      tables: data.tables,
      "rows per table": data.tableSize,
      "table options": unitKey("", data.options) || "defaults",
      reconnect: String(target.reconnect),
    },
    method: {
      "load generator": `${result.engine.name} ${result.engine.version}`,
      "client protocol": target.dialect === undefined ? target.driver : `${target.driver}, dialect ${target.dialect}`,
      "window (s)": list(spec.steps.map((s) => s.durationSeconds)),
      "warm-up (s)": list(spec.steps.map((s) => s.warmupSeconds)),
      repeats: list(spec.steps.map((s) => s.repeats)),
      "thread counts": list(spec.steps.map((s) => s.threads)),
      "prepared statements": target.preparedStatements,
      routing:
        target.endpoints.length > 1
          ? `${target.policy} over ${target.endpoints.length} endpoints`
          : target.endpoints[0]!.role === "proxy"
            ? "one endpoint, a proxy"
            : "one endpoint",
      "TLS to the database": target.tls.mode,
    },
    environment: {
      database: context.database
        ? [context.database.title ?? context.database.engine, context.database.version].filter(Boolean).join(" ")
        : null,
      "server version": result.server?.version ?? null,
      "database options": context.database?.options
        ? unitKey("", context.database.options).replace(/^\{|\}$/g, "") || "defaults"
        : null,
      proxy: context.proxy ? [context.proxy.kind, context.proxy.version].filter(Boolean).join(" ") : null,
      "database nodes": databases.length || null,
      sites: topology ? topology.sites.map((s) => `${s.name} (${s.kind}, ${s.nodes})`).join(", ") : null,
      ...drivers(result),
      "stand-ins": context.standIns.length ? context.standIns.join("; ") : null,
    },
    caveats: [
      ...context.standIns,
      ...(result.verify && !result.verify.ok
        ? [`the consistency check failed: ${result.verify.problems.join("; ")}`]
        : []),
    ],
    context,
    prepareSeconds: result.prepare && !result.prepare.reused ? result.prepare.seconds : null,
    printedIntervals: null,
    result,
  };
}

/** A subject with all its figures, and without the windows that they were worked out from. */
export const withoutWindows = (subject: Subject): Subject =>
  subject.result ? { ...subject, result: { ...subject.result, steps: [], summary: [] } } : subject;

/** Of several drivers each has a host of its own, and what their windows are apart is part of what a figure means. */
function drivers(result: RunResult): Record<string, string | null> {
  const hosts = result.drivers?.flatMap((d) => d.host ?? []) ?? [];
  const machines = Map.groupBy(
    hosts.length > 0 ? hosts : [result.host],
    (h) => `${h.cpus} CPUs${h.cpuModel ? ` ${h.cpuModel}` : ""}`,
  );
  const apart = result.steps
    .filter((s) => s.driver.startSkewMs !== undefined)
    .toSorted((a, b) => b.driver.startSkewMs! - a.driver.startSkewMs!)[0]?.driver;
  return {
    "driver host": [...machines]
      .map(([machine, same]) => (same.length > 1 ? `${same.length} x ${machine}` : machine))
      .join(", "),
    drivers: result.driverCount === undefined ? null : `${result.drivers?.length ?? 0} of ${result.driverCount}`,
    "drivers begun apart":
      apart === undefined
        ? null
        : `at most ${apart.startSkewMs!.toFixed(1)} ms${apart.startSkewUncertaintyMs === null || apart.startSkewUncertaintyMs === undefined ? ", their clocks not compared" : ` +- ${apart.startSkewUncertaintyMs.toFixed(1)} ms`}`,
  };
}
