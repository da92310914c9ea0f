/** What each command does. They print progress on standard error and the answer on standard output. */
import type { RunResult, RunSpec } from "../contract.ts";
import { checkSpec, run } from "../engine/run.ts";
import { writeOutput } from "../keep.ts";
import { checkCapacity } from "../prepare/capacity.ts";
import { checkData, cleanup, prepare, verify } from "../prepare/index.ts";
import { readPassword } from "../secrets.ts";
import type { Flags } from "./flags.ts";
import { endTogether, withOthers } from "./meeting.ts";
import { observerFor } from "./observe.ts";
import { table } from "./table.ts";

export const say = (line: string): void => void process.stderr.write(`${line}\n`);
const print = (value: unknown): void =>
  void process.stdout.write(`${typeof value === "string" ? value : JSON.stringify(value)}\n`);

/** Ends at the first Ctrl-C or SIGTERM in order, at the second one at once. */
export function stopSignal(): AbortSignal {
  const controller = new AbortController();
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(name, () => {
      if (controller.signal.aborted) process.exit(130);
      say(`${name}: stopping; once more stops at once`);
      controller.abort(name);
    });
  }
  return controller.signal;
}

export async function prepareAction(spec: RunSpec, flags: Flags): Promise<void> {
  const result = await prepare(spec, { onProgress: say, signal: stopSignal() });
  if (flags.out !== undefined) writeOutput(flags.out, `${JSON.stringify(result)}\n`);
  if (flags.json) print(result);
  else
    print(
      result.reused
        ? "the tables are there already"
        : `${result.rows} rows in ${result.seconds.toFixed(1)} s, ${result.rowsPerSecond.toFixed(0)} rows/s, by ${result.method}`,
    );
}

/** @returns the exit code: 0, 1 when the run is incomplete */
export async function runAction(spec: RunSpec, flags: Flags, entry: URL): Promise<number> {
  checkSpec(spec);
  return withOthers(spec, stopSignal(), async ({ spec: own, signal, barrier }) => {
    const password = readPassword(own.target);
    const data = await checkData(own, { signal });
    const problems = [...data.problems, ...(await checkCapacity(own, { signal }))];
    if (problems.length > 0) throw new Error(problems.join("\n"));
    const result = await run(own, {
      password,
      entry,
      out: flags.out,
      status: flags.status,
      signal,
      onLine: say,
      observer: await observerFor(own),
      barrier,
      notes: data.notes,
    });
    const allComplete = await endTogether(barrier, result);
    report(result, flags);
    return allComplete && result["unsaved"] === undefined ? 0 : 1;
  });
}

function report(result: RunResult, flags: Flags): void {
  if (flags.json) print(result);
  else print(table(result));
  if (!result.complete) say(`incomplete: ${result.incompleteReason ?? "unknown"}`);
}

export async function verifyAction(spec: RunSpec, flags: Flags): Promise<number> {
  const result = await verify(spec, { onProgress: say, signal: stopSignal(), consistency: flags.consistency ?? false });
  if (flags.out !== undefined) writeOutput(flags.out, `${JSON.stringify(result)}\n`);
  if (flags.json) print(result);
  else print(result.ok ? `${result.tables.length} tables are as they should be` : result.problems.join("\n"));
  for (const note of result.notes ?? []) say(`note: ${note}`);
  return result.ok ? 0 : 1;
}

export async function cleanupAction(spec: RunSpec, flags: Flags): Promise<void> {
  const dropped = await cleanup(spec, { onProgress: say, signal: stopSignal() });
  if (flags.json) print({ dropped });
  else print(`${dropped.length} tables dropped`);
}
