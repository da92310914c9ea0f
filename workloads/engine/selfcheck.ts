/** What the load costs the machine that makes it, and when that spoils the figures. */

import { readFileSync } from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";

const RESOLUTION_MS = 10;

/** CPU time and event-loop delay of the thread it is made in. */
export class ThreadMeter {
  readonly #delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  #cpu = threadCpuSeconds();
  /** Seconds spent turning round for the next arrival of an open loop: idle time in truth. */
  spun = 0;

  constructor() {
    this.#delay.enable();
  }

  /** CPU seconds and 99th percentile of the delay, milliseconds, since the last call. */
  take(): { cpuSeconds: number; eventLoopDelayP99Ms: number } {
    const cpu = threadCpuSeconds();
    const cpuSeconds = Math.max(0, cpu - this.#cpu - this.spun);
    this.#cpu = cpu;
    this.spun = 0;
    // Node's histogram holds the whole time between two firings of its timer: the resolution is no delay.
    const p99 = this.#delay.count > 0 ? this.#delay.percentile(99) / 1e6 - RESOLUTION_MS : 0;
    this.#delay.reset();
    return { cpuSeconds, eventLoopDelayP99Ms: Math.max(0, Math.round(p99 * 100) / 100) };
  }

  stop(): void {
    this.#delay.disable();
  }
}

/** Of this thread where Node can tell (23.9 and later), else of the process. */
function threadCpuSeconds(): number {
  const usage = process.threadCpuUsage?.() ?? process.cpuUsage();
  return (usage.user + usage.system) / 1e6;
}

export interface HostReading {
  at: number;
  /** Jiffies of all cores: stolen by the hypervisor, and in all. */
  steal: number;
  total: number;
  retransmits: number;
}

export function readHost(): HostReading {
  const jiffies = (text("/proc/stat").split("\n", 1)[0] ?? "").split(/\s+/).slice(1).map(Number);
  const tcp = text("/proc/net/snmp")
    .split("\n")
    .filter((line) => line.startsWith("Tcp:"))
    .map((line) => line.split(" "));
  const column = tcp[0]?.indexOf("RetransSegs") ?? -1;
  return {
    at: Date.now(),
    steal: jiffies[7] ?? 0,
    // guest and guest_nice are already in user and nice
    total: jiffies.slice(0, 8).reduce((sum, n) => sum + n, 0),
    retransmits: Number(tcp[1]?.[column] ?? 0),
  };
}

function text(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

/** A stretch in which a window has hundreds of transactions. */
const LONG_STALL_SECONDS = 1;

export interface Verdict {
  saturated: boolean;
  reasons: string[];
}

/**
 * When the driver was the bottleneck. The bounds are this project's judgement: a loop that works 90 % of the time
 * queues answers noticeably; a loop whose lateness (99th percentile) is above 2 ms and above half of the 95th
 * percentile of the latencies makes up a good part of them; 5 % steal means that the machine under the driver was taken
 * away; and a driver that stood still for a second, or for 5 % of the window, has a hole in its figures.
 */
export function judge(
  threads: { cpuPercent: number; eventLoopDelayP99Ms: number }[],
  p95Ms: number | null,
  stealPercent: number,
  { longestSeconds, totalSeconds, windowSeconds } = { longestSeconds: 0, totalSeconds: 0, windowSeconds: 0 },
): Verdict {
  const reasons: string[] = [];
  const busiest = Math.max(0, ...threads.map((t) => t.cpuPercent));
  if (busiest >= 90) reasons.push(`an event loop of the driver used ${busiest.toFixed(0)} % of a core (90 % or more)`);
  const delay = Math.max(0, ...threads.map((t) => t.eventLoopDelayP99Ms));
  if (p95Ms !== null && delay > 2 && delay > p95Ms / 2) {
    reasons.push(
      `the driver's event loop was late by ${delay.toFixed(1)} ms (99th percentile), more than half of the p95 latency of ${p95Ms.toFixed(1)} ms`,
    );
  }
  if (longestSeconds >= LONG_STALL_SECONDS || (totalSeconds > 0 && totalSeconds >= 0.05 * windowSeconds))
    reasons.push(
      `an event loop of the driver stood still for ${totalSeconds.toFixed(1)} s of the window, ${longestSeconds.toFixed(1)} s at a stretch`,
    );
  if (stealPercent > 5)
    reasons.push(`the hypervisor took ${stealPercent.toFixed(1)} % of the driver's CPU time away (steal)`);
  return { saturated: reasons.length > 0, reasons };
}

const REMEDIES: Record<string, string> = {
  EADDRNOTAVAIL: "no local port was free (net.ipv4.ip_local_port_range, net.ipv4.tcp_tw_reuse)",
  EMFILE: "too many files were open (ulimit -n)",
};

/** Connections that the driver could not open for want of its own, by the system's code: its limit, not the server's. */
export function judgeOwnLimits(limits: Record<string, number>): string[] {
  return Object.entries(limits).map(
    ([code, n]) =>
      `the driver could not open ${n} connections (${code}): ${REMEDIES[code] ?? "its system had no more"}`,
  );
}

export function stealPercent(before: HostReading, after: HostReading): number {
  const total = after.total - before.total;
  return total > 0 ? (100 * (after.steal - before.steal)) / total : 0;
}
