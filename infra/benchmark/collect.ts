/**
 * A program: starts the run on the driver nodes unless it is under way or done, follows it, brings the result home; of
 * several drivers one result, made from their parts.
 * stdin: CollectInput. stderr: progress. stdout: the summary that becomes stack outputs.
 * A connection that breaks is taken up again; a run that ended without a result is an error with the end of its log.
 */
import type { RunResult } from "../../workloads/contract.ts";
import { merge } from "../../workloads/engine/figures/merge.ts";
import { runCost } from "../cost/run.ts";
import { readInput } from "../ssh.ts";
import { type DriverNode, DriverRun, type Ended } from "./driver-run.ts";
import { addHosts, type HostNode, startSampling } from "./hosts-collect.ts";
import { saveResult } from "./save.ts";
import { summarize } from "./summary.ts";

interface CollectInput {
  /** The first one made the tables. */
  drivers: DriverNode[];
  runKey: string;
  /** All nodes of the topology, to be watched during the run. */
  nodes: HostNode[];
  /** Relative to the project's root, which is the working directory. */
  resultsDir: string;
}

/** How one driver's part has ended; `problem`: this side has lost sight of it. */
interface Part {
  run: DriverRun;
  ended: Ended | undefined;
  result: RunResult | undefined;
  problem: string | undefined;
}

const input = await readInput<CollectInput>();
const { drivers, runKey, nodes, resultsDir } = input;
const runs = drivers.map((node, i) => new DriverRun(node, runKey, drivers.length > 1 ? `${node.name}: ` : "", i === 0));
try {
  await startSampling(nodes, runKey);
  await startAll();
  let ended = 0;
  const parts = await Promise.all(
    runs.map((run) =>
      bringHome(run, () => ended > 0).finally(() => {
        ended++;
      }),
    ),
  );
  const result = together(parts);
  if (result) await addHosts(result, nodes, runKey);
  const cost = result && runCost(result);
  if (cost) result["cost"] = cost;
  const file = result ? saveResult(resultsDir, result) : undefined;
  const bad = parts.filter((part) => part.ended?.exit !== 0);
  if (!result || bad.length > 0 || !result.complete) throw new Error(explain(result, file, bad));
  process.stdout.write(JSON.stringify(summarize(result, file!)));
} catch (error) {
  console.error(`benchmark: ${(error as Error).message}`);
  process.exitCode = 1;
} finally {
  for (const run of runs) run.close();
}

/** Several drivers wait for each other: they are all running or completed, or all begin again. */
async function startAll(): Promise<void> {
  if (runs.length === 1) return runs[0]!.start();
  const good = await Promise.all(runs.map((run) => run.isGood()));
  if (!good.every((is) => is)) await Promise.all(runs.map((run) => run.restart()));
}

async function bringHome(run: DriverRun, othersEnded: () => boolean): Promise<Part> {
  let ended: Ended | undefined;
  try {
    ended = await run.follow(othersEnded);
    return { run, ended, result: await run.result(), problem: undefined };
  } catch (error) {
    // The parts of the others count all the same.
    if (runs.length === 1) throw error;
    return { run, ended, result: undefined, problem: (error as Error).message };
  }
}

function together(parts: Part[]): RunResult | undefined {
  const results = parts.flatMap(({ result }) => (result ? [result] : []));
  return runs.length === 1 || results.length === 0 ? results[0] : merge(results);
}

function explain(result: RunResult | undefined, file: string | undefined, bad: Part[]): string {
  const why = result
    ? `the run is incomplete (${result.incompleteReason ?? "no reason given"}), what it has is in ${file}`
    : "the run ended without a result";
  const tails = bad.map(
    ({ run, ended, problem }) => `${runs.length > 1 ? `${run.node.name}:\n` : ""}${problem ?? ended?.tail.join("\n")}`,
  );
  return [`${why}; the end of its log:`, ...tails].join("\n");
}
