/**
 * A reporter for node's test runner: one line of JSON per test file, `{ file, ms, failed }`, paths relative to the
 * checkout. `ms` is the time of its outermost tests together; a file that crashed before its first test is failed.
 */
import { relative } from "node:path";
import { checkout } from "./paths.ts";

export interface FileTime {
  file: string;
  ms: number;
  failed: boolean;
}

interface TestEvent {
  type: string;
  data: { file?: string; nesting?: number; details?: { duration_ms?: number } };
}

export default async function* report(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const files = new Map<string, FileTime>();
  for await (const { type, data } of events) {
    if ((type !== "test:pass" && type !== "test:fail") || data.nesting !== 0 || data.file === undefined) continue;
    const file = relative(checkout, data.file);
    const seen = files.get(file) ?? { file, ms: 0, failed: false };
    files.set(file, seen);
    seen.ms += data.details?.duration_ms ?? 0;
    seen.failed ||= type === "test:fail";
  }
  for (const file of files.values()) yield `${JSON.stringify(file)}\n`;
}
