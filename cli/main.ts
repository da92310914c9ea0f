/** meshbench: what Pulumi does not do. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Command } from "commander";
import * as compare from "./compare.ts";
import * as doctor from "./doctor.ts";
import * as leftovers from "./leftovers.ts";
import * as published from "./published.ts";
import * as report from "./report.ts";
import * as ssh from "./ssh.ts";
import { stackResultFile } from "./stack-output.ts";
import * as study from "./study.ts";

// A reader that has seen enough (head, a pager) ends the command without a word.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
  process.exit(0);
});

const root = join(import.meta.dirname, "..");
const { version, description } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  version: string;
  description: string;
};

if (process.argv[2] === "load") {
  // The load engine is a program of its own, which also runs alone on a driver node: it reads the rest of the line
  // itself.
  process.argv.splice(2, 1);
  await import("../workloads/cli.ts");
} else {
  const program = new Command("meshbench")
    .description(description)
    .version(version)
    .showHelpAfterError()
    .enablePositionalOptions()
    .showSuggestionAfterError();
  compare.register(program, { stackOutput: stackResultFile });
  report.register(program, { stackOutput: stackResultFile });
  published.register(program);
  study.register(program);
  doctor.register(program);
  leftovers.register(program);
  ssh.register(program);
  program
    .command("load")
    .description("prepare, run, verify, clean up a workload against any server (own --help)")
    .helpOption(false);
  program.addHelpText(
    "after",
    `
Topologies are Pulumi stacks:
  npm run pulumi -- up -s local            stand up, measure
  npm run pulumi -- stack output -s local  the results
  npm run pulumi -- destroy -s local       take away`,
  );
  await program.parseAsync();
}
