/** Stacks that hold resources, in the project's own file backend or the user's. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseKept, STACK_ID_RESOURCE } from "../../infra/identity/stack-id.ts";
import { labName } from "../../infra/sites/lab-name.ts";
import { findEngine } from "../../tools/engine/engine.ts";
import { type Project, stateFile } from "../../tools/project.ts";
import { runPulumi } from "../../tools/run.ts";
import { committedStacks, forgetStackFile } from "../../tools/start/stack-files.ts";
import { stackFile } from "../doctor/settings.ts";
import { ofType } from "../sites/index.ts";
import { counted, isExpired, type Look, type Removable } from "./item.ts";

interface Resource {
  urn: string;
  type: string;
  id?: string;
  outputs?: Record<string, unknown>;
}

export interface Deployment {
  resources?: Resource[] | null;
  pending_operations?: unknown[] | null;
  manifest?: { time?: string };
}

export interface StackState {
  name: string;
  /** Resources that exist, without the stack itself and components. */
  resources: number;
  expires: string | undefined;
  /** On everything that it made; undefined when it was cut off before it had one. */
  id: string | undefined;
  /** What it was called when the id was made. */
  firstName: string;
  /** The laboratory of its local nodes, if it has one. */
  lab: string;
  /** Anything of it is in a cloud. */
  clouds: boolean;
  /** Whether something with this id is in its state. */
  holds: (id: string) => boolean;
}

/** Hours after which a stack is over that was cut off before it said so: the default of meshbench:expiresHours. */
const DEFAULT_HOURS = 24;

/** Undefined for a stack that holds nothing. `config` are the stack file's keys. Pure. */
export function describeStack(
  name: string,
  deployment: Deployment,
  config: Record<string, unknown>,
  root: string,
): StackState | undefined {
  const all = deployment.resources ?? [];
  const resources = all.filter((r) => r.id !== undefined && r.id !== "" && !r.type.startsWith("pulumi:"));
  const pending = (deployment.pending_operations ?? []).length;
  if (resources.length + pending === 0) return undefined;
  const said = resources.find((r) => r.type === "command:local:Command" && r.urn.endsWith("::expiry"))?.outputs?.[
    "stdout"
  ];
  const cutOff = Date.parse(deployment.manifest?.time ?? "");
  const expires =
    typeof said === "string"
      ? said.trim()
      : Number.isNaN(cutOff)
        ? undefined
        : new Date(cutOff + DEFAULT_HOURS * 3_600_000).toISOString();
  const kept = parseKept(resources.find((r) => r.urn.endsWith(`::${STACK_ID_RESOURCE}`))?.outputs?.["stdout"]);
  const lab =
    all.find((r) => r.type === "pulumi:pulumi:Stack")?.outputs?.["lab"] ?? (config["meshbench:lab"] || kept?.lab);
  const text = JSON.stringify(resources);
  return {
    name,
    resources: resources.length + pending,
    expires,
    id: kept?.id,
    firstName: kept?.name ?? name,
    lab: typeof lab === "string" && lab !== "" ? lab : labName(name, root),
    clouds: resources.some((r) => ofType(r.type)?.inCloud),
    holds: (id) => text.includes(`"${id}"`),
  };
}

/** All stacks of the project's backend with something in them. */
export async function readStacks(project: Project): Promise<{ stacks: StackState[]; skipped: string[] }> {
  const skipped: string[] = [];
  const stacks: StackState[] = [];
  try {
    for (const [name, read] of project.state === undefined ? await ownBackend(project) : fileBackend(project)) {
      try {
        const state = describeStack(name, await read(), stackFile(project.root, name), project.root);
        if (state) stacks.push(state);
      } catch (error) {
        skipped.push(`stack ${name}: its state cannot be read: ${(error as Error).message.split("\n")[0]}`);
      }
    }
  } catch (error) {
    skipped.push(`stacks: ${(error as Error).message.split("\n")[0]}`);
  }
  return { stacks, skipped };
}

type Reader = [name: string, read: () => Deployment | Promise<Deployment>];

/** Read as it lies on disk: no engine is needed to see that there is nothing. */
function fileBackend(project: Project): Reader[] {
  const folder = join(project.state!, ".pulumi", "stacks", project.name);
  if (!existsSync(folder)) return [];
  return readdirSync(folder).flatMap((file): Reader[] => {
    const name = /^(.+)\.json$/.exec(file)?.[1];
    return name === undefined
      ? []
      : [
          [
            name,
            () =>
              (JSON.parse(readFileSync(join(folder, file), "utf8")) as { checkpoint?: { latest?: Deployment } })
                .checkpoint?.latest ?? {},
          ],
        ];
  });
}

async function ownBackend(project: Project): Promise<Reader[]> {
  if ((await findEngine()).engine === undefined)
    throw new Error("they are in a backend of your own, and there is no Pulumi here to ask it (meshbench doctor)");
  const listed = JSON.parse(await asked(project, ["stack", "ls", "--json"])) as {
    name: string;
    resourceCount?: number;
  }[];
  return listed
    .filter((one) => one.resourceCount !== 0)
    .map(
      ({ name }): Reader => [
        name,
        async () =>
          (JSON.parse(await asked(project, ["stack", "export", "--stack", name])) as { deployment?: Deployment })
            .deployment ?? {},
      ],
    );
}

async function asked(project: Project, args: string[]): Promise<string> {
  const { code, stdout, stderr } = await runPulumi([...args, "--non-interactive"], {
    project,
    stdio: ["ignore", "pipe", "pipe"],
    say: () => {},
  });
  if (code !== 0) throw new Error(`pulumi ${args.slice(0, 2).join(" ")}: ${stderr.trim().replace(/^error: /, "")}`);
  return stdout;
}

export function lookAtStacks(project: Project, stacks: StackState[], now: number): Look {
  return {
    skipped: [],
    found: stacks.map(
      (state): Removable => ({
        place: "stack",
        name: state.name,
        stack: state.name,
        stackId: state.id,
        foreign: false,
        what: counted(state.resources, "resource"),
        owner: ownerOf(project, state.name),
        expires: state.expires,
        expired: isExpired(state.expires, now),
        remove: (say) => removeStack(project, state.name, say),
      }),
    ),
  };
}

function ownerOf(project: Project, stack: string): string | undefined {
  const owner = stackFile(project.root, stack)["meshbench:owner"];
  return typeof owner === "string" ? owner : undefined;
}

/** What the engine prints goes to stderr: stdout is for the list. */
async function removeStack(project: Project, stack: string, say: (line: string) => void): Promise<void> {
  const run = async (args: string[]): Promise<void> => {
    const { code } = await runPulumi([...args, "--yes", "--non-interactive", "--stack", stack], {
      project,
      stack,
      destroying: true,
      stdio: ["ignore", 2, 2],
      say,
    });
    if (code !== 0)
      throw new Error(`pulumi ${args[0] === "stack" ? "stack rm" : args[0]} ended with ${code}; what it says is above`);
  };
  await run(["destroy", "--skip-preview"]);
  // What a user has set for a stack that comes along is still good for the next time.
  const keep = committedStacks(project).includes(stack);
  await run(["stack", "rm", ...(keep ? ["--preserve-config"] : [])]);
  const state = stateFile(project, stack);
  if (!keep && state !== undefined && !existsSync(state)) forgetStackFile(project, stack);
}
