/** Laboratories on this machine, through their own command, as a cloud would be asked. */
import { join } from "node:path";
import { checkout, nodeBinary } from "../../tools/paths.ts";
import { ran } from "../doctor/machine.ts";
import { counted, type Found, isExpired, type Look, lastExpiry, type Removable } from "./item.ts";

/** As much as is needed of what `lab list --json` prints. */
export interface LabSummary {
  lab: string;
  nodes: {
    state: string;
    labels: { project?: string; stack?: string; "stack-id"?: string; owner?: string; expires?: string };
  }[];
}

/** Those that no stack of this backend will take away itself. Pure. */
export function judgeLabs(labs: LabSummary[], ofStacks: Set<string>, ownIds: Set<string>, now: number): Found[] {
  return labs
    .filter(({ lab }) => !ofStacks.has(lab))
    .map(({ lab, nodes }): Found => {
      // A create that was killed before it wrote its labels says nothing about whether the lab is wanted.
      const labelled = nodes
        .filter((n) => n.state !== "creating" || n.labels.expires !== undefined)
        .map((n) => n.labels);
      const expires = lastExpiry(labelled.map((l) => l.expires));
      const first = labelled[0];
      return {
        place: "local",
        name: lab,
        what: counted(nodes.length, "node"),
        stack: first?.stack,
        stackId: first?.["stack-id"],
        foreign: !ownIds.has(first?.["stack-id"] ?? ""),
        owner: first?.owner,
        expires,
        expired: isExpired(expires, now),
      };
    });
}

const command = (...args: string[]) => ran(nodeBinary(), [join(checkout, "lab/cli.ts"), ...args]);
const sentence = (stderr: string): string =>
  stderr
    .trim()
    .split("\n")
    .at(-1)
    ?.replace(/^lab: /, "") || "no reason given";

export async function lookAtLabs(ofStacks: Set<string>, ownIds: Set<string>, now: number): Promise<Look> {
  const { code, stdout, stderr } = await command("list", "--json");
  if (code !== 0) return { found: [], skipped: [`local nodes: ${sentence(stderr)}`] };
  const found = judgeLabs(JSON.parse(stdout) as LabSummary[], ofStacks, ownIds, now).map(
    (lab): Removable => ({ ...lab, remove: () => purge(lab.name) }),
  );
  return { found, skipped: [] };
}

async function purge(lab: string): Promise<void> {
  const { code, stderr } = await command("purge", "--lab", lab);
  if (code !== 0) throw new Error(sentence(stderr));
}
