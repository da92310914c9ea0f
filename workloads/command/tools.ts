/** Commands that need no server. */
import { readFileSync } from "node:fs";
import type { RunResult } from "../contract.ts";
import { runResultSchema } from "../contract.ts";
import { calibrate } from "../engine/calibrate.ts";
import { merge } from "../engine/figures/merge.ts";
import { expectWritable, writeOutput } from "../keep.ts";
import { workload } from "../registry.ts";
import { stopSignal } from "./actions.ts";
import { list, number } from "./flags.ts";

export async function calibrateAction(flags: {
  workload: string;
  threads: string;
  time: string;
  json?: boolean;
}): Promise<void> {
  workload(flags.workload, "--workload");
  const seconds = number(flags.time, "--time");
  if (seconds <= 0) throw new Error(`--time: ${seconds}; expected more than 0`);
  const signal = stopSignal();
  for (const threads of list(flags.threads, "--threads")) {
    if (signal.aborted) return;
    const c = await calibrate(flags.workload, threads, seconds, signal);
    process.stdout.write(
      flags.json
        ? `${JSON.stringify(c)}\n`
        : `${c.workload}, ${c.threads} connections, one event loop: ${c.eventsPerSecond} events/s, ${c.statementsPerSecond} statements/s, ${c.cpuMicrosecondsPerStatement} us CPU per statement, added latency p50 ${c.p50.toFixed(3)} ms p99 ${c.p99.toFixed(3)} ms\n`,
    );
  }
}

export async function mergeAction(files: string[], flags: { out?: string }): Promise<void> {
  if (flags.out !== undefined) expectWritable(flags.out, "--out");
  const text = `${JSON.stringify(merge(files.map(read)))}\n`;
  if (flags.out === undefined) process.stdout.write(text);
  else writeOutput(flags.out, text);
}

function read(path: string): RunResult {
  let input: unknown;
  try {
    input = JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    throw new Error(`${path}: no result (${(error as NodeJS.ErrnoException).code ?? "no JSON"})`);
  }
  const parsed = runResultSchema.safeParse(input);
  if (!parsed.success)
    throw new Error(
      `${path}: no result of this program: ${parsed.error.issues[0]?.path.join(".") ?? ""} ${parsed.error.issues[0]?.message ?? ""}`,
    );
  return parsed.data;
}
