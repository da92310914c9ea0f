/**
 * `npm run bench:engine`: the load engine beside Debian's sysbench 1.0.20, on a server of its own. Runs of both sides
 * take
 * turns, so that whatever else the machine does meets both alike; figures are medians over the pairs.
 */
import { spawn } from "node:child_process";
import { cpus, loadavg } from "node:os";
import { fileURLToPath } from "node:url";
import { Command, InvalidArgumentError, Option } from "commander";
import type { LoadRun, WholeRun } from "./engine-measure.ts";
import { measureLoad, measureWhole, shareWith } from "./engine-measure.ts";
import type { Cell, Pair, PrepareCell } from "./engine-report.ts";
import { loadFigures, loadTable, missedAims, prepareFigures, prepareTable } from "./engine-report.ts";
import type { BenchServer } from "./engine-servers.ts";
import { LOAD_CORE, SERVER_CORE, startServer } from "./engine-servers.ts";
import { ShareGroup } from "./engine-share.ts";
import type { Side, Tables } from "./engine-sides.ts";
import { cleanupCommand, environment, prepareCommand, runCommand, SIDES, tpsOf } from "./engine-sides.ts";

type Options = {
  driver: "mysql" | "postgres";
  pairs: number;
  seconds: number;
  threads: number[];
  workloads: string[];
  rows: number;
  share?: number;
  quick: boolean;
  load: boolean;
  prepare: boolean;
};

const RUN_TABLES: Tables = { tables: 4, size: 50_000 };
const LINK_MS = 10;

const whole = (text: string): number => {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new InvalidArgumentError("a whole number from 1 on is allowed.");
  return value;
};
const say = (line: string): void => void process.stderr.write(`${line}\n`);

const options = new Command("bench:engine")
  .description(
    "Compares the load engine with Debian's sysbench on a private server: transactions per second, CPU per transaction, memory, rows per second of prepare",
  )
  .addOption(new Option("--driver <driver>", "server to start").choices(["mysql", "postgres"]).default("mysql"))
  .option("--pairs <n>", "pairs of runs per cell", whole, 5)
  .option("--seconds <n>", "measured seconds per run, at least 4", whole, 6)
  .option("--threads <list>", "connections", (text) => text.split(",").map(whole), [1, 4, 16, 64, 192])
  .option("--workloads <list>", "workloads", (text) => text.split(","), [
    "oltp_read_only",
    "oltp_write_only",
    "oltp_read_write",
    "oltp_point_select",
  ])
  .option("--rows <n>", "rows of the prepare comparison, one table", whole, 400_000)
  .option(
    "--share <n>",
    "on a shared machine: server and load each get as much of their core as n ordinary processes (crowds others out)",
    whole,
  )
  .option("--quick", "fewer: read_only and write_only at 1, 4 and 16 connections, 2 pairs of 4 s", false)
  .option("--no-load", "leave the runs out")
  .option("--no-prepare", "leave the prepare comparison out")
  .parse()
  .opts<Options>();
if (options.quick)
  Object.assign(options, {
    pairs: 2,
    seconds: 4,
    threads: [1, 4, 16],
    workloads: ["oltp_read_only", "oltp_write_only"],
  });
options.seconds = Math.max(4, options.seconds);
if (cpus().length < 2) {
  say("bench:engine needs two cores: one for the server, one for the load");
  process.exit(2);
}

let server: BenchServer | undefined;
const groups: ShareGroup[] = [];
/** Pairs without a result; their cells have fewer. */
const failures: string[] = [];
for (const name of ["SIGINT", "SIGTERM"] as const)
  process.once(name, () => void server?.stop().finally(() => process.exit(130)));
try {
  server = await startServer(options.driver);
  if (options.share !== undefined) {
    groups.push(new ShareGroup("server", options.share), new ShareGroup("load", options.share));
    groups[0]!.add(server.pid);
    shareWith(groups[1]!);
  }
  say(
    `${server.version} on core ${SERVER_CORE}, load on core ${LOAD_CORE}, load average ${loadavg()
      .map((v) => v.toFixed(2))
      .join(" ")}`,
  );
  const load = options.load ? (await loadCells(server)).map(loadFigures) : [];
  const prepare = options.prepare ? (await prepareCells(server)).map(prepareFigures) : [];
  if (load.length > 0) console.log(loadTable(load));
  if (prepare.length > 0) console.log(prepareTable(prepare));
  const missed = missedAims(load, prepare);
  if (failures.length > 0) process.exitCode = 1;
  console.log(
    missed.length === 0 ? "every aim is met" : `aims not met:\n${missed.map((line) => `  ${line}`).join("\n")}`,
  );
  console.log(
    JSON.stringify({
      bench: "engine",
      driver: options.driver,
      server: server.version,
      node: process.version,
      pairs: options.pairs,
      seconds: options.seconds,
      share: options.share ?? 1,
      loadAverageAtEnd: loadavg(),
      load: load.map(rounded),
      prepare: prepare.map(rounded),
      missed,
      failures: failures.map((line) => line.split("\n", 1)[0]),
    }),
  );
} catch (error) {
  say((error as Error).message);
  process.exitCode = 1;
} finally {
  await server?.stop();
  for (const group of groups) await group.remove();
}

