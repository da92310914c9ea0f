/** The two sides of the comparison: command lines for the same work, ours and sysbench's. */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { bundleLoadEngine } from "../infra/benchmark/bundle.ts";
import type { BenchServer } from "./engine-servers.ts";
import { LOAD_CORE } from "./engine-servers.ts";

export type Side = "ours" | "sysbench";
export const SIDES: readonly Side[] = ["ours", "sysbench"];
export type Tables = { tables: number; size: number };

/**
 * The load engine as it is shipped to a driver node: one file. The sources start 0.3 s slower, because Node strips
 * their types each time.
 */
const ROOT = fileURLToPath(new URL("..", import.meta.url));
const PROGRAM = join(ROOT, (await bundleLoadEngine(ROOT)).source);
/**
 * Before the measured time: our engine's code is compiled while it runs, which takes its first seconds (with 1 s,
 * windows of 4 s cost 5 % more CPU than windows of 15 s). sysbench 1.0.20 has no warm-up and needs none.
 */
const WARMUP_SECONDS = 3;

const pinned = (...command: string[]): string[] => ["taskset", "-c", LOAD_CORE, ...command];

function ours(
  server: BenchServer,
  port: number,
  { tables, size }: Tables,
  command: string,
  ...rest: string[]
): string[] {
  const url = `${server.driver}://${server.user}@127.0.0.1:${port}/sbtest`;
  return pinned(
    process.execPath,
    PROGRAM,
    command,
    "--url",
    url,
    "--tables",
    String(tables),
    "--table-size",
    String(size),
    "--option",
    "rand-type=uniform",
    ...rest,
  );
}

function sysbench(
  server: BenchServer,
  port: number,
  { tables, size }: Tables,
  workload: string,
  ...rest: string[]
): string[] {
  const kind = server.driver === "mysql" ? "mysql" : "pgsql";
  return pinned(
    "sysbench",
    workload,
    `--db-driver=${kind}`,
    `--${kind}-host=127.0.0.1`,
    `--${kind}-port=${port}`,
    `--${kind}-user=${server.user}`,
    `--${kind}-password=${server.password}`,
    `--${kind}-db=sbtest`,
    `--tables=${tables}`,
    `--table-size=${size}`,
    "--rand-type=uniform",
    ...rest,
  );
}

export function environment(server: BenchServer): Record<string, string> {
  return { MESHBENCH_DB_PASSWORD: server.password };
}

export function runCommand(
  side: Side,
  server: BenchServer,
  tables: Tables,
  workload: string,
  threads: number,
  seconds: number,
): string[] {
  return side === "ours"
    ? ours(
        server,
        server.port,
        tables,
        "run",
        "--workload",
        workload,
        "--threads",
        String(threads),
        "--warmup",
        String(WARMUP_SECONDS),
        "--time",
        String(seconds),
        "--workers",
        "1",
        "--json",
      )
    : sysbench(
        server,
        server.port,
        tables,
        workload,
        `--threads=${threads}`,
        `--time=${seconds}`,
        "--report-interval=1",
        "run",
      );
}

/** `port`: the server's own or the relay's. */
export function prepareCommand(side: Side, server: BenchServer, port: number, tables: Tables): string[] {
  return side === "ours"
    ? ours(server, port, tables, "prepare", "--load-threads", "4")
    : sysbench(server, port, tables, "oltp_read_only", "--threads=4", "prepare");
}

export function cleanupCommand(server: BenchServer, tables: Tables): string[] {
  return ours(server, server.port, tables, "cleanup");
}

export function tpsOf(side: Side, output: string): number {
  if (side === "sysbench") return Number(/transactions:\s+\d+\s+\(([\d.]+) per sec/.exec(output)?.[1] ?? NaN);
  const line = output.split("\n").find((text) => text.startsWith('{"schema"')) ?? "{}";
  const result = JSON.parse(line) as { steps?: { tps: number; driver: { path?: string } }[] };
  return result.steps?.[0]?.tps ?? NaN;
}
