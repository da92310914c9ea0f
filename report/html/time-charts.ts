/** Figures of one run over its time. */
import type { StepResult } from "../../workloads/contract.ts";
import type { Subject } from "../model.ts";
import type { ChartSpec } from "./spec.ts";

/** Seconds: a longer pause between two windows is drawn as the second figure. */
const PAUSE = 45,
  PAUSE_DRAWN = 3;

const round = (v: number): number => Math.round(v * 100) / 100;

const pauses = (left: number): string =>
  left > 0 ? `Pauses longer than ${PAUSE} s, between deployments, are left out. ` : "";

interface Placed {
  /** Seconds on the chart at which each window opened. */
  placed: { window: StepResult; at: number }[];
  /** Stretches of one workload. */
  groups: { from: number; to: number; label: string }[];
  /** Seconds left out before the last window. */
  left: number;
}

/** Windows in their order on one axis. Between two deployments other legs ran, for minutes or hours. */
function placedWindows(windows: readonly StepResult[]): Placed {
  const start = Math.min(...windows.map((w) => Date.parse(w.startedAt)));
  const placed: Placed["placed"] = [];
  const groups: (Placed["groups"][number] & { left: number })[] = [];
  let end = 0,
    left = 0;
  for (const window of windows.toSorted((a, b) => Date.parse(a.startedAt) - Date.parse(b.startedAt))) {
    const since = (Date.parse(window.startedAt) - start) / 1000;
    if (since - left - end > PAUSE) left = since - end - PAUSE_DRAWN;
    const at = since - left;
    end = at + window.windowSeconds;
    placed.push({ window, at });
    const group = groups.at(-1);
    if (group?.label === window.workload && group.left === left) group.to = round(end);
    else groups.push({ from: round(at), to: round(end), label: window.workload, left });
  }
  return { placed, groups: groups.map(({ left: _, ...group }) => group), left };
}

/** The whole run of one subject over time, interval by interval, with outages marked. */
export function timeChart(subject: Subject, index: number): ChartSpec | null {
  if (subject.printedIntervals) return printedChart(subject, subject.printedIntervals, index);
  const windows = subject.result?.steps ?? [];
  if (!windows.some((w) => w.intervals.length > 0)) return null;
  const tps: [number, number | null][] = [];
  const p95: [number, number | null][] = [];
  const errors: [number, number | null][] = [];
  const outages: { from: number; to: number; label: string }[] = [];
  const { placed, groups, left } = placedWindows(windows);
  for (const { window: w, at } of placed) {
    for (const i of w.intervals) {
      tps.push([round(at + i.t), round(i.tps)]);
      p95.push([round(at + i.t), i.p95 === null ? null : round(i.p95)]);
      if (i.errors > 0) errors.push([round(at + i.t), i.errors]);
    }
    // A gap in the lines: what lies between two windows was not measured.
    for (const line of [tps, p95]) line.push([round(at + w.windowSeconds), null]);
    if (w.outage && w.outage.gapStartedAt !== null && w.outage.longestGapSeconds >= 1) {
      const from = at + w.outage.gapStartedAt;
      outages.push({
        from: round(from),
        to: round(from + w.outage.longestGapSeconds),
        label: `no success for ${w.outage.longestGapSeconds.toFixed(1)} s`,
      });
    }
  }
  return {
    kind: "time",
    id: `time-${index}`,
    title: `Intervals over time, ${subject.label}`,
    unit: "transactions per second; p95 in ms",
    series: [
      { name: "tps", axis: 0, points: tps },
      { name: "p95", axis: 1, points: p95 },
      ...(errors.length ? [{ name: "errors", axis: 0 as const, points: errors }] : []),
    ],
    outages,
    groups,
    description: `${pauses(left)}${outages.length ? `Shaded: ${outages.length} outage${outages.length === 1 ? "" : "s"} without a success.` : "No outage of a second or more."}`,
  };
}

function printedChart(subject: Subject, intervals: NonNullable<Subject["printedIntervals"]>, index: number): ChartSpec {
  return {
    kind: "time",
    id: `time-${index}`,
    title: `Intervals over time, ${subject.label}`,
    unit: "transactions per second; p95 in ms",
    series: [
      { name: "tps", axis: 0, points: intervals.map((i) => [i.t, i.tps]) },
      { name: "p95", axis: 1, points: intervals.map((i) => [i.t, i.p95]) },
    ],
    outages: [],
    groups: [],
    description: "As the source prints them.",
  };
}

/** Replication lag of each replica over the run; null where it was not measured. */
export function lagChart(subject: Subject, index: number): ChartSpec | null {
  const windows = subject.result?.steps ?? [];
  const nodes = [...new Set(windows.flatMap((w) => w.lag ?? []).map(({ node }) => node))];
  if (nodes.length === 0) return null;
  const { placed, groups, left } = placedWindows(windows);
  return {
    kind: "time",
    id: `lag-${index}`,
    title: `Replication lag over time, ${subject.label}`,
    unit: "ms, logarithmic; the highest of each interval",
    axes: ["", "lag ms"],
    series: nodes.map((node) => ({
      name: node,
      axis: 1,
      points: placed.flatMap(({ window, at }): [number, number | null][] => [
        ...(window.lag?.find((lag) => lag.node === node)?.intervals ?? []).map((i): [number, number | null] => [
          round(at + i.t),
          i.maxMs,
        ]),
        [round(at + window.windowSeconds), null],
      ]),
    })),
    outages: [],
    groups,
    description: `${pauses(left)}How long after its commit a heartbeat was not yet visible on a node; one is committed ${beatsPerSecond(windows)}.`,
  };
}

function beatsPerSecond(windows: readonly StepResult[]): string {
  const every = windows.flatMap((w) => w.heartbeat?.everyMs ?? [])[0];
  return every === undefined ? "at regular times" : `every ${every} ms where commits are quick enough`;
}
