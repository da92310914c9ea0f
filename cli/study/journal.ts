/** What a study has done so far, on disk, so that a crash or Ctrl-C costs one leg at most. */
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createHash } from "node:crypto";
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

/** The same file at the same scale is the same study; anything else begins anew. */
export function fingerprint(study: Study, scale: string | undefined): string {
  return createHash("sha256").update(JSON.stringify([study, scale ?? null])).digest("hex").slice(0, 8);
}

export class Journal {
  readonly dir: string;
  readonly #file: string;

  constructor(dir: string) {
    this.dir = dir;
    this.#file = join(dir, "journal.jsonl");
  }

  /** The unfinished run of this study, or a new one. */
  static open(studies: string, study: Study, scale: string | undefined, fresh: boolean): { journal: Journal; resumed: boolean } {
    mkdirSync(studies, { recursive: true });
    const prefix = `${study.name}-${fingerprint(study, scale)}-`;
    const last = readdirSync(studies).filter((n) => n.startsWith(prefix)).sort().at(-1);
    if (last !== undefined && !fresh) {
      const journal = new Journal(join(studies, last));
      if (journal.entries().length > 0 && !journal.entries().some((e) => e.event === "ended")) return { journal, resumed: true };
    }
    const journal = new Journal(join(studies, `${prefix}${new Date().toISOString().replace(/[-:]/g, "").slice(0, 15)}Z`));
    mkdirSync(journal.dir, { recursive: true });
    journal.add({ event: "begun" });
    return { journal, resumed: false };
  }

  add(entry: Omit<Entry, "at" | "event"> & { event: Entry["event"] }): void {
    appendFileSync(this.#file, `${JSON.stringify({ at: new Date().toISOString(), ...entry })}\n`);
  }

  /** A last line that a crash cut short is no entry. */
  entries(): Entry[] {
    if (!existsSync(this.#file)) return [];
    return readFileSync(this.#file, "utf8").split("\n").flatMap((line) => {
      try { return [entrySchema.parse(JSON.parse(line))]; } catch { return []; }
    });
  }

  /** By leg: the result of its last good end, if that file is still there. */
  done(): Map<string, Entry & { resultFile: string }> {
    const found = new Map<string, Entry & { resultFile: string }>();
    for (const e of this.entries())
      if (e.event === "leg-done" && e.leg !== undefined && e.resultFile !== undefined && existsSync(e.resultFile)) found.set(e.leg, { ...e, resultFile: e.resultFile });
    return found;
  }

  spent(): { seconds: number; money: number } {
    const legs = this.entries().filter((e) => e.event === "leg-done" || e.event === "leg-failed");
    return { seconds: legs.reduce((s, e) => s + (e.seconds ?? 0), 0), money: legs.reduce((s, e) => s + (e.money ?? 0), 0) };
  }
}
