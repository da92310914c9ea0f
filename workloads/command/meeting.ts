/** A run as one of several drivers: the others are met before it, and the loss of one ends it. */
import type { RunResult, RunSpec } from "../contract.ts";
import type { Barrier } from "../engine/barrier/barrier.ts";
import { openBarrier } from "../engine/barrier/open.ts";

export interface Met {
  /** The run has the name that driver 0 gave it. */
  spec: RunSpec;
  /** Ends at `stop`, and when another driver is lost. */
  signal: AbortSignal;
  /** Undefined for a run of one driver. */
  barrier: Barrier | undefined;
}

/** Calls `body` when the others are met. What it throws, and what stops this driver, the others hear. */
export async function withOthers<T>(spec: RunSpec, stop: AbortSignal, body: (met: Met) => Promise<T>): Promise<T> {
  const barrier = await openBarrier(spec, { signal: stop });
  if (barrier === undefined) return body({ spec, signal: stop, barrier });
  const tellOthers = (): void => barrier.close(String(stop.reason ?? "stopped"));
  stop.addEventListener("abort", tellOthers, { once: true });
  if (stop.aborted) tellOthers();
  try {
    return await body({
      spec: { ...spec, runId: barrier.runId },
      signal: AbortSignal.any([stop, barrier.lost]),
      barrier,
    });
  } catch (error) {
    barrier.close((error as Error).message);
    if (barrier.lost.aborted) throw new Error(`${String(barrier.lost.reason)}; ${(error as Error).message}`);
    throw error;
  } finally {
    stop.removeEventListener("abort", tellOthers);
    barrier.close();
  }
}

/**
 * After the last window: waits for the others, so that nobody compares nodes that are still written to. A run that is
 * incomplete on one driver is so for all: they run again together, or not at all.
 * @returns whether all drivers are complete
 */
export async function endTogether(barrier: Barrier | undefined, result: RunResult): Promise<boolean> {
  if (barrier === undefined) return result.complete;
  const go = await barrier.arrive("end", result.complete);
  if (go === undefined && result.complete) {
    result.complete = false;
    result.incompleteReason = `all windows ran, but then: ${String(barrier.lost.reason ?? "stopped")}`;
  }
  return go?.allOk ?? false;
}
