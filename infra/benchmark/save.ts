/** Results on the operator's disk: never overwritten, never half there. */
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { RunResult } from "../../workloads/contract.ts";

/** Returns the file's path. The same result saved twice is one file; another one of the same id gets a number. */
export function saveResult(dir: string, result: RunResult): string {
  mkdirSync(dir, { recursive: true });
  const text = `${JSON.stringify(result)}\n`;
  const temporary = join(dir, `.${result.runId}.${process.pid}.tmp`);
  writeFileSync(temporary, text);
  try {
    for (let n = 1; ; n++) {
      const path = join(dir, n === 1 ? `${result.runId}.json` : `${result.runId}.${n}.json`);
      try {
        linkSync(temporary, path);
        return path;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
        if (readFileSync(path, "utf8") === text) return path;
      }
    }
  } finally {
    rmSync(temporary, { force: true });
  }
}
