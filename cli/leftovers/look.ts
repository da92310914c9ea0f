/** Everywhere that something of the project's can be. */
import { openProject, type Project } from "../../tools/project.ts";
import { knownStacks, readSettings, type StackSettings } from "../doctor/settings.ts";
import type { Look } from "./item.ts";
import { lookAtLabs } from "./labs.ts";
import { hostsOf, lookAtProxmox } from "./proxmox.ts";
import { lookAtStacks, readStacks, type StackState } from "./stacks.ts";

export interface Everywhere extends Look {
  stacks: StackState[];
}

/** What belongs to a stack of this backend is listed once, as that stack. */
export async function lookEverywhere(now: number, project: Project = openProject()): Promise<Everywhere> {
  const [{ stacks, skipped }, settings] = await Promise.all([readStacks(project), allSettings(project)]);
  const held = (id: string): boolean => stacks.some((s) => s.holds(id));
  const { hosts, skipped: unasked } = hostsOf(settings.known);
  const looks = await Promise.all([
    lookAtStacks(project, stacks, now),
    lookAtLabs(new Set(stacks.map((s) => s.lab)), now),
    // Loaded only here: AWS's client is the slowest thing to start.
    import("./aws.ts").then(({ lookAtAws }) =>
      lookAtAws({ project: project.name, profiles: profilesOf(settings.known), held, now }),
    ),
    lookAtProxmox({
      project: project.name,
      hosts,
      held: (vmId, name) => stacks.some((s) => s.holds(String(vmId)) && s.holds(name)),
      now,
    }),
  ]);
  return {
    stacks,
    found: looks.flatMap((l) => l.found),
    skipped: [...skipped, ...settings.skipped, ...unasked, ...looks.flatMap((l) => l.skipped)],
  };
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

function profilesOf(known: Known[]): Set<string | undefined> {
  const named = known
    .flatMap(({ raw }) =>
      Array.isArray(raw["sites"]) ? (raw["sites"] as ({ kind?: unknown; profile?: unknown } | null)[]) : [],
    )
    .flatMap((site) => (site?.kind === "aws" && typeof site.profile === "string" ? [site.profile] : []));
  return new Set([undefined, ...named]);
}
