/** A whole run: every window of the spec in its order, the result kept up to date on the way. */
import { cpus, hostname, release, totalmem } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import type { RunResult, RunSpec, Step, StepResult } from "../contract.ts";
import { SCHEMA_VERSION } from "../contract.ts";
import { driverFor } from "../drivers/index.ts";
import { degradedOf } from "../facts/degraded.ts";
import { writeOutput } from "../keep.ts";
import { planStep } from "../steps.ts";
import type { Barrier } from "./barrier/barrier.ts";
import { summarize, sweeps } from "./figures/summary.ts";
import type { Heartbeat } from "./lag/heartbeat.ts";
import { Attempts, PartialFile, StatusFile } from "./output.ts";
import { startHeartbeat, watchRoles } from "./probes.ts";
import type { RoleWatch } from "./roles/watch.ts";
import { roleQuestion } from "./roles/watch.ts";
import { RunClock } from "./run-clock.ts";
import type { Slot } from "./schedule.ts";
import { schedule } from "./schedule.ts";
import type { Agreed } from "./window.ts";
import { ownSessions, runWindow } from "./window.ts";

export const ENGINE_VERSION = "0.1.0";

/** Samples the servers' own counters at both ends of a window; see workloads/facts. */
export interface Observer {
  version?: string | undefined;
  variables?: Record<string, string> | undefined;
  open(): void;
  close(): Promise<StepResult["server"]>;
  end(): Promise<void>;
}

export interface RunOptions {
  password: string;
  /** The program itself, for worker threads. */
  entry: URL;
  out?: string | undefined;
  status?: string | undefined;
  signal: AbortSignal;
  onLine(line: string): void;
  observer?: Observer | undefined;
  /** Where several drivers wait for each other before each window. */
  barrier?: Barrier | undefined;
  /** Facts for the result that were found before the run. */
  prepare?: RunResult["prepare"];
  notes?: readonly string[] | undefined;
}

/**
 * Rejects when the run could not begin, or ended by an error. A result that could not be written to `out` at the end
 * says so in `unsaved`.
 */
export async function run(spec: RunSpec, options: RunOptions): Promise<RunResult> {
  checkSpec(spec);
  const slots = schedule(spec);
  const result = await emptyResult(spec, options);
  const attempts = new Attempts((line) => options.onLine(line));
  const status = new StatusFile(options.status, attempts);
  const partial = new PartialFile(options.out, attempts);
  const write = (): void => {
    if (options.out !== undefined) writeOutput(options.out, `${JSON.stringify(result)}\n`);
  };
  /** @returns why it could not be written */
  const save = (): string | null => {
    result.summary = summarize(spec, result.steps);
    result.sweeps = sweeps(spec, result.summary);
    return attempts.try(options.out ?? "", write);
  };
  // Before the first window it is not too late to refuse.
  write();
  const clock = new RunClock(spec, slots);
  const roles = await watchRoles(spec, options.password);
  const heartbeat = await startHeartbeat(spec, options, roles, (note) => {
    result.notes = [...(result.notes ?? []), note];
  });
  let failure: string | null = null;
  /** Windows that this driver has no share of. */
  let idle = 0;
  try {
    for (const [i, slot] of slots.entries()) {
      if (options.signal.aborted) break;
      if (i > 0 && spec.restSeconds > 0)
        await sleep(1000 * spec.restSeconds, undefined, { signal: options.signal }).catch(() => {});
      if (options.signal.aborted) break;
      if (ownSessions(spec, spec.steps[slot.step] as Step) < 1) {
        options.onLine(`step ${i + 1}/${slots.length}: fewer threads than drivers, none of them here`);
        await options.barrier?.arrive(windowPoint(i));
        idle++;
        continue;
      }
      const window = await oneWindow(spec, slot, i, slots.length, clock, status, partial, {
        ...options,
        roles,
        heartbeat,
      });
      result.steps.push(window);
      if (typeof window["serverVersion"] === "string") result.server ??= { version: window["serverVersion"] };
      result.incompleteReason = "the run was still going on when this was written";
      if (save() === null) partial.remove();
    }
  } catch (error) {
    failure = (error as Error).message;
  }
  await heartbeat?.end();
  roles?.stop();
  result.finishedAt = new Date().toISOString();
  const reasons = [
    ...(options.signal.aborted ? [`stopped (${String(options.signal.reason ?? "asked to")})`] : []),
    ...(failure === null ? [] : [failure]),
    ...result.steps.flatMap((s) =>
      s.complete ? [] : [`steps[${s.step}] repeat ${s.repeat}: ${s.incompleteReason ?? "incomplete"}`],
    ),
  ];
  result.complete = reasons.length === 0 && result.steps.length + idle === slots.length;
  if (result.complete) delete result.incompleteReason;
  else result.incompleteReason = reasons[0] ?? "not all windows ran";
  const unsaved = save();
  if (unsaved === null) partial.remove();
  else result["unsaved"] = unsaved;
  await options.observer?.end();
  const phase = result.complete ? "done" : options.signal.aborted ? "stopped" : "failed";
  status.write({
    runId: spec.runId,
    window: result.steps.length,
    windows: slots.length,
    workload: "",
    threads: 0,
    phase,
    percent: 100,
    line: result.incompleteReason ?? "",
  });
  if (failure !== null) throw new Error(failure);
  return result;
}

