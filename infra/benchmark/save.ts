/** Results on the operator's disk: never overwritten, never half there. */
import { join } from "node:path";
import type { RunResult } from "../../workloads/contract.ts";
import { keepOnce } from "../../workloads/keep.ts";

/**
 * Returns the file's path. The same result saved twice is one file; another one of the same id gets a number: what a
 * run has cost hours to measure is kept under some name rather than refused.
 */
export function saveResult(dir: string, result: RunResult): string {
  const text = `${JSON.stringify(result)}\n`;
  for (let n = 1; ; n++) {
    const name = n === 1 ? `${result.runId}.json` : `${result.runId}.${n}.json`;
    if (keepOnce(dir, name, text) !== "taken") return join(dir, name);
  }
}
