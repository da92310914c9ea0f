/** meshbench study: a matrix of topologies, databases, proxies and profiles, one file and one command. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import Table from "cli-table3";
import type { Command } from "commander";
import { ReportError } from "../report/errors.ts";
import { withLock } from "../tools/lock.ts";
import { openProject } from "../tools/project.ts";
import { guarded } from "./compare.ts";
import { commandsOf } from "./sites/index.ts";
import { beyond, estimateLeg, total } from "./study/estimate.ts";
import { cellsOf, type Leg, legsOf, parseStudy, type Study, StudyError, scaleOf } from "./study/file.ts";
import { Journal, legId } from "./study/journal.ts";
import { reportStudy, runLegs } from "./study/run.ts";
import { readStackFile, studiesDir } from "./study/stack.ts";

interface Options {
  scale?: string;
  results: string;
  dryRun?: boolean;
  fresh?: boolean;
  keepOnFailure?: boolean;
  parallel: string;
  hours?: string;
  money?: string;
}

export function register(program: Command): void {
  const study = program
    .command("study")
    .description("run a whole study: up, measure, destroy for each leg of a matrix, then a report");
  const command = (name: string, description: string): Command =>
    study
      .command(name)
      .description(description)
      .argument("<file>", "the study, such as studies/hybrid-galera.yaml")
      .option("--scale <name>", "a scale of the file, such as quick")
      .option("--results <dir>", "where results are kept", "results");
  command("run", "run what is not done yet, then write the report")
    .option("--dry-run", "list the legs, the estimated time and cost, and do nothing")
    .option("--fresh", "begin anew although an unfinished run of this study is there")
    .option("--keep-on-failure", "leave a failed leg's stack up")
    .option("--parallel <n>", "legs at once, where they share no host: a leg with local nodes runs alone", "1")
    .option("--hours <n>", "time limit, over the file's own")
    .option("--money <n>", "spending limit, over the file's own")
    .action((file: string, options: Options) => guarded(() => run(file, options)));
  command("report", "the report over the legs that are done").action((file: string, options: Options) =>
    guarded(async () => {
      const { plan, legs } = load(file, options);
      const journal = Journal.last(studiesDir(options.results), plan, options.scale);
      if (!journal)
        throw new ReportError(
          `${file}: has not been run${options.scale === undefined ? "" : ` at scale ${options.scale}`} with results in ${options.results}/`,
        );
      await show(plan, legs, journal);
    }),
  );
}

function load(file: string, options: Options): { plan: Study; legs: Leg[] } {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch {
    throw new ReportError(`${file}: no such file; studies that come along are in studies/`);
  }
  try {
    const plan = parseStudy(text, file);
    for (const [key, value] of [
      ["hours", options.hours],
      ["money", options.money],
    ] as const) {
      if (value === undefined) continue;
      if (!(Number(value) >= 0)) throw new StudyError(`--${key}: ${value}; expected a number`);
      plan.limits[key] = Number(value);
    }
    const cells = cellsOf(plan, options.scale, readStackFile);
    return { plan, legs: legsOf(plan, cells, scaleOf(plan, options.scale).repeats ?? plan.repeats) };
  } catch (error) {
    throw error instanceof StudyError ? new ReportError(error.message) : error;
  }
}

async function run(file: string, options: Options): Promise<void> {
  const { plan, legs } = load(file, options);
  const parallel = Number(options.parallel);
  if (!(Number.isInteger(parallel) && parallel >= 1))
    throw new ReportError(`--parallel: ${options.parallel}; expected a whole number from 1`);
  const sum = total(legs, parallel);
  const cost = sum.money === null ? "no price given" : `about ${sum.money.toFixed(2)} ${sum.currency}`;
  if (options.dryRun) {
    const table = new Table({ head: ["leg", "sites", "profile", "min", "cost"], style: { head: [], border: [] } });
    for (const leg of legs) {
      const { config } = leg.cell,
        e = estimateLeg(leg);
      table.push([
        legId(leg),
        config.sites.map((s) => `${s.name}: ${s.nodes} ${s.kind}`).join(", "),
        config.profileName,
        (e.seconds / 60).toFixed(1),
        e.money === null ? "-" : `${e.money.toFixed(2)} ${e.currency}`,
      ]);
    }
    process.stdout.write(`${table.toString()}\n`);
  }
  const say = (line: string): void => void process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${line}\n`);
  process.stderr.write(
    `${plan.name}: ${legs.length} legs, about ${(sum.seconds / 3600).toFixed(2)} h${parallel > 1 ? ` with up to ${parallel} at once` : ""}, ${cost}\n`,
  );
  refuse(plan, sum.seconds, sum.money ?? 0, sum.currency);
  if (parallel > 1) await room(plan, legs, parallel, say);
  if (options.dryRun) return;

  // Stacks belong to the project, wherever results go: two runs of studies of one name would pull at the same ones.
  await withLock(
    join(openProject().private, `study-${plan.name}.lock`),
    () => carryOut(plan, legs, options, parallel, say),
    (pid) => {
      throw new ReportError(
        `${plan.name}: process ${pid} is running a study of this name, whose stacks have the same names; wait for it, or give this one another name`,
      );
    },
  );
}

async function carryOut(
  plan: Study,
  legs: Leg[],
  options: Options,
  parallel: number,
  say: (line: string) => void,
): Promise<void> {
  const { journal, resumed } = Journal.open(studiesDir(options.results), plan, options.scale, options.fresh ?? false);
  say(`${resumed ? "goes on" : "begins"} in ${journal.dir}`);
  const stop = new AbortController();
  const interrupt = (): void => {
    if (stop.signal.aborted) process.exit(130);
    say(
      "interrupted: what is under way is taken down, what is done stays; run the same command to go on. Once more leaves at once.",
    );
    stop.abort();
  };
  process.on("SIGINT", interrupt).on("SIGTERM", interrupt);
  const outcome = await runLegs(plan, legs, {
    journal,
    results: options.results,
    keepOnFailure: options.keepOnFailure ?? false,
    parallel,
    say,
    signal: stop.signal,
  });
  const whole = outcome.done === legs.length;
  await show(plan, legs, journal);
  if (whole) journal.add({ event: "ended" });
  for (const failure of outcome.failed) process.stderr.write(`failed: ${failure}\n`);
  if (outcome.stopped !== undefined) process.stderr.write(`stopped before the end by ${outcome.stopped}\n`);
  process.exitCode = whole ? 0 : 1;
}

/** An account that has no room for the legs side by side is told before the first of them. */
async function room(plan: Study, legs: Leg[], parallel: number, say: (line: string) => void): Promise<void> {
  const asking = legs.filter((leg) => leg.cell.config.preflight);
  const kinds = new Set(asking.flatMap((leg) => leg.cell.config.sites.map(({ kind }) => kind)));
  const rooms = await Promise.all(
    commandsOf(kinds).flatMap(({ room: ask }) => (ask === null ? [] : [ask(legs, parallel, openProject().name)])),
  );
  const problems = rooms.flatMap((one) => one.problems);
  const skipped = rooms.flatMap((one) => one.skipped);
  for (const sentence of skipped) say(`not checked beforehand: ${sentence}`);
  if (problems.length > 0) throw new ReportError(`${plan.name}: ${problems.join("\n")}`);
}

/** A study that would exceed its own limits does not begin. */
function refuse(plan: Study, seconds: number, money: number, currency: string | null): void {
  const why = beyond(plan.limits, { seconds: 0, money: 0 }, { seconds, money, perHour: null, currency });
  if (why !== undefined)
    throw new ReportError(
      `${plan.name}: would exceed ${why.replace(/: .*/, "")}: about ${(seconds / 3600).toFixed(2)} h${money > 0 ? ` and ${money.toFixed(2)} ${currency ?? ""}` : ""} for all legs; raise limits in the file or --hours, --money`,
    );
}

async function show(plan: Study, legs: Leg[], journal: Journal): Promise<void> {
  const report = await reportStudy(plan, legs, journal);
  process.stdout.write(report.text);
  if (report.page) process.stdout.write(`\nreport of ${report.subjects} legs: ${report.page}\n`);
  else process.stdout.write(`${join(journal.dir, "journal.jsonl")} says what happened\n`);
}
