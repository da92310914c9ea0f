/**
 * `npm run bench:up`: seconds from `up` to the first transaction and where they go, a second `up` without change,
 * `destroy`;
 * for 3 and for 9 database nodes. The image is built before the clock starts. Prints a table and, last, one line of
 * JSON.
 * The rounds of the sizes take turns, so that a slow moment of the machine hits both.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import Table from "cli-table3";
import { Command } from "commander";
import { TestStack } from "../harness/stack.ts";
import type { ConfigInput } from "../infra/config/schema.ts";

const program = new Command("bench:up")
  .description("seconds from `up` to the first transaction and where they go, a no-op up, destroy")
  .option("--nodes <list>", "numbers of database nodes", "3,9")
  .option("--rounds <n>", "rounds of each; medians are shown", "3")
  .parse();
const { nodes: list, rounds: count } = program.opts<{ nodes: string; rounds: string }>();
const sizes = list.split(",").map(Number),
  rounds = Number(count);
if (sizes.some((n) => !(Number.isInteger(n) && n >= 2 && n <= 18)))
  program.error(`--nodes: ${list}; expected whole numbers from 2 to 18`);
if (!(Number.isInteger(rounds) && rounds >= 1)) program.error(`--rounds: ${count}; expected a whole number from 1`);

/** The stages by the names of their resources, in the order in which they begin. */
const STAGES: [string, RegExp][] = [
  ["nodes", /^local-/],
  ["mesh", /-wg(-key|-ready)?$/],
  ["database", /-mariadb-conf$|-galera$|-settings$|^database-ready$/],
  ["proxy", /^haproxy$/],
  ["measured", /-(rtt|throughput)$/],
  ["run", /^(run|run-spec)$/],
];
const STOPS = ["nodes", "mesh", "database", "proxy", "measured", "prepared"];

// The engine has --event-log only with it.
process.env["PULUMI_DEBUG_COMMANDS"] = "true";

interface Round {
  ends: Record<string, number>;
  noop: number;
  destroy: number;
  load: number;
}

function config(nodes: number): ConfigInput {
  const east = Math.ceil((nodes * 2) / 3);
  return {
    sites: [
      { name: "east", kind: "local", nodes: east },
      { name: "west", kind: "local", nodes: nodes - east },
    ],
    links: [{ between: ["east", "west"], rttMs: 10 }],
    profile: {
      data: { tables: 1, tableSize: 10_000 },
      steps: [{ workload: "oltp_read_write", threads: 4, warmupSeconds: 0, durationSeconds: 1 }],
    },
  };
}

async function timed(work: () => Promise<{ code: number; output: string }>): Promise<number> {
  const began = Date.now();
  const { code, output } = await work();
  if (code !== 0) throw new Error(output.slice(-3000));
  return (Date.now() - began) / 1000;
}

async function round(nodes: number): Promise<Round> {
  const stack = new TestStack(`bench-up-${nodes}`, config(nodes));
  const dir = mkdtempSync(join(tmpdir(), "meshbench-bench-"));
  try {
    const log = join(dir, "events.json"),
      began = Date.now(),
      load = loadavg()[0]!;
    await timed(() => stack.up("--event-log", log));
    const outputs = await stack.outputs();
    const ends = stageEnds(log, began);
    // Nothing warms up here, so the first window opens with the first transaction.
    ends["prepared"] = (Date.parse(stack.result(outputs["resultFile"] as string).steps[0]!.startedAt) - began) / 1000;
    return {
      ends,
      load,
      noop: await timed(() => stack.up()),
      destroy: await timed(() => stack.run("destroy", "--yes")),
    };
  } finally {
    stack.remove();
    rmSync(dir, { recursive: true, force: true });
  }
}

/** Seconds after the start at which the last resource of each stage was done. */
function stageEnds(file: string, began: number): Record<string, number> {
  const ends: Record<string, number> = {};
  for (const line of readFileSync(file, "utf8").split("\n").filter(Boolean)) {
    const event = JSON.parse(line) as { timestamp: number; resOutputsEvent?: { metadata: { urn: string } } };
    const name = event.resOutputsEvent?.metadata.urn.split("::").pop();
    const stage = name === undefined ? undefined : STAGES.find(([, pattern]) => pattern.test(name))?.[0];
    if (stage) ends[stage] = Math.max(ends[stage] ?? 0, event.timestamp - began / 1000);
  }
  return ends;
}

const median = (values: number[]): number => [...values].sort((a, b) => a - b)[Math.floor((values.length - 1) / 2)]!;

const all = new Map<number, Round[]>(sizes.map((n) => [n, []]));
for (let i = 0; i < rounds; i++) {
  for (const nodes of sizes) {
    const done = await round(nodes);
    all.get(nodes)!.push(done);
    console.error(
      `round ${i + 1} of ${rounds}, ${nodes} nodes: first transaction ${done.ends["prepared"]!.toFixed(1)} s, no-op ${done.noop.toFixed(1)} s, destroy ${done.destroy.toFixed(1)} s (load average before: ${done.load.toFixed(1)})`,
    );
  }
}
const figures = sizes.map((nodes) => {
  const done = all.get(nodes)!;
  const of = (value: (r: Round) => number): number => Number(median(done.map(value)).toFixed(2));
  return {
    nodes,
    rounds,
    firstTransaction: of((r) => r.ends["prepared"]!),
    ends: Object.fromEntries(STOPS.map((s) => [s, of((r) => r.ends[s] ?? NaN)])),
    noop: of((r) => r.noop),
    destroy: of((r) => r.destroy),
    loadAverage: of((r) => r.load),
  };
});
const table = new Table({
  head: ["nodes", ...STOPS.map((s) => `${s} at`), "first transaction at", "no-op up", "destroy"],
  style: { head: [], border: [] },
});
for (const f of figures)
  table.push([
    f.nodes,
    ...STOPS.map((s) => f.ends[s]!.toFixed(1)),
    f.firstTransaction.toFixed(1),
    f.noop.toFixed(1),
    f.destroy.toFixed(1),
  ]);
console.log(table.toString());
console.log(
  `seconds, medians of ${rounds} rounds; "at" is when the last resource of a stage was done, counted from the call of up`,
);
console.log(JSON.stringify({ bench: "up", figures }));
