/** Everywhere that something of the project's can be. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { STACK_IDS } from "../../infra/identity/stack-id.ts";
import { openProject, type Project } from "../../tools/project.ts";
import { knownStacks, readSettings, type StackSettings } from "../doctor/settings.ts";
import { SITE_COMMANDS } from "../sites/index.ts";
import type { Look } from "./item.ts";
import { lookAtStacks, readStacks, type StackState } from "./stacks.ts";

export interface Everywhere extends Look {
  stacks: StackState[];
}

/** What belongs to a stack of this backend is listed once, as that stack. */
export async function lookEverywhere(now: number, project: Project = openProject()): Promise<Everywhere> {
  const [{ stacks, skipped }, settings] = await Promise.all([readStacks(project), allSettings(project)]);
  const ownIds = new Set([...stacks.flatMap((s) => s.id ?? []), ...seenIds(project)]);
  const question = { project: project.name, known: settings.known, stacks, ownIds, now };
  const looks = await Promise.all([
    lookAtStacks(project, stacks, now),
    ...Object.values(SITE_COMMANDS).flatMap(({ leftovers }) => (leftovers === null ? [] : [leftovers(question)])),
  ]);
  return {
    stacks,
    found: looks.flatMap((l) => l.found),
    skipped: [...skipped, ...settings.skipped, ...looks.flatMap((l) => l.skipped)],
  };
}

/** Ids of the stacks that were made or used from this checkout, also of those that are gone. */
function seenIds(project: Project): string[] {
  const folder = join(project.private, STACK_IDS);
  return existsSync(folder) ? readdirSync(folder) : [];
}

type Known = StackSettings & { stack: string };

async function allSettings(project: Project): Promise<{ known: Known[]; skipped: string[] }> {
  const { committed, own } = knownStacks(project.root);
  const skipped: string[] = [];
  const known = await Promise.all(
    [...committed, ...own].map(async (stack): Promise<Known[]> => {
      try {
        return [{ stack, ...(await readSettings(project.root, stack)) }];
      } catch (error) {
        skipped.push(`clouds of stack ${stack}: its file cannot be read: ${(error as Error).message.split("\n")[0]}`);
        return [];
      }
    }),
  );
  return { known: known.flat(), skipped };
}
