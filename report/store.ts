/**
 * Results on disk are the store: results/<stack>/<run-id>.json, one file per run, append-only.
 * A file appears whole or not at all and is never overwritten, so two writers cannot harm each other.
 */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { RunResult } from "../workloads/contract.ts";
import { explain, runResultSchema, SCHEMA_VERSION } from "../workloads/contract.ts";
import { keepOnce } from "../workloads/keep.ts";
import { ReportError } from "./errors.ts";

export interface StoredResult {
  path: string;
  result: RunResult;
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
    throw new ReportError(
      `${what}: got ${JSON.stringify(value)}; letters, digits, '_', '.', '-' are allowed, at most 63`,
    );
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
      `schema: got ${JSON.stringify(version) ?? "nothing"}, a whole number from 1 to ${current} is needed`,
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
    document = JSON.parse(text) as Record<string, unknown>;
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

/** Every result of a stack, oldest first by its start, and the files that had to be skipped. */
export async function listResults(
  root: string,
  stack: string,
): Promise<{ results: StoredResult[]; skipped: SkippedFile[] }> {
  checkName("stack", stack);
  const files = await readdir(join(root, stack)).catch(() => []);
  const results: StoredResult[] = [];
  const skipped: SkippedFile[] = [];
  for (const file of files.filter((f) => f.endsWith(".json") && !f.startsWith(".")).sort()) {
    const path = join(root, stack, file);
    try {
      results.push({ path, result: await readResult(path) });
    } catch (error) {
      if (!(error instanceof ReportError)) throw error;
      skipped.push({ path, reason: error.message });
    }
  }
  results.sort((a, b) => a.result.startedAt.localeCompare(b.result.startedAt));
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
