/** Medians, the tables and the JSON line. Pure. */
import Table from "cli-table3";
import type { LoadRun, WholeRun } from "./engine-measure.ts";
import type { Side } from "./engine-sides.ts";

export type Pair<T> = Record<Side, T>;
export type Cell = { workload: string; threads: number; pairs: Pair<LoadRun>[] };
export type PrepareCell = { link: string; rows: number; pairs: Pair<WholeRun>[] };

export type LoadFigures = {
  workload: string;
  threads: number;
  pairs: number;
  tpsOurs: number;
  tpsSysbench: number;
  tpsRatio: number;
  cpuUsOurs: number;
  cpuUsSysbench: number;
  cpuRatio: number;
  memoryMbOurs: number;
  memoryMbSysbench: number;
};
export type PrepareFigures = {
  link: string;
  pairs: number;
  rowsPerSecondOurs: number;
  rowsPerSecondSysbench: number;
  ratio: number;
  cpuSecondsOurs: number;
  cpuSecondsSysbench: number;
  memoryMbOurs: number;
};

export function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** Ratios are the medians of the pairs' own ratios: the two runs of a pair stand next to each other in time. */
export function loadFigures({ workload, threads, pairs }: Cell): LoadFigures {
  const of = (side: Side, value: (run: LoadRun) => number): number => median(pairs.map((pair) => value(pair[side])));
  return {
    workload,
    threads,
    pairs: pairs.length,
    tpsOurs: of("ours", (r) => r.tps),
    tpsSysbench: of("sysbench", (r) => r.tps),
    tpsRatio: median(pairs.map((p) => p.ours.tps / p.sysbench.tps)),
    cpuUsOurs: of("ours", (r) => r.cpuPerTransactionUs),
    cpuUsSysbench: of("sysbench", (r) => r.cpuPerTransactionUs),
    cpuRatio: median(pairs.map((p) => p.ours.cpuPerTransactionUs / p.sysbench.cpuPerTransactionUs)),
    memoryMbOurs: Math.max(...pairs.map((p) => p.ours.peakMemoryMb)),
    memoryMbSysbench: Math.max(...pairs.map((p) => p.sysbench.peakMemoryMb)),
  };
}

export function prepareFigures({ link, rows, pairs }: PrepareCell): PrepareFigures {
  const of = (side: Side, value: (run: WholeRun) => number): number => median(pairs.map((pair) => value(pair[side])));
  return {
    link,
    pairs: pairs.length,
    rowsPerSecondOurs: of("ours", (r) => rows / r.seconds),
    rowsPerSecondSysbench: of("sysbench", (r) => rows / r.seconds),
    ratio: median(pairs.map((p) => p.sysbench.seconds / p.ours.seconds)),
    cpuSecondsOurs: of("ours", (r) => r.cpuSeconds),
    cpuSecondsSysbench: of("sysbench", (r) => r.cpuSeconds),
    memoryMbOurs: Math.max(...pairs.map((p) => p.ours.peakMemoryMb)),
  };
}

const n = (value: number, digits = 0): string =>
  value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });

export function loadTable(rows: LoadFigures[]): string {
  const table = new Table({
    head: [
      "workload",
      "threads",
      "tps ours",
      "tps sysbench",
      "ratio",
      "cpu us/tx ours",
      "sysbench",
      "ratio",
      "MB ours",
      "sysbench",
    ],
    style: { head: [], border: [] },
  });
  for (const r of rows) {
    table.push([
      r.workload,
      r.threads,
      n(r.tpsOurs),
      n(r.tpsSysbench),
      n(r.tpsRatio, 2),
      n(r.cpuUsOurs),
      n(r.cpuUsSysbench),
      n(r.cpuRatio, 2),
      n(r.memoryMbOurs),
      n(r.memoryMbSysbench),
    ]);
  }
  return table.toString();
}

export function prepareTable(rows: PrepareFigures[]): string {
  const table = new Table({
    head: ["prepare over", "rows/s ours", "rows/s sysbench", "ratio", "cpu s ours", "sysbench", "MB ours"],
    style: { head: [], border: [] },
  });
  for (const r of rows)
    table.push([
      r.link,
      n(r.rowsPerSecondOurs),
      n(r.rowsPerSecondSysbench),
      n(r.ratio, 2),
      n(r.cpuSecondsOurs, 2),
      n(r.cpuSecondsSysbench, 2),
      n(r.memoryMbOurs),
    ]);
  return table.toString();
}

/** Lines for the aims that the figures do not meet. */
export function missedAims(load: LoadFigures[], prepare: PrepareFigures[]): string[] {
  const missed: string[] = [];
  for (const r of load) {
    const cpuAim = r.threads === 1 ? 1.3 : 1.0;
    if (r.tpsRatio < 1)
      missed.push(`${r.workload}, ${r.threads} threads: TPS ${n(r.tpsRatio, 3)} times sysbench's, aim >= 1.0`);
    if (r.cpuRatio > cpuAim)
      missed.push(
        `${r.workload}, ${r.threads} threads: CPU per transaction ${n(r.cpuRatio, 3)} times sysbench's, aim <= ${cpuAim}`,
      );
  }
  const [near, far] = prepare;
  if (near && near.ratio < 1.5)
    missed.push(`prepare on loopback: ${n(near.ratio, 2)} times sysbench's rows/s, aim >= 1.5`);
  if (near && far && near.rowsPerSecondOurs / far.rowsPerSecondOurs > 1.3)
    missed.push(
      `prepare: ${n(near.rowsPerSecondOurs / far.rowsPerSecondOurs, 2)} times as long over the link as on loopback, aim <= 1.3`,
    );
  return missed;
}
