/** What a study has done so far, on disk, so that a crash or Ctrl-C costs one leg at most. */

import { createHash } from "node:crypto";
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import type { Leg, Study } from "./file.ts";

const entrySchema = z.looseObject({
  at: z.string(),
  event: z.enum(["begun", "leg-begun", "leg-done", "leg-failed", "ended"]),
  leg: z.string().optional(),
  seconds: z.number().optional(),
  money: z.number().optional(),
  resultFile: z.string().optional(),
  why: z.string().optional(),
});
export type Entry = z.infer<typeof entrySchema>;

export const legId = (leg: Leg): string => `${leg.cell.name}#${leg.repeat + 1}`;

/**
 * The same file at the same scale is the same study; anything else begins anew. A study that hit a limit goes on under
 * a raised one.
 */
export function fingerprint({ limits: _, ...study }: Study, scale: string | undefined): string {
  return createHash("sha256")
    .update(JSON.stringify([study, scale ?? null]))
    .digest("hex")
    .slice(0, 8);
}

const prefixOf = (study: Study, scale: string | undefined): string => `${study.name}-${fingerprint(study, scale)}-`;

export class Journal {
  readonly dir: string;
  readonly #file: string;

  constructor(dir: string) {
    this.dir = dir;
    this.#file = join(dir, "journal.jsonl");
  }

  /** The newest run of this study, over or not; undefined when there was none. */
  static last(studies: string, study: Study, scale: string | undefined): Journal | undefined {
    const runs = existsSync(studies) ? readdirSync(studies, { withFileTypes: true }) : [];
    const name = runs
      .filter((e) => e.isDirectory() && e.name.startsWith(prefixOf(study, scale)))
      .map((e) => e.name)
      .sort()
      .at(-1);
    return name === undefined ? undefined : new Journal(join(studies, name));
  }

  /** The unfinished run of this study, or a new one. */
  static open(
    studies: string,
    study: Study,
    scale: string | undefined,
    fresh: boolean,
  ): { journal: Journal; resumed: boolean } {
    const last = fresh ? undefined : Journal.last(studies, study, scale);
    if (last && last.entries().length > 0 && !last.entries().some((e) => e.event === "ended")) {
      last.#mend();
      return { journal: last, resumed: true };
    }
    const journal = new Journal(
      join(studies, `${prefixOf(study, scale)}${new Date().toISOString().replace(/[-:]/g, "").slice(0, 15)}Z`),
    );
    mkdirSync(journal.dir, { recursive: true });
    journal.add({ event: "begun" });
    return { journal, resumed: false };
  }

  add(entry: Omit<Entry, "at" | "event"> & { event: Entry["event"] }): void {
    appendFileSync(this.#file, `${JSON.stringify({ at: new Date().toISOString(), ...entry })}\n`);
  }

  /** What is written after a line that a crash cut short must not become part of it. */
  #mend(): void {
    if (!readFileSync(this.#file, "utf8").endsWith("\n")) appendFileSync(this.#file, "\n");
  }

  /** A last line that a crash cut short is no entry. */
  entries(): Entry[] {
    if (!existsSync(this.#file)) return [];
    return readFileSync(this.#file, "utf8")
      .split("\n")
      .flatMap((line) => {
        try {
          return [entrySchema.parse(JSON.parse(line))];
        } catch {
          return [];
        }
      });
  }

  /** By leg: the result of its last completion, if that file is still there. */
  done(): Map<string, Entry & { resultFile: string }> {
    const found = new Map<string, Entry & { resultFile: string }>();
    for (const e of this.entries())
      if (e.event === "leg-done" && e.leg !== undefined && e.resultFile !== undefined && existsSync(e.resultFile))
        found.set(e.leg, { ...e, resultFile: e.resultFile });
    return found;
  }

  /** When a leg was begun that has not ended since, ms: one that a crash cut off has stood, and cost, from then on. */
  openSince(leg: string): number | undefined {
    const own = this.entries().filter((e) => e.leg === leg);
    const open = own.slice(own.findLastIndex((e) => e.event === "leg-done" || e.event === "leg-failed") + 1);
    return open[0] === undefined ? undefined : Date.parse(open[0].at);
  }

  /**
   * What the study took: seconds on the clock with at least one leg under way, and the money of the legs that have
   * ended.
   * Legs in `running` are under way until `now`, ms; those that a crash cut off count from the time they were taken up.
   */
  spent(running: ReadonlySet<string> = new Set(), now: number = Date.now()): { seconds: number; money: number } {
    const begun = new Map<string, number>(),
      spans: [from: number, to: number][] = [];
    let money = 0;
    for (const e of this.entries()) {
      if (e.leg === undefined) continue;
      if (e.event === "leg-begun") {
        begun.set(e.leg, Date.parse(e.at));
        continue;
      }
      const from = begun.get(e.leg);
      if (from !== undefined) spans.push([from, Date.parse(e.at)]);
      begun.delete(e.leg);
      money += e.money ?? 0;
    }
    for (const [leg, from] of begun) if (running.has(leg)) spans.push([from, now]);
    return { seconds: covered(spans) / 1000, money };
  }
}

/** The length of what at least one of the spans covers. */
function covered(spans: [from: number, to: number][]): number {
  let sum = 0,
    end = -Infinity;
  for (const [from, to] of spans.toSorted((a, b) => a[0] - b[0])) {
    sum += Math.max(0, to - Math.max(from, end));
    end = Math.max(end, to);
  }
  return sum;
}
