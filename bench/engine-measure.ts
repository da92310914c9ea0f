/**
 * One load process, pinned to a core, watched from outside: transactions, CPU and memory, the same way for both sides.
 */
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import type { ShareGroup } from "./engine-share.ts";

export type LoadRun = {
  tps: number;
  /** Microseconds of CPU time of the load process per transaction, between its first and its last interval line. */
  cpuPerTransactionUs: number;
  peakMemoryMb: number;
};

export type WholeRun = { seconds: number; cpuSeconds: number; peakMemoryMb: number };

/** Clock ticks per second of /proc/PID/stat on every Linux that Node runs on (USER_HZ). */
const TICKS = 100;
/** Where load processes go, when --share asks for it. */
let group: ShareGroup | undefined;

export function shareWith(load: ShareGroup): void {
  group = load;
}

/** The line that both sides print per interval. */
const INTERVAL = /\[\s*\d+s\s*\].*\btps: ([\d.]+)/;

/**
 * Runs it to the end; `tpsOf` reads the result from the output. CPU is taken at each interval line, so start-up and the
 * end of either program do not count. Throws with the program's last lines when it fails or is not done in
 * `limitSeconds`.
 */
export async function measureLoad(
  command: string[],
  environment: Record<string, string>,
  limitSeconds: number,
  tpsOf: (output: string) => number,
): Promise<LoadRun> {
  const marks: { ticks: number; at: number; tps: number }[] = [];
  let peak = 0;
  const output = await watch(command, environment, limitSeconds, (line, pid) => {
    const tps = INTERVAL.exec(line)?.[1];
    if (tps === undefined) return;
    marks.push({ ticks: cpuTicks(pid), at: performance.now(), tps: Number(tps) });
    peak = peakMemoryMb(pid);
  });
  const first = marks[0];
  const last = marks.at(-1);
  if (first === undefined || last === undefined || marks.length < 3)
    throw new Error(`${label(command)}: fewer than three intervals:\n${tail(output)}`);
  const seconds = (last.at - first.at) / 1000;
  const meanTps = marks.slice(1).reduce((sum, mark) => sum + mark.tps, 0) / (marks.length - 1);
  return {
    tps: tpsOf(output),
    cpuPerTransactionUs: ((last.ticks - first.ticks) / TICKS / (meanTps * seconds)) * 1e6,
    peakMemoryMb: peak,
  };
}

/** Runs it to the end and takes the time of all of it, start-up included. */
export async function measureWhole(
  command: string[],
  environment: Record<string, string>,
  limitSeconds: number,
): Promise<WholeRun> {
  const started = performance.now();
  let cpu = 0;
  let peak = 0;
  let watched = 0;
  const timer = setInterval(() => {
    if (watched === 0) return;
    try {
      cpu = cpuTicks(watched);
      // An ended process that has not been waited for yet has no memory any more.
      peak = Math.max(peak, peakMemoryMb(watched));
    } catch {
      // It has just ended.
    }
  }, 20);
  try {
    await watch(
      command,
      environment,
      limitSeconds,
      () => {},
      (pid) => (watched = pid),
    );
  } finally {
    clearInterval(timer);
  }
  return { seconds: (performance.now() - started) / 1000, cpuSeconds: cpu / TICKS, peakMemoryMb: peak };
}

function watch(
  command: string[],
  environment: Record<string, string>,
  limitSeconds: number,
  onLine: (line: string, pid: number) => void,
  onStart?: (pid: number) => void,
): Promise<string> {
  return new Promise((resolve, reject) => {
    // A session of its own: on a shared machine the kernel's autogroups then give either side one share of the core,
    // however many threads it has. Without it sysbench with 16 threads would get sixteen shares and our one event loop
    // one.
    const child = spawn(command[0]!, command.slice(1), {
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, ...environment },
      detached: true,
    });
    const end = (): void => void child.kill("SIGKILL");
    process.once("exit", end);
    const pid = child.pid;
    if (pid !== undefined) group?.add(pid);
    if (pid !== undefined) onStart?.(pid);
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream }).on("line", (line) => {
        output += `${line}\n`;
        try {
          if (pid !== undefined) onLine(line, pid);
        } catch {
          // A line read after the process ended.
        }
      });
    }
    const timer = setTimeout(() => child.kill("SIGKILL"), limitSeconds * 1000);
    child.once("error", reject);
    child.once("close", (code, signal) => {
      clearTimeout(timer);
      process.removeListener("exit", end);
      if (code === 0) resolve(output);
      else
        reject(
          new Error(
            `${label(command)}: ${signal ? `ended by ${signal} (limit ${limitSeconds} s)` : `exit code ${code}`}\n${tail(output)}`,
          ),
        );
    });
  });
}

function cpuTicks(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  // The name in brackets may hold blanks; utime and stime are fields 14 and 15.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return Number(fields[11]) + Number(fields[12]);
}

function peakMemoryMb(pid: number): number {
  return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1024;
}

/** What ran, without its options. */
function label(command: string[]): string {
  return command.includes("sysbench") ? "sysbench" : "the load engine";
}

function tail(output: string): string {
  return output.trim().split("\n").slice(-8).join("\n");
}
