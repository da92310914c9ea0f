/** From what a user names - a stack, a result file, a published set - to subjects. */
import { existsSync } from "node:fs";
import { stat } from "node:fs/promises";
import { basename } from "node:path";
import { ReportError } from "./errors.ts";
import type { Subject } from "./model.ts";
import { subjectOf, withoutWindows } from "./model.ts";
import { findPublished } from "./published/index.ts";
import { publishedSubject } from "./published/set.ts";
import type { ResultHead, SkippedFile } from "./store.ts";
import { listResults, listStacks, readResult } from "./store.ts";

export interface Resolved {
  subjects: Subject[];
  /** Files of a stack that could not be read: to be named to the user. */
  skipped: SkippedFile[];
  /** What a user should know about how a name was understood. */
  notices: string[];
}

/** The `resultFile` output of a stack, or null when the stack has none or its engine is not there. */
export type StackOutput = (stack: string) => Promise<string | null>;

export interface ResolveOptions {
  results: string;
  stackOutput?: StackOutput;
  /**
   * How many subjects, from the first, keep their windows; default none. Each is megabytes of intervals and histograms,
   * which only charts need.
   */
  windows?: number;
}

/**
 * Resolves names in their order. A name is a file when it ends in .json or has a '/', `published:ID` is a published set
 * or all of a study, anything else is a stack: its newest complete result, or its newest one, marked, when none is
 * complete.
 */
export async function resolveSubjects(names: readonly string[], options: ResolveOptions): Promise<Resolved> {
  const resolved: Resolved = { subjects: [], skipped: [], notices: [] };
  for (const name of names) {
    if (name.startsWith("published:"))
      resolved.subjects.push(...findPublished(name.slice("published:".length)).map(publishedSubject));
    else if (isQualified(name)) resolved.subjects.push(await fromStack(name.split("/").at(-1)!, options, resolved));
    else if (name.endsWith(".json") || name.includes("/")) resolved.subjects.push(await fromFile(name));
    else resolved.subjects.push(await fromStack(name, options, resolved));
    // Right after each file, so that of hundreds one at a time is whole in memory.
    const last = resolved.subjects.length - 1;
    if (last >= (options.windows ?? 0)) resolved.subjects[last] = withoutWindows(resolved.subjects[last]!);
  }
  distinguish(resolved.subjects);
  return resolved;
}

/** `organization/meshbench/stack`, as Pulumi names a stack in full, unless a file is called so. */
const isQualified = (name: string): boolean => /^[\w.-]+\/meshbench\/[\w.-]+$/.test(name) && !existsSync(name);

async function fromFile(path: string): Promise<Subject> {
  if ((await stat(path).catch(() => null))?.isDirectory())
    throw new ReportError(`${path}: is a folder; name a stack or a result file`);
  const result = await readResult(path);
  return subjectOf(result, result.spec.context.stack ?? basename(path, ".json"), path);
}

async function fromStack(stack: string, options: ResolveOptions, resolved: Resolved): Promise<Subject> {
  const { results, skipped } = await listResults(options.results, stack);
  const newest = results.at(-1);
  // Newest complete one first, then the newest of the others; what turns out broken is named and the next one taken.
  const candidates = [...results.filter((r) => !r.complete), ...results.filter((r) => r.complete)].reverse();
  for (const head of candidates) {
    const subject = await fromHead(head, stack, skipped);
    if (!subject) continue;
    resolved.skipped.push(...skipped);
    if (newest !== head && !newest!.complete)
      resolved.notices.push(
        `${stack}: the newest run ${newest!.runId} is not complete (${newest!.incompleteReason ?? "cut short"}); ${head.runId} is used`,
      );
    return subject;
  }
  resolved.skipped.push(...skipped);
  const output = await options.stackOutput?.(stack);
  if (output) return subjectOf(await readResult(output), stack, output);
  if (skipped.length > 0)
    throw new ReportError(
      `${stack}: none of its ${skipped.length} result files can be read; first: ${skipped[0]!.reason}`,
    );
  const stacks = await listStacks(options.results);
  if (stacks.includes(stack)) throw new ReportError(`${stack}: has no result yet in ${options.results}/${stack}`);
  throw new ReportError(
    `${stack}: no such stack in ${options.results}/ (${stacks.length ? `there: ${stacks.join(", ")}` : "it is empty"}), and no file of that name`,
  );
}

async function fromHead(head: ResultHead, stack: string, skipped: SkippedFile[]): Promise<Subject | undefined> {
  try {
    return subjectOf(await readResult(head.path), stack, head.path);
  } catch (error) {
    if (!(error instanceof ReportError)) throw error;
    skipped.push({ path: head.path, reason: error.message });
    return undefined;
  }
}

/** Two runs of one stack need labels that tell them apart. */
function distinguish(subjects: Subject[]): void {
  const seen = new Map<string, number>();
  for (const s of subjects) seen.set(s.label, (seen.get(s.label) ?? 0) + 1);
  const used = new Set<string>();
  for (const s of subjects) {
    if (seen.get(s.label)! < 2) continue;
    const base = s.result ? `${s.label}:${s.result.runId}` : s.label;
    let label = base;
    for (let i = 2; used.has(label); i++) label = `${base}#${i}`;
    used.add(label);
    s.label = label;
  }
}
