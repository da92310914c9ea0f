/** meshbench published: the studies on record, their conditions, and what their texts claim against their figures. */
import Table from "cli-table3";
import type { Command } from "commander";
import { checkClaims } from "../report/published/claims.ts";
import { findPublished, publishedSets } from "../report/published/index.ts";
import { storageStudy } from "../report/published/storage.ts";
import { guarded } from "./compare.ts";

export function register(program: Command): void {
  program
    .command("published")
    .description(
      "published studies on record: their sets, conditions, and which of their claims follow from their figures",
    )
    .argument("[id]", "a study or a set, such as 000 or 001/3xFra")
    .option("--claims", "what the texts claim, worked out again from their figures")
    .option("--json", "print JSON")
    .action((id: string | undefined, options: { claims?: boolean; json?: boolean }) =>
      guarded(async () => {
        if (options.claims)
          print(
            checkClaims().filter((c) => !id || c.study === id.split("/")[0]),
            options.json,
            claimTable,
          );
        else if (id) print(findPublished(id), options.json, (sets) => sets.map(describe).join("\n\n"));
        else print(publishedSets, options.json, listing);
      }),
    );
}

function print<T>(value: T, json: boolean | undefined, text: (value: T) => string): void {
  process.stdout.write(`${json ? JSON.stringify(value, null, 2) : text(value)}\n`);
}

function claimTable(claims: ReturnType<typeof checkClaims>): string {
  const table = new Table({
    head: ["study", "claim", "verdict", "from the figures"],
    style: { head: [], border: [] },
    colWidths: [7, 42, 14, 62],
    wordWrap: true,
  });
  for (const c of claims) table.push([c.study, c.claim, c.verdict, c.found]);
  return table.toString();
}

function listing(sets: typeof publishedSets): string {
  const table = new Table({
    head: ["set", "what", "points", "source"],
    style: { head: [], border: [], compact: true },
    colWidths: [26, 44, 8, 60],
    wordWrap: true,
  });
  for (const s of sets) table.push([s.id, s.title, s.points.length + s.given.length, s.source]);
  table.push([
    storageStudy.id,
    `${storageStudy.configurations.length} configurations; ${storageStudy.figures}`,
    0,
    storageStudy.source,
  ]);
  return table.toString();
}

function describe(set: (typeof publishedSets)[number]): string {
  return [
    `${set.id}  ${set.title}`,
    `source      ${set.source}`,
    `hardware    ${set.hardware}`,
    `versions    ${set.versions}`,
    `method      ${set.howMeasured}`,
    ...set.conditions.map((c) => `condition   ${c}`),
    `not stated  ${set.notStated.join(", ")}`,
  ].join("\n");
}
