/** meshbench compare: stacks, result files and published sets side by side. */
import type { Command } from "commander";
import type { CompareOptions } from "../report/compare/compare.ts";
import { compare } from "../report/compare/compare.ts";
import { ReportError } from "../report/errors.ts";
import { findPublished, publishedSets } from "../report/published/index.ts";
import { publishedSubject } from "../report/published/set.ts";
import { renderCsv, renderJson } from "../report/render/data.ts";
import { renderMarkdown } from "../report/render/markdown.ts";
import { renderTerminal } from "../report/render/terminal.ts";
import type { StackOutput } from "../report/resolve.ts";
import { resolveSubjects } from "../report/resolve.ts";
import { writeWhole } from "../report/write.ts";

interface Options extends ComparisonFlags {
  results: string;
  json?: boolean;
  csv?: boolean;
  md?: boolean;
  out?: string;
}

export interface ComparisonFlags {
  force?: boolean;
  against?: string;
  match?: string[];
}

/** Options that compare and report share. */
export function comparisonFlags(command: Command): Command {
  return command
    .option("--force", "compare even when it was not the same work; the output is marked")
    .option("--against <study>", "lay our shape beside a published study, such as 000, and say why they differ")
    .option(
      "--match <stack=set...>",
      "which stack stands for which set of that study, where names do not tell (local=hybrid)",
    );
}

export function compareOptions(flags: ComparisonFlags): CompareOptions {
  const match = new Map(
    (flags.match ?? []).map((pair): [string, string] => {
      const at = pair.lastIndexOf("=");
      if (at < 1 || at === pair.length - 1)
        throw new ReportError(`--match: ${JSON.stringify(pair)}; expected STACK=SET`);
      return [pair.slice(0, at), pair.slice(at + 1)];
    }),
  );
  if (match.size > 0 && !flags.against) throw new ReportError("--match needs --against STUDY");
  return {
    ...(flags.force ? { force: true } : {}),
    match,
    ...(flags.against
      ? { against: findPublished(flags.against.replace(/^published:/, "")).map(publishedSubject) }
      : {}),
  };
}

export function register(program: Command, wiring: { stackOutput?: StackOutput } = {}): void {
  comparisonFlags(program.command("compare"))
    .description("put runs side by side: throughput, latency, ratios with intervals, what distance costs")
    .argument(
      "[subjects...]",
      "stack names (newest complete result), result files, or published:STUDY[/SET]; the first is the baseline",
    )
    .option("--results <dir>", "where results are kept", "results")
    .option("--json", "print JSON")
    .option("--csv", "print CSV")
    .option("--md", "print Markdown")
    .option("--out <file>", "write to a file instead of the terminal; - is standard output")
    .addHelpText("after", `\nPublished sets: ${publishedSets.map((s) => s.id).join(", ")}`)
    .action((names: string[], options: Options) => guarded(() => run(names, options, wiring)));
}

async function run(names: string[], options: Options, wiring: { stackOutput?: StackOutput }): Promise<void> {
  const formats = [options.json && renderJson, options.csv && renderCsv, options.md && renderMarkdown].filter(
    (f) => typeof f === "function",
  );
  if (formats.length > 1) throw new ReportError("--json, --csv and --md exclude one another: give one");
  const resolved = await resolveSubjects(names, { results: options.results, ...wiring });
  for (const { reason } of resolved.skipped) process.stderr.write(`skipped: ${reason}\n`);
  for (const notice of resolved.notices) process.stderr.write(`note: ${notice}\n`);
  const text = (formats[0] ?? renderTerminal)(compare(resolved.subjects, compareOptions(options)));
  if (options.out) writeWhole(options.out, text);
  else process.stdout.write(text);
}

/** One line for a mistake of the user and exit code 1; anything else is a fault of ours and keeps its trace. */
export async function guarded(action: () => Promise<void>): Promise<void> {
  try {
    await action();
  } catch (error) {
    if (!(error instanceof ReportError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  }
}
