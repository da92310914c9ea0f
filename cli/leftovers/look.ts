/** Everywhere that something of the project's can be. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { AwsSite } from "../../infra/config/sites/aws.ts";
import { awsSettings } from "../../infra/config/sites/aws-settings.ts";
import { STACK_IDS } from "../../infra/identity/stack-id.ts";
import { type AwsAccess, accessOf } from "../../infra/sites/aws/access.ts";
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
  const ownIds = new Set([...stacks.flatMap((s) => s.id ?? []), ...seenIds(project)]);
  const held = (id: string): boolean => stacks.some((s) => s.holds(id));
  const { hosts, skipped: unasked } = hostsOf(settings.known);
  const looks = await Promise.all([
    lookAtStacks(project, stacks, now),
    lookAtLabs(new Set(stacks.map((s) => s.lab)), ownIds, now),
    // Loaded only here: AWS's client is the slowest thing to start.
    import("./aws.ts").then(({ lookAtAws }) =>
      lookAtAws({ project: project.name, accesses: accessesOf(settings.known), held, ownIds, now }),
    ),
    lookAtProxmox({
      project: project.name,
      hosts,
      held: (vmId, name) => stacks.some((s) => s.holds(String(vmId)) && s.holds(name)),
      ownIds,
      now,
    }),
  ]);
  return {
    stacks,
    found: looks.flatMap((l) => l.found),
    skipped: [...skipped, ...settings.skipped, ...unasked, ...looks.flatMap((l) => l.skipped)],
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

/** The default credentials, and those that stacks here have another way; of regions one is asked for all others. */
function accessesOf(known: Known[]): AwsAccess[] {
  const region = process.env["AWS_REGION"] || process.env["AWS_DEFAULT_REGION"] || "us-east-1";
  const ofStacks = known.flatMap(({ raw, aws }): AwsAccess[] => {
    const settings = awsSettings.safeParse(aws).data ?? {};
    const sites = Array.isArray(raw["sites"]) ? (raw["sites"] as ({ kind?: unknown; profile?: unknown } | null)[]) : [];
    return sites.flatMap((site) =>
      site?.kind === "aws"
        ? [
            accessOf(
              {
                region: (settings.region ?? region) as AwsSite["region"],
                ...(typeof site.profile === "string" ? { profile: site.profile } : {}),
              },
              settings,
              process.env,
            ),
          ]
        : [],
    );
  });
  const all = [accessOf({ region: region as AwsSite["region"] }, {}, process.env), ...ofStacks];
  return [...new Map(all.map((access) => [JSON.stringify({ ...access, region: "" }), access])).values()];
}
