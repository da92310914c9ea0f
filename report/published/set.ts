/**
 * Published figures as data. Only what a text states is here; what it leaves out is listed in `notStated`, and a figure
 * that was worked out from stated ones says so in `notes`.
 */
import type { Facts, GivenSweep, Point, StatementMix, Subject } from "../model.ts";
import { estimate } from "../stats.ts";

export interface PublishedInterval {
  t: number;
  tps: number;
  reads: number;
  writes: number;
  p95: number;
  errors: number;
  reconnects: number;
}

export interface PublishedPoint {
  workload: string;
  threads: number;
  tps?: number;
  qps?: number;
  avg?: number;
  p95?: number;
  mix?: StatementMix;
  notes?: string[];
}

export interface PublishedSet {
  /** "000/hybrid": the study's number and the configuration's name in it. */
  id: string;
  title: string;
  source: string;
  hardware: string;
  versions: string;
  howMeasured: string;
  unit: Facts;
  method: Facts;
  environment: Facts;
  points: PublishedPoint[];
  given: GivenSweep[];
  intervals?: PublishedInterval[];
  prepareSeconds?: number;
  notStated: string[];
  /** Conditions of the test that shape its figures, each with what it does to them. */
  conditions: string[];
}

/** A published set in the shape of our own results. Single runs: every estimate has n = 1 and no deviation. */
export function publishedSubject(set: PublishedSet): Subject {
  const one = (v: number | undefined) => (v === undefined ? null : estimate([v]));
  return {
    label: `published:${set.id}`,
    kind: "published",
    source: set.source,
    complete: true,
    incompleteReason: null,
    startedAt: null,
    hours: null,
    points: set.points.map(
      (p): Point => ({
        key: p.workload,
        workload: p.workload,
        threads: p.threads,
        tps: one(p.tps),
        qps: one(p.qps),
        avg: one(p.avg),
        p95: one(p.p95),
        p99: null,
        mix: p.mix ?? null,
        windows: 1,
        completeWindows: 1,
        incompleteReason: null,
        errors: 0,
        restarts: 0,
        errorsByCode: {},
        longestGapSeconds: null,
        saturated: [],
        notes: p.notes ?? [],
      }),
    ),
    given: set.given,
    unit: set.unit,
    method: set.method,
    environment: set.environment,
    caveats: [...set.conditions, `not stated by the source: ${set.notStated.join(", ")}`],
    context: null,
    prepareSeconds: set.prepareSeconds ?? null,
    printedIntervals: set.intervals ?? null,
    result: null,
  };
}
