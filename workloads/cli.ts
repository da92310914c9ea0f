/**
 * The load engine's command line: `node workloads/cli.ts run --spec FILE --out FILE`, and one file when it is bundled
 * for a driver node. Its worker threads start from this same file.
 */
import { Command } from "commander";
import { cleanupAction, prepareAction, runAction, verifyAction } from "./command/actions.ts";
import { benchAction } from "./command/bench.ts";
import type { Flags } from "./command/flags.ts";
import { addFlags, listOptions, specFrom } from "./command/flags.ts";
import { calibrateAction, mergeAction } from "./command/tools.ts";
import type { RunSpec } from "./contract.ts";
import { serveLoop } from "./engine/part/loops.ts";
import { expectWritable } from "./keep.ts";

const entry = new URL(import.meta.url);

function program(): Command {
  const load = new Command("load")
    .description(
      "Loads a MySQL, MariaDB, PostgreSQL or CockroachDB server with sysbench's OLTP workloads and measures it",
    )
    .showHelpAfterError("(--help shows what is allowed)")
    .showSuggestionAfterError();
  const command = (
    name: string,
    description: string,
    action: (spec: RunSpec, flags: Flags) => Promise<number | void>,
  ): Command =>
    addFlags(load.command(name).description(description))
      .option("--out <file>", "write the result there (JSON); - prints it")
      .option("--json", "print the result as JSON")
      .action(async (flags: Flags, self: Command) => {
        if (flags.out === "-") {
          delete flags.out;
          flags.json = true;
        }
        if (flags.out !== undefined) expectWritable(flags.out, "--out");
        if (flags.status !== undefined) expectWritable(flags.status, "--status");
        const spec = specFrom(flags, (flag) => self.getOptionValueSource(flag) === "cli");
        process.exitCode = (await action(spec, flags)) ?? 0;
      });
  command("prepare", "make the tables and fill them", prepareAction);
  command("run", "run the workloads and measure", (spec, flags) => runAction(spec, flags, entry)).option(
    "--status <file>",
    "keep a small JSON file there with the state of the run",
  );
  command("bench", "prepare, verify, run, and compare the nodes afterwards", (spec, flags) =>
    benchAction(spec, flags, entry),
  ).option("--status <file>", "keep a small JSON file there with the state of the run");
  command("verify", "check tables, rows and indexes", verifyAction).option(
    "--consistency",
    "compare checksums over all endpoints",
  );
  command("cleanup", "drop the tables", cleanupAction);
  load
    .command("calibrate")
    .description("the engine's own ceiling on this machine: a driver that answers at once, no server")
    .option("--workload <name>", "workload", "oltp_read_write")
    .option("--threads <list>", "connections", "1,16,64")
    .option("--time <seconds>", "per measurement", "2")
    .option("--json", "print JSON")
    .action(calibrateAction);
  load
    .command("merge")
    .description("the results of several drivers of one run, as one result")
    .argument("<files...>", "results")
    .option("--out <file>", "write it there instead of printing it")
    .action(mergeAction);
  load
    .command("list-options")
    .description("workloads and their options")
    .action(() => void process.stdout.write(`${listOptions()}\n`));
  return load;
}

if (!serveLoop()) {
  // Who reads the progress may go away, and what it is written to may be full: the run goes on.
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});
  try {
    await program().parseAsync();
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 2;
  }
  // Sockets that a dead server keeps open must not keep the program alive.
  process.exit();
}
