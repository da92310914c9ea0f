/** A study from its file to its report: its legs in their order, each on disk when it is done. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { compare } from "../../report/compare/compare.ts";
import { type Subject, withoutWindows } from "../../report/model.ts";
import { findPublished } from "../../report/published/index.ts";
import { publishedSubject } from "../../report/published/set.ts";
import { renderTerminal } from "../../report/render/terminal.ts";
import { readResult } from "../../report/store.ts";
import { writeWhole } from "../../report/write.ts";
import type { RunResult } from "../../workloads/contract.ts";
import { beyond, estimateLeg, type LegEstimate } from "./estimate.ts";
import type { Leg, Study } from "./file.ts";
import { type Journal, legId } from "./journal.ts";
import { legSubject } from "./pool.ts";
import { isLocal, mayRunTogether, runTogether } from "./schedule.ts";
import { runLeg } from "./stack.ts";

export interface StudyOptions {
  journal: Journal;
  results: string;
  keepOnFailure: boolean;
  parallel: number;
  say: (line: string) => void;
  signal: AbortSignal;
}

export interface Outcome {
  done: number;
  failed: string[];
  stopped?: string;
}

/**
 * Runs what is not done yet. A failed leg does not end the study; a limit or a signal does, after what is under way.
 * `run` is how one leg is run; its promise is that of `runLeg`.
 */
export async function runLegs(
  study: Study,
  legs: Leg[],
  options: StudyOptions,
  run: typeof runLeg = runLeg,
): Promise<Outcome> {
  const { journal, say, signal } = options;
  const finished = journal.done();
  const failed: string[] = [];
  const underWay = new Map<string, { estimate: LegEstimate; took: () => number }>();
  let stopped: string | undefined,
    done = finished.size,
    position = 0;

  /** Legs under way have spent what they were estimated at, or more. */
  const spent = (): { seconds: number; money: number } => {
    const { seconds, money } = journal.spent(new Set(underWay.keys()));
    return {
      seconds,
      money: [...underWay.values()].reduce((sum, leg) => sum + Math.max(leg.estimate.money ?? 0, leg.took()), money),
    };
  };

  const one = async (leg: Leg): Promise<void> => {
    const id = legId(leg),
      label = `leg ${++position} of ${legs.length}, ${id}`;
    if (finished.has(id)) {
      say(`${label}: done before, kept`);
      return;
    }
    const estimate = estimateLeg(leg);
    if (signal.aborted) stopped = "interrupted";
    stopped ??= beyond(study.limits, spent(), estimate);
    if (stopped !== undefined) return;
    const began = Date.now(),
      stands = journal.openSince(id) ?? began;
    const took = (): { seconds: number; money: number } => ({
      seconds: (Date.now() - began) / 1000,
      money: ((estimate.perHour ?? 0) * (Date.now() - stands)) / 3_600_000,
    });
    say(`${label}: begins, about ${Math.ceil(estimate.seconds / 60)} min`);
    journal.add({ event: "leg-begun", leg: id });
    underWay.set(id, { estimate, took: () => took().money });
    try {
      const resultFile = await run(leg, {
        results: options.results,
        keepOnFailure: options.keepOnFailure,
        signal,
        log: join(journal.dir, `${leg.cell.name}-${leg.repeat + 1}.log`),
        say: (line) => say(`${label}: ${line}`),
      });
      journal.add({ event: "leg-done", leg: id, resultFile, ...took() });
      done++;
      say(`${label}: done in ${Math.round(took().seconds)} s, ${resultFile}`);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      journal.add({ event: "leg-failed", leg: id, why, ...took() });
      if (signal.aborted) {
        stopped = "interrupted";
        return;
      }
      failed.push(`${id}: ${why}`);
      say(`${label}: FAILED after ${Math.round(took().seconds)} s: ${why}`);
    } finally {
      underWay.delete(id);
    }
  };

  if (options.parallel > 1 && legs.some(isLocal)) say("a leg with local nodes runs alone: they share this machine");
  await runTogether(legs, options.parallel, mayRunTogether, one);
  return { done, failed, ...(stopped === undefined ? {} : { stopped }) };
}

/** The report over everything that is done: page and text, in the study's folder. Returns their paths and the text. */
export async function reportStudy(
  study: Study,
  legs: Leg[],
  journal: Journal,
): Promise<{ page: string; text: string; subjects: number }> {
  const { renderReport, SHOWN } = await import("../../report/html/report.ts");
  const done = journal.done();
  const cells = [...new Map(legs.map((l) => [l.cell.name, l.cell])).values()].toSorted((a, b) => a.place - b.place);
  const subjects: Subject[] = [];
  for (const cell of cells) {
    const files = legs.filter((l) => l.cell.name === cell.name).flatMap((l) => done.get(legId(l))?.resultFile ?? []);
    if (files.length === 0) continue;
    const results: RunResult[] = [];
    for (const file of files) results.push(await readResult(file));
    const subject = legSubject(results, cell.name, files);
    subjects.push(subjects.length < SHOWN ? subject : withoutWindows(subject));
  }
  if (subjects.length === 0)
    return { page: "", text: "no leg is done yet, so there is nothing to report\n", subjects: 0 };
  const against = study.against === undefined ? undefined : findPublished(study.against).map(publishedSubject);
  // Only of what is done: a report half way through has no other legs.
  const match = new Map(Object.entries(study.match).filter(([leg]) => subjects.some((s) => s.label === leg)));
  const comparison = compare(subjects, {
    match,
    force: Object.keys(study.profiles).length > 1,
    ...(against ? { against } : {}),
  });
  const text = renderTerminal(comparison);
  mkdirSync(journal.dir, { recursive: true });
  const page = join(journal.dir, "report.html");
  writeWhole(page, await renderReport(comparison, { title: study.title ?? study.name }));
  writeWhole(join(journal.dir, "report.txt"), text);
  return { page, text, subjects: subjects.length };
}
