/**
 * The whole of a run, as the topology's driver unit calls it: tables, their check, the windows, and whether all nodes
 * agree at the end.
 */

import type { RunSpec } from "../contract.ts";
import { driverName } from "../engine/barrier/barrier.ts";
import { Attempts } from "../engine/output.ts";
import { checkSpec, run } from "../engine/run.ts";
import { writeOutput } from "../keep.ts";
import { checkCapacity } from "../prepare/capacity.ts";
import type { PrepareResult, VerifyResult } from "../prepare/index.ts";
import { prepare, verify } from "../prepare/index.ts";
import { readPassword } from "../secrets.ts";
import { say, stopSignal } from "./actions.ts";
import type { Flags } from "./flags.ts";
import type { Met } from "./meeting.ts";
import { endTogether, withOthers } from "./meeting.ts";
import { observerFor } from "./observe.ts";
import { table } from "./table.ts";

/**
 * @returns the exit code: 0, 1 when the run is incomplete. Rejects when the tables cannot be made or are not what the
 * spec says.
 */
export async function benchAction(spec: RunSpec, flags: Flags, entry: URL): Promise<number> {
  checkSpec(spec);
  return withOthers(spec, stopSignal(), (met) => bench(met, flags, entry));
}

async function bench({ spec, signal, barrier }: Met, flags: Flags, entry: URL): Promise<number> {
  const password = readPassword(spec.target);
  // Of several drivers the first makes the tables, and compares the nodes at the end.
  const first = (spec.drivers?.index ?? 0) === 0;
  const shortages = first ? await checkCapacity(spec, { signal }) : [];
  if (shortages.length > 0) throw new Error(shortages.join("\n"));
  const tables = first ? await makeTables(spec, signal) : undefined;
  if (barrier) say(`${driverName(spec.drivers?.index ?? 0, spec.drivers?.count ?? 1)}: waiting for the others`);
  await barrier?.arrive("tables");
  const result = await run(spec, {
    password,
    entry,
    out: flags.out,
    status: flags.status,
    signal,
    onLine: say,
    observer: await observerFor(spec),
    barrier,
  });
  const allComplete = await endTogether(barrier, result);
  if (tables) {
    result.prepare = tables.prepared;
    result.verify = signal.aborted ? tables.checked : await agreement(spec, tables.checked, signal);
  }
  result.finishedAt = new Date().toISOString();
  delete result["unsaved"];
  const { out } = flags;
  const unsaved =
    out === undefined ? null : new Attempts(say).try(out, () => writeOutput(out, `${JSON.stringify(result)}\n`));
  process.stdout.write(`${flags.json ? JSON.stringify(result) : table(result)}\n`);
  if (result.verify?.ok === false) say(`the tables after the run: ${result.verify.problems.join("; ")}`);
  if (!result.complete) say(`incomplete: ${result.incompleteReason ?? "unknown"}`);
  else if (!allComplete) say("incomplete on another driver");
  return allComplete && unsaved === null ? 0 : 1;
}

async function makeTables(
  spec: RunSpec,
  signal: AbortSignal,
): Promise<{ prepared: PrepareResult; checked: VerifyResult }> {
  const prepared = await prepare(spec, { onProgress: say, signal });
  const checked = await verify(spec, { onProgress: say, signal });
  if (!checked.ok) throw new Error(checked.problems.join("\n"));
  return { prepared, checked };
}

/** A node that died during the run cannot answer; that is a finding, not the end of the result. */
async function agreement(spec: RunSpec, before: VerifyResult, signal: AbortSignal): Promise<VerifyResult> {
  try {
    return await verify(spec, { onProgress: say, signal, consistency: true, afterRun: true });
  } catch (error) {
    return {
      ...before,
      ok: false,
      problems: [`the nodes could not be compared after the run: ${(error as Error).message}`],
    };
  }
}
