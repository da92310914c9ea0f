/** meshbench report: one HTML file out of runs and published sets. */
import type { Command } from "commander";
import { compare } from "../report/compare/compare.ts";
import type { StackOutput } from "../report/resolve.ts";
import { resolveSubjects } from "../report/resolve.ts";
import { writeWhole } from "../report/write.ts";
import type { ComparisonFlags } from "./compare.ts";
import { compareOptions, comparisonFlags, guarded } from "./compare.ts";

interface Options extends ComparisonFlags {
  results: string;
  out: string;
  title?: string;
}

export function register(program: Command, wiring: { stackOutput?: StackOutput } = {}): void {
  comparisonFlags(program.command("report"))
    .description("write one self-contained HTML file: summary, topology, charts, tables, environment, specs")
    .argument("[subjects...]", "as for compare; the first is the baseline")
    .option("--results <dir>", "where results are kept", "results")
    .option("--out <file>", "the file to write; - is standard output", "report.html")
    .option("--title <text>", "title of the page")
    .action((names: string[], options: Options) =>
      guarded(async () => {
        // Loaded only here: the bundler would slow the start of every other command.
        const { renderReport, SHOWN } = await import("../report/html/report.ts");
        const resolved = await resolveSubjects(names, { results: options.results, windows: SHOWN, ...wiring });
        for (const { reason } of resolved.skipped) process.stderr.write(`skipped: ${reason}\n`);
        for (const notice of resolved.notices) process.stderr.write(`note: ${notice}\n`);
        const page = await renderReport(
          compare(resolved.subjects, compareOptions(options)),
          options.title ? { title: options.title } : {},
        );
        writeWhole(options.out, page);
        // The page itself may be on standard output.
        (options.out === "-" ? process.stderr : process.stdout).write(
          `${options.out}: ${(page.length / 1e6).toFixed(1)} MB, ${resolved.subjects.length} run${resolved.subjects.length === 1 ? "" : "s"} or published set${resolved.subjects.length === 1 ? "" : "s"}\n`,
        );
      }),
    );
}
