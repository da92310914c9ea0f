/** The commands of this part alone, for tests that need a process of their own. */
import { Command } from "commander";
import { register as compare } from "../../cli/compare.ts";
import { register as published } from "../../cli/published.ts";
import { register as report } from "../../cli/report.ts";

const program = new Command("meshbench");
compare(program);
published(program);
report(program);
await program.parseAsync();
