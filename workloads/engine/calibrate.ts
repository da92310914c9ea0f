/**
 * The engine's own ceiling on this machine: a workload on a driver that answers at once, without a server or a network.
 */

import { runSpecSchema } from "../contract.ts";
import { nullDriver } from "../drivers/null.ts";
import { planStep } from "../steps.ts";
import { addTally, tally } from "./figures/counters.ts";
import { Latencies } from "./figures/histogram.ts";
import { Part } from "./part/part.ts";

export interface Calibration {
  workload: string;
  threads: number;
  seconds: number;
  /** Of one event loop. */
  eventsPerSecond: number;
  statementsPerSecond: number;
  cpuMicrosecondsPerStatement: number;
  /** What the engine itself adds to a latency, milliseconds. */
  p50: number;
  p99: number;
}

export async function calibrate(
  workload: string,
  threads: number,
  seconds: number,
  signal: AbortSignal,
): Promise<Calibration> {
  const spec = runSpecSchema.parse({
    runId: "calibrate",
    target: { driver: "mysql", user: "none", endpoints: [{ name: "null", host: "null", port: 1 }] },
    steps: [{ workload, threads, warmupSeconds: Math.min(1, seconds / 4), durationSeconds: seconds }],
  });
  const { plan, options } = planStep(spec, 0);
  const total = tally();
  const latencies = new Latencies();
  const part = new Part(
    { spec, step: 0, repeat: 0, loop: 0, loops: 1 },
    plan,
    nullDriver,
    "",
    options.events,
    (interval) => {
      if (interval.index < 0) return;
      addTally(total, interval.tally);
      latencies.addPacked(interval.latencies);
    },
  );
  const stop = (): void => part.stop();
  signal.addEventListener("abort", stop, { once: true });
  await part.connect(1000);
  const begin = performance.now();
  const open = begin + 1000 * (spec.steps[0]?.warmupSeconds ?? 0);
  const report = await part.run({ begin, open, close: open + 1000 * seconds });
  signal.removeEventListener("abort", stop);
  const statements = total.reads + total.writes + total.others;
  return {
    workload,
    threads,
    seconds,
    eventsPerSecond: Math.round(total.events / seconds),
    statementsPerSecond: Math.round(statements / seconds),
    cpuMicrosecondsPerStatement: Math.round((1e9 * report.cpuSeconds) / Math.max(1, statements)) / 1000,
    p50: latencies.percentile(50),
    p99: latencies.percentile(99),
  };
}
