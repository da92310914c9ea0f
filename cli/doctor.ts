/** meshbench doctor: what this machine and the credentials allow, and what each topology still needs. */
import type { Command } from "commander";
import { ReportError } from "../report/errors.ts";
import { checkout } from "../tools/paths.ts";
import { stackName } from "../tools/project.ts";
import { guarded } from "./compare.ts";
import { judge, render } from "./doctor/item.ts";
import { localItems, machineItems } from "./doctor/machine.ts";
import { knownStacks } from "./doctor/settings.ts";
import { checkStack } from "./doctor/topology.ts";

export function register(program: Command): void {
  program
    .command("doctor")
    .description("say what this machine and the credentials allow, and what each topology still needs; changes nothing")
    .argument("[stacks...]", "stacks that are to be run here; all that have a Pulumi.<stack>.yaml when none is named")
    .option("--json", "print JSON")
    .addHelpText(
      "after",
      "\nExit code 0 when the named stacks can be run here; without names, when at least one can. What could not be asked is\nsaid as skipped and counts as neither.",
    )
    .action((stacks: string[], options: { json?: boolean }) => guarded(() => run(stacks, options)));
}

async function run(names: string[], options: { json?: boolean }): Promise<void> {
  const asked = names.map(stackName);
  const { committed, own } = knownStacks(checkout);
  for (const stack of asked)
    if (![...committed, ...own].includes(stack))
      throw new ReportError(`${stack}: no such stack; there are ${[...committed, ...own].join(", ")}`);
  const { items, engine } = await machineItems();
  const stacks = asked.length > 0 ? [...new Set(asked)] : committed;
  const [localNodes, checked] = await Promise.all([
    localItems(),
    Promise.all(stacks.map((stack) => checkStack(stack, engine))),
  ]);
  const report = judge(items, localNodes, checked, asked);
  process.stdout.write(options.json ? `${JSON.stringify(report, null, 2)}\n` : render(report));
  process.exitCode = report.ok ? 0 : 1;
}
