/**
 * Results on disk are the store: results/<stack>/<run-id>.json, one file per run, append-only.
 * A file appears whole or not at all and is never overwritten, so two writers cannot harm each other.
 */
import { open, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import type { RunResult } from "../workloads/contract.ts";
import { explain, runResultSchema, SCHEMA_VERSION } from "../workloads/contract.ts";
import { keepOnce } from "../workloads/keep.ts";
import { ReportError } from "./errors.ts";

/** What stands before a result's windows: enough to choose one run among thousands. */
export interface ResultHead {
  path: string;
  runId: string;
  startedAt: string;
  complete: boolean;
  incompleteReason?: string | undefined;
}
/** A file that could not be read: it is named, and the rest of the store stays usable. */
export interface SkippedFile {
  path: string;
  reason: string;
}
/** Turns a document of version N into one of version N + 1. */
export type Upgrade = (document: Record<string, unknown>) => Record<string, unknown>;

/** One entry per schema version that was left behind, by the old version's number. Version 1 is the first. */
const upgrades: Record<number, Upgrade> = {};

const namePattern = /^[a-zA-Z0-9][a-zA-Z0-9_.-]{0,62}$/;

function checkName(what: string, value: string): void {
  if (!namePattern.test(value)) {
    throw new ReportError(`${what}: ${JSON.stringify(value)}; expected letters, digits, '_', '.' and '-', at most 63`);
  }
}

/** Takes a document to the current schema by one upgrade per version. Throws ReportError when there is no way. */
export function upgraded(
  document: Record<string, unknown>,
  current: number,
  by: Record<number, Upgrade>,
): Record<string, unknown> {
  const version = document["schema"];
  if (typeof version !== "number" || !Number.isInteger(version) || version < 1) {
    throw new ReportError(
      `schema: ${JSON.stringify(version) ?? "missing"}; expected a whole number from 1 to ${current}`,
    );
  }
  if (version > current)
    throw new ReportError(`was written by a newer meshbench (schema ${version}; this one reads up to ${current})`);
  let now = document;
  for (let v = version; v < current; v++) {
    const upgrade = by[v];
    if (!upgrade) throw new ReportError(`schema ${v} can no longer be read`);
    now = { ...upgrade(now), schema: v + 1 };
  }
  return now;
}

/**
 * Parses and validates a result of this or an older version. Throws ReportError in one line that says what is wrong.
 */
export function parseResult(text: string): RunResult {
  let document: Record<string, unknown>;
  try {
    document = JSON.parse(withoutMark(text)) as Record<string, unknown>;
  } catch (error) {
    throw new ReportError(`is not JSON (${(error as Error).message})`);
  }
  if (typeof document !== "object" || document === null || document["kind"] !== "meshbench-result") {
    throw new ReportError('is not a meshbench result (no "kind": "meshbench-result")');
  }
  document = upgraded(document, SCHEMA_VERSION, upgrades);
  const parsed = runResultSchema.safeParse(document);
  if (!parsed.success) {
    const problems = explain(parsed.error, document).split("\n");
    const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : "";
    throw new ReportError(`is not a valid result: ${problems[0]}${more}`);
  }
  return parsed.data;
}

/** Some editors and shells begin a UTF-8 file with a byte order mark, which JSON does not know. */
const withoutMark = (text: string): string => text.replace(/^\uFEFF/, "");

/** Reads one result file. Throws ReportError that names the file. */
export async function readResult(path: string): Promise<RunResult> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    throw new ReportError(code === "ENOENT" ? `${path}: there is no such file` : `${path}: cannot be read (${code})`);
  }
  try {
    return parseResult(text);
  } catch (error) {
    if (error instanceof ReportError) throw new ReportError(`${path}: ${error.message}`);
    throw error;
  }
}

/** Stacks that have a folder in the store, sorted. */
export async function listStacks(root: string): Promise<string[]> {
  const entries = await readdir(root, { withFileTypes: true }).catch(() => []);
  return entries
    .filter((e) => e.isDirectory() && !e.name.startsWith("."))
    .map((e) => e.name)
    .sort();
}

const headSchema = z.looseObject({
  schema: z.literal(SCHEMA_VERSION),
  kind: z.literal("meshbench-result"),
  runId: z.string(),
  startedAt: z.string(),
  complete: z.boolean(),
  incompleteReason: z.string().optional(),
});

/** A run's own facts come first in its file, before the spec and the windows. */
const HEAD_BYTES = 4096;

/**
 * The head of a result file, from its beginning where it is written as this project writes it; else from the whole.
 * Throws ReportError that names the file.
 */
async function readHead(path: string): Promise<ResultHead> {
  const quick = headSchema.safeParse(await beginning(path));
  if (quick.success) return { ...quick.data, path };
  const { runId, startedAt, complete, incompleteReason } = await readResult(path);
  return { path, runId, startedAt, complete, incompleteReason };
}

/** What stands before `"spec"` in a file that ends as a whole one does; undefined when that is not to be had. */
async function beginning(path: string): Promise<unknown> {
  const file = await open(path).catch(() => undefined);
  if (!file) return undefined;
  try {
    const { size } = await file.stat();
    const [head, tail] = [Buffer.alloc(HEAD_BYTES), Buffer.alloc(2)];
    const { bytesRead } = await file.read(head, 0, HEAD_BYTES, 0);
    await file.read(tail, 0, 2, Math.max(0, size - 2));
    const text = withoutMark(head.toString("utf8", 0, bytesRead));
    const at = text.indexOf(',"spec":{');
    return at > 0 && tail.toString() === "}\n" ? (JSON.parse(`${text.slice(0, at)}}`) as unknown) : undefined;
  } catch {
    return undefined;
  } finally {
    await file.close();
  }
}

/**
 * The heads of a stack's results, oldest first by their start, and the files that had to be skipped. Windows are not
 * looked at: what is wrong there shows when the result is read.
 */
export async function listResults(
  root: string,
  stack: string,
): Promise<{ results: ResultHead[]; skipped: SkippedFile[] }> {
  checkName("stack", stack);
  const files = await readdir(join(root, stack)).catch(() => []);
  const results: ResultHead[] = [];
  const skipped: SkippedFile[] = [];
  for (const file of files.filter((f) => f.endsWith(".json") && !f.startsWith(".")).sort()) {
    const path = join(root, stack, file);
    try {
      results.push(await readHead(path));
    } catch (error) {
      if (!(error instanceof ReportError)) throw error;
      skipped.push({ path, reason: error.message });
    }
  }
  results.sort((a, b) => a.startedAt.localeCompare(b.startedAt));
  return { results, skipped };
}

/**
 * Adds a result to the store and returns its path. The same run saved twice is no error; another result under a run id
 * that is taken is: ReportError, and what is there stays.
 */
export async function saveResult(root: string, stack: string, result: RunResult): Promise<string> {
  checkName("stack", stack);
  checkName("runId", result.runId);
  const folder = join(root, stack),
    name = `${result.runId}.json`,
    path = join(folder, name);
  const text = `${JSON.stringify(result)}\n`;
  parseResult(text);
  if (keepOnce(folder, name, text) === "taken")
    throw new ReportError(`${path}: another result already has this run id; results are never overwritten`);
  return path;
}
