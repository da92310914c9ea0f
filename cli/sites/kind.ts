/** What the commands around Pulumi ask of a kind of site; the rest is in infra/sites/kinds. */
import type { StackSettings } from "../doctor/settings.ts";
import type { Look } from "../leftovers/item.ts";
import type { Lost, LostInput } from "../leftovers/lost-item.ts";
import type { Leg } from "../study/file.ts";

export interface SiteCommands {
  /** Where leftovers are found, for people: "lab". */
  readonly where: string;
  /** What is found there costs money: nobody takes it away unasked. */
  readonly inCloud: boolean;
  /** doctor asks whether this machine can run local nodes. */
  readonly needsLocalNodes: boolean;
  /** The engine's plugin, and the package whose version it must have; null where the command plugin is enough. */
  readonly provider: { plugin: string; package: string } | null;
  /** What this project made there, that no stack here holds; null where nothing is made. */
  readonly leftovers: ((question: Question) => Promise<Look>) | null;
  /** Takes away what a killed run was making of the provider's, of which no state knows. */
  readonly recover: ((input: LostInput, lost: Lost, say: (line: string) => void) => Promise<void>) | null;
  /** Whether there is room for the legs of a study that stand side by side; each of them asks only for itself. */
  readonly room: ((legs: Leg[], parallel: number, project: string) => Promise<Room>) | null;
}

export interface Question {
  project: string;
  /** The settings of every stack that has a file here. */
  known: (StackSettings & { stack: string })[];
  stacks: { lab: string; holds: (id: string) => boolean }[];
  /** Of stacks of this backend, or made from this checkout. */
  ownIds: Set<string>;
  now: number;
}

export interface Room {
  problems: string[];
  /** What could not be asked. */
  skipped: string[];
}
