/** meshbench leftovers: what outlived its expiry, over stacks, local nodes and clouds; and its end. */
import { createInterface } from "node:readline/promises";
import Table from "cli-table3";
import type { Command } from "commander";
import { ReportError } from "../report/errors.ts";
import { ToolError } from "../tools/paths.ts";
import { guarded } from "./compare.ts";
import { chosen, counted, needsConsent, type Removable, taken, when } from "./leftovers/item.ts";
import { lookEverywhere } from "./leftovers/look.ts";
import { SITE_COMMANDS } from "./sites/index.ts";

interface Options {
  json?: boolean;
  destroy?: boolean;
  all?: boolean;
  yes?: boolean;
}

interface Outcome {
  name: string;
  place: string;
  removed: boolean;
  why?: string;
}

export function register(program: Command): void {
  program
    .command("leftovers")
    .description(
      "list what this project made and what has outlived its expiry, on this machine and in clouds; --destroy removes it",
    )
    .argument("[names...]", "only these: stacks, labs, or as the list calls them")
    .option("--all", "also what has not expired")
    .option("--destroy", "remove what is listed; asks before anything goes that is in a cloud or has not expired")
    .option("--yes", "do not ask")
    .option("--json", "print JSON")
    .addHelpText(
      "after",
      "\nOnly what carries this project's tags is looked at. What a stack made that is not one of this checkout's may be a\ncolleague's: --destroy takes it only when its whole name, or its stack's id, is given. Exit code 1 when something that was to be removed stays.",
    )
    .action((names: string[], options: Options) => guarded(() => run(names, options)));
}

async function run(names: string[], options: Options): Promise<void> {
  if (options.yes && !options.destroy)
    throw new ReportError("--yes goes with --destroy: nothing is removed without it");
  const now = Date.now();
  const { found, skipped, stacks } = await lookEverywhere(now).catch((error: unknown) => {
    throw error instanceof ToolError ? new ReportError(error.message) : error;
  });
  const left = chosen(found, names, options.all ?? false);
  if (!options.json) process.stdout.write(render(left, found, now, options.all ?? false));
  for (const sentence of skipped) process.stderr.write(`not looked at: ${sentence}\n`);
  const clouds = new Set(stacks.filter((s) => s.clouds).map((s) => s.name));
  const outcomes = options.destroy
    ? await destroy(taken(left, names), options, (f) =>
        needsConsent(f, f.place === "stack" ? clouds.has(f.name) : SITE_COMMANDS[f.place].inCloud),
      )
    : [];
  if (options.json)
    process.stdout.write(
      `${JSON.stringify({ leftovers: left.map(({ remove: _, ...rest }) => rest), skipped, ...(options.destroy ? { outcomes } : {}) }, null, 2)}\n`,
    );
  if (outcomes.some((o) => !o.removed)) process.exitCode = 1;
}

function render(left: Removable[], found: Removable[], now: number, all: boolean): string {
  const others = found.filter((f) => !f.expired).length;
  if (left.length === 0)
    return all
      ? "nothing of this project is there\n"
      : `no leftovers${others > 0 ? `; ${counted(others, "thing")} not expired (--all lists them)` : ""}\n`;
  const table = new Table({
    head: ["where", "name", "what", "stack", "owner", "expires"],
    style: { head: [], border: [], compact: true },
  });
  for (const f of left)
    table.push([
      f.place === "stack" ? "stack" : SITE_COMMANDS[f.place].where,
      f.name,
      f.what,
      `${f.stack ?? "-"}${f.foreign ? " *" : ""}`,
      f.owner ?? "-",
      when(f.expires, now),
    ]);
  const foreign = left.filter((f) => f.foreign).length;
  const note =
    foreign === 0
      ? ""
      : `${counted(foreign, "thing")} marked * of no stack that was made from this checkout, maybe a colleague's: --destroy takes such only by name\n`;
  return `${table.toString()}\n${note}`;
}

/** One after the other, stacks first; what fails does not keep the rest from going. */
async function destroy(left: Removable[], options: Options, asks: (f: Removable) => boolean): Promise<Outcome[]> {
  const questioned = left.filter(asks);
  const agreed = questioned.length === 0 || options.yes === true || (await consent(questioned));
  const outcomes: Outcome[] = [];
  let interrupted = false;
  const interrupt = (): void => {
    interrupted = true;
  };
  process.on("SIGINT", interrupt).on("SIGTERM", interrupt);
  try {
    for (const [i, f] of left.entries()) {
      const say = (line: string): void =>
        void process.stderr.write(`${`[${i + 1}/${left.length}] ${f.place} ${f.name}: ${line}`.trimEnd()}\n`);
      const outcome = interrupted
        ? "interrupted"
        : asks(f) && !agreed
          ? "kept, as nobody agreed"
          : await removed(f, say);
      if (outcome !== undefined) say(`stays: ${outcome}`);
      outcomes.push({
        name: f.name,
        place: f.place,
        removed: outcome === undefined,
        ...(outcome === undefined ? {} : { why: outcome }),
      });
    }
  } finally {
    process.off("SIGINT", interrupt).off("SIGTERM", interrupt);
  }
  return outcomes;
}

/** Undefined when it is gone, else why not. */
async function removed(f: Removable, say: (line: string) => void): Promise<string | undefined> {
  say(`removing ${f.what}`);
  try {
    await f.remove(say);
    say("gone");
    return undefined;
  } catch (error) {
    return (error as Error).message.split("\n")[0] ?? "";
  }
}

async function consent(questioned: Removable[]): Promise<boolean> {
  const what = `${counted(questioned.length, "thing")} in a cloud or not yet expired: ${questioned.map((f) => `${f.name} (${f.what})`).join("; ")}`;
  if (!process.stdin.isTTY) {
    process.stderr.write(`${what}: there is no terminal to ask on; --yes removes them without\n`);
    return false;
  }
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return (await terminal.question(`${what}. Type "remove" to remove them: `)).trim() === "remove";
  } finally {
    terminal.close();
  }
}