async function loadCells(on: BenchServer): Promise<Cell[]> {
  await measureWhole(prepareCommand("ours", on, on.port, RUN_TABLES), environment(on), 300);
  const cells: Cell[] = options.workloads.flatMap((workload) =>
    options.threads.map((threads) => ({ workload, threads, pairs: [] })),
  );
  // All cells once, then again: a disturbance that lasts minutes does not fall on one cell.
  for (let pair = 1; pair <= options.pairs; pair++) {
    for (const cell of cells) {
      const both = {} as Pair<LoadRun>;
      try {
        for (const side of turn(pair)) {
          const command = runCommand(side, on, RUN_TABLES, cell.workload, cell.threads, options.seconds);
          both[side] = await measureLoad(command, environment(on), options.seconds + 60, (output) =>
            tpsOf(side, output),
          );
        }
      } catch (error) {
        failures.push(`pair ${pair} of ${cell.workload} at ${cell.threads} threads: ${(error as Error).message}`);
        say(failures.at(-1)!);
        continue;
      }
      cell.pairs.push(both);
      say(
        `pair ${pair}/${options.pairs} ${cell.workload} ${cell.threads}: tps ${both.ours.tps.toFixed(0)} / ${both.sysbench.tps.toFixed(0)}, cpu us/tx ${both.ours.cpuPerTransactionUs.toFixed(0)} / ${both.sysbench.cpuPerTransactionUs.toFixed(0)}`,
      );
    }
  }
  await measureWhole(cleanupCommand(on, RUN_TABLES), environment(on), 60);
  return cells.filter((cell) => cell.pairs.length > 0);
}

async function prepareCells(on: BenchServer): Promise<PrepareCell[]> {
  const tables: Tables = { tables: 1, size: options.rows };
  const relay = await startRelay(on.port);
  const cells: PrepareCell[] = [
    { link: "loopback", rows: options.rows, pairs: [] },
    { link: `${LINK_MS} ms link (emulated by a delaying relay)`, rows: options.rows, pairs: [] },
  ];
  try {
    for (let pair = 1; pair <= options.pairs; pair++) {
      for (const [i, cell] of cells.entries()) {
        const both = {} as Pair<WholeRun>;
        for (const side of turn(pair)) {
          both[side] = await measureWhole(
            prepareCommand(side, on, i === 0 ? on.port : relay.port, tables),
            environment(on),
            600,
          );
          await measureWhole(cleanupCommand(on, tables), environment(on), 60);
        }
        cell.pairs.push(both);
        say(
          `pair ${pair}/${options.pairs} prepare over ${cell.link}: ${both.ours.seconds.toFixed(2)} / ${both.sysbench.seconds.toFixed(2)} s`,
        );
      }
    }
  } finally {
    relay.stop();
  }
  return cells;
}

/** Who begins changes from pair to pair. */
function turn(pair: number): readonly Side[] {
  return pair % 2 === 1 ? SIDES : SIDES.toReversed();
}

/** In a process of its own, on the load's core: the load has time to spare while it waits for the server. */
function startRelay(port: number): Promise<{ port: number; stop(): void }> {
  const program = fileURLToPath(new URL("engine-relay.ts", import.meta.url));
  const child = spawn("taskset", ["-c", LOAD_CORE, process.execPath, program, String(port), String(LINK_MS / 2)], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  if (child.pid !== undefined) groups[1]?.add(child.pid);
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", () => reject(new Error("the relay ended")));
    child.stdout.once("data", (bytes: Buffer) =>
      resolve({ port: Number(bytes.toString()), stop: () => void child.kill() }),
    );
  });
}

function rounded<T extends object>(figures: T): T {
  return Object.fromEntries(
    Object.entries(figures).map(([key, value]) => [
      key,
      typeof value === "number" ? Number(value.toPrecision(5)) : (value as unknown),
    ]),
  ) as T;
}
