/**
 * Golden files: what a generator wrote when it was last looked at. MESHBENCH_GOLDEN=write rewrites them; read the diff.
 */
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

export const GOLDEN_DIR = join(import.meta.dirname, "golden");

export function golden(name: string, text: string): void {
  const path = join(GOLDEN_DIR, name);
  if (process.env["MESHBENCH_GOLDEN"] === "write") {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text.endsWith("\n") ? text : `${text}\n`);
    return;
  }
  assert.ok(existsSync(path), `no golden file ${path}: write it with MESHBENCH_GOLDEN=write`);
  assert.equal(
    text.endsWith("\n") ? text : `${text}\n`,
    readFileSync(path, "utf8"),
    `${name} is not what it was; MESHBENCH_GOLDEN=write takes the new text`,
  );
}
