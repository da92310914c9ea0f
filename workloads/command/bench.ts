/** The whole of a run, as the topology's driver unit calls it: tables, their check, the windows, and whether all nodes agree at the end. */
import type { RunSpec } from "../contract.ts";
import { writeAtomically } from "../engine/output.ts";
import { checkSpec, run } from "../engine/run.ts";
import { prepare, verify } from "../prepare/index.ts";
import { readPassword } from "../secrets.ts";
import { say, stopSignal } from "./actions.ts";
import type { Flags } from "./flags.ts";
import { observerFor } from "./observe.ts";
import { table } from "./table.ts";

/** @returns the exit code: 0, 1 when the run is incomplete. Rejects when the tables cannot be made or are not what the spec says. */
export async function benchAction(spec: RunSpec, flags: Flags, entry: URL): Promise<number> {
  checkSpec(spec);
  const signal = stopSignal();
  const password = readPassword(spec.target);
  const prepared = await prepare(spec, { onProgress: say, signal });
  const before = await verify(spec, { onProgress: say, signal });
  if (!before.ok) throw new Error(before.problems.join("\n"));
  const result = await run(spec, { password, entry, out: flags.out, status: flags.status, signal, onLine: say, observer: await observerFor(spec) });
  result.prepare = prepared;
  result.verify = signal.aborted ? before : await agreement(spec, before, signal);
  result.finishedAt = new Date().toISOString();
  if (flags.out !== undefined) writeAtomically(flags.out, `${JSON.stringify(result)}\n`);
  process.stdout.write(`${table(result)}\n`);
  if (!result.verify.ok) say(`the nodes do not agree: ${result.verify.problems.join("; ")}`);
  if (!result.complete) say(`incomplete: ${result.incompleteReason ?? "unknown"}`);
  return result.complete ? 0 : 1;
}

/** A node that died during the run cannot answer; that is a finding, not the end of the result. */
async function agreement(spec: RunSpec, before: Awaited<ReturnType<typeof verify>>, signal: AbortSignal): Promise<Awaited<ReturnType<typeof verify>>> {
  try {
    return await verify(spec, { onProgress: say, signal, consistency: true });
  } catch (error) {
    return { ...before, ok: false, problems: [`the nodes could not be compared after the run: ${(error as Error).message}`] };
  }
}