async function oneWindow(
  spec: RunSpec,
  slot: Slot,
  index: number,
  count: number,
  clock: RunClock,
  status: StatusFile,
  partial: PartialFile,
  options: RunOptions & { roles: RoleWatch | undefined; heartbeat: Heartbeat | undefined },
): Promise<StepResult> {
  const step = spec.steps[slot.step] as Step;
  const where = `${index + 1}/${count} ${step.workload}`;
  const tell = (phase: string, line: string, t: number): void =>
    status.write({
      runId: spec.runId,
      window: index + 1,
      windows: count,
      workload: step.workload,
      threads: step.threads,
      phase,
      percent: clock.percent(index, t),
      line,
    });
  const announcement = `step ${where}: ${step.threads} threads, ${step.warmupSeconds} s warm-up, ${step.durationSeconds} s${step.rate ? `, ${step.rate.perSecond}/s ${step.rate.arrivals}` : ""}${step.repeats > 1 ? `, repeat ${slot.repeat + 1} of ${step.repeats}` : ""}`;
  options.onLine(announcement);
  tell("connecting", announcement, -step.warmupSeconds);
  const window = await runWindow(spec, slot, {
    password: options.password,
    entry: options.entry,
    signal: options.signal,
    roles: options.roles,
    agree: () => agreeOn(options.barrier, index, clock),
    onOpen() {
      options.observer?.open();
      options.heartbeat?.open(step.intervalSeconds);
    },
    onLine: (line, interval, warmup) => {
      const text = `${index + 1}/${count} ${warmup ? "warm-up " : ""}${line}`;
      options.onLine(text);
      tell(warmup ? "warm-up" : "measuring", text, interval.t);
      if (!warmup) partial.append({ ...slot, interval });
    },
  });
  Object.assign(window, await options.heartbeat?.close());
  if (options.observer) {
    window.server = await options.observer.close();
    const degraded = degradedOf(window.server);
    if (degraded !== undefined) window.degraded = degraded;
  }
  const l = window.latency;
  options.onLine(
    `step ${where}: ${window.tps.toFixed(2)} tps, ${window.qps.toFixed(2)} qps, lat (ms) avg ${(l?.avg ?? 0).toFixed(2)} p95 ${(l?.p95 ?? 0).toFixed(2)} p99 ${(l?.p99 ?? 0).toFixed(2)} max ${(l?.max ?? 0).toFixed(2)}, ${window.errors.total} errors` +
      `${window.driver.saturated ? `; the driver was saturated: ${window.driver.reasons.join("; ")}` : ""}${window.complete ? "" : `; incomplete: ${window.incompleteReason ?? ""}`}`,
  );
  return window;
}

const windowPoint = (index: number): string => `window ${index}`;

async function agreeOn(barrier: Barrier | undefined, index: number, clock: RunClock): Promise<Agreed | undefined> {
  if (barrier === undefined) {
    const at = clock.beginAt(index);
    return at === undefined ? undefined : { at, offset: null };
  }
  const go = await barrier.arrive(windowPoint(index));
  return go && { at: go.at, offset: go };
}

/** Throws one line for a spec that the schema accepts and the engine can't run. */
export function checkSpec(spec: RunSpec): void {
  for (const index of spec.steps.keys()) planStep(spec, index);
  roleQuestion(spec);
  const { drivers, target } = spec;
  if (drivers && drivers.index >= drivers.count)
    throw new Error(`drivers.index: ${drivers.index}; expected 0 to ${drivers.count - 1}`);
  if (drivers?.startAt !== undefined && Number.isNaN(Date.parse(drivers.startAt)))
    throw new Error(`drivers.startAt: ${JSON.stringify(drivers.startAt)}; expected an ISO 8601 time`);
  if (target.policy === "read-write-split" && !target.endpoints.some((e) => e.role !== "replica"))
    throw new Error(
      "target.endpoints: read-write-split needs an endpoint that takes writes (role primary, any or proxy)",
    );
}

async function emptyResult(spec: RunSpec, options: RunOptions): Promise<RunResult> {
  const driver = await driverFor(spec.target.driver);
  const processors = cpus();
  return {
    schema: SCHEMA_VERSION,
    kind: "meshbench-result",
    runId: spec.runId,
    complete: false,
    incompleteReason: "no window has ended yet",
    startedAt: new Date().toISOString(),
    finishedAt: null,
    spec,
    engine: {
      name: "meshbench",
      version: ENGINE_VERSION,
      node: process.version,
      driverVersion: `${driver.library.name} ${driver.library.version}`,
      sessionSetup: [...driver.sessionSetup],
    },
    host: {
      hostname: hostname(),
      cpus: processors.length,
      cpuModel: processors[0]?.model ?? "unknown",
      memoryMb: Math.round(totalmem() / 2 ** 20),
      kernel: release(),
    },
    ...(options.observer?.version
      ? {
          server: {
            version: options.observer.version,
            ...(options.observer.variables ? { variables: options.observer.variables } : {}),
          },
        }
      : {}),
    ...(options.prepare ? { prepare: options.prepare } : {}),
    ...(options.notes && options.notes.length > 0 ? { notes: [...options.notes] } : {}),
    steps: [],
    summary: [],
  };
}
