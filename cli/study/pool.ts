/** Repeated deployments of a leg as one result, whose windows are repeats of each other. Pure. */
import { basename, dirname } from "node:path";
import { type Subject, subjectOf } from "../../report/model.ts";
import type { RunResult } from "../../workloads/contract.ts";

/**
 * Windows keep their step; their repeat is counted on, so that the spread of the whole is that between stands as well
 * as within. Specs are those of one cell and thus the same.
 */
export function pool(results: RunResult[], name: string): RunResult {
  const [first, ...others] = results;
  if (!first) throw new RangeError("there is nothing to pool");
  const repeats = new Map<number, number>();
  const steps = results.flatMap((r) =>
    r.steps.map((step) => {
      const repeat = repeats.get(step.step) ?? 0;
      repeats.set(step.step, repeat + 1);
      return { ...step, repeat };
    }),
  );
  const incomplete = results.filter((r) => !r.complete);
  return {
    ...first,
    steps,
    complete: incomplete.length === 0,
    ...(incomplete.length > 0
      ? {
          incompleteReason: `${incomplete.length} of ${results.length} stands: ${incomplete[0]!.incompleteReason ?? "cut short"}`,
        }
      : {}),
    ...(bill(results) === undefined ? {} : { cost: bill(results) }),
    finishedAt: others.length > 0 ? others.at(-1)!.finishedAt : first.finishedAt,
    spec: { ...first.spec, context: { ...first.spec.context, stack: name } },
  };
}

interface Bill {
  total: number;
  currency: string;
}

/** What all stands cost together; undefined unless each says so in one currency. */
function bill(results: RunResult[]): Bill | undefined {
  const bills = results.map((r) => r["cost"] as Partial<Bill> | undefined);
  const { currency } = bills[0] ?? {};
  if (currency === undefined || bills.some((b) => typeof b?.total !== "number" || b.currency !== currency))
    return undefined;
  return { total: bills.reduce((sum, b) => sum + b!.total!, 0), currency };
}

/**
 * A leg as a subject: its hours are those of its stands, not of what ran between them. `files` are theirs, in their
 * order.
 */
export function legSubject(results: RunResult[], name: string, files: string[]): Subject {
  const source =
    files.length === 1
      ? files[0]!
      : `${files.length} stands: ${files.map((f, i) => (i > 0 && dirname(f) === dirname(files[0]!) ? basename(f) : f)).join(", ")}`;
  const subject = subjectOf(pool(results, name), name, source);
  const hours = results.map((r) => subjectOf(r, name, "").hours);
  return {
    ...subject,
    method: { ...subject.method, stands: results.length },
    hours: hours.some((h) => h === null) ? null : hours.reduce<number>((sum, h) => sum + h!, 0),
  };
}
