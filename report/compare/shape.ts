/**
 * Our shape against the published one: not absolute figures, which belong to other machines, but how the topologies of
 * one study stand to each other, how throughput and p95 grow over threads - and what in the two set-ups explains a
 * difference.
 */
import { ReportError } from "../errors.ts";
import { number } from "../format.ts";
import type { Subject } from "../model.ts";
import { type Ratio, ratio } from "../stats.ts";
import { farthestRtt } from "./floor.ts";
import { sweepOf } from "./sweep.ts";

export interface Pair {
  ours: Subject;
  published: Subject;
  set: string;
}

export interface ShapeRow {
  workload: string;
  what: string;
  published: string;
  ours: string;
  /** agrees: same direction and within a factor of 1.25; differs otherwise; null where one side has no figure. */
  agrees: boolean | null;
  /** Our repeats leave room for the published figure and for others: neither alike nor different. */
  undecided?: boolean;
}

export interface Shape {
  pairs: { ours: string; published: string }[];
  rows: ShapeRow[];
  reasons: string[];
}

const AGREE = 1.25;

/**
 * Pairs stacks with published sets: by `match` ("stack" -> "hybrid"), else by a label that is or contains the set's
 * name.
 * Throws ReportError when nothing can be paired or a match names what is not there.
 */
export function pairUp(
  ours: readonly Subject[],
  published: readonly Subject[],
  match: ReadonlyMap<string, string> = new Map(),
): Pair[] {
  const name = (s: Subject) => s.label.slice(s.label.indexOf("/") + 1);
  const names = published.map(name);
  for (const [label, set] of match) {
    if (!ours.some((s) => s.label === label))
      throw new ReportError(
        `--match ${label}=${set}: ${label} is not compared; there are ${ours.map((s) => s.label).join(", ")}`,
      );
    if (!names.includes(set))
      throw new ReportError(`--match ${label}=${set}: the study has no set ${set}; there are ${names.join(", ")}`);
  }
  const pairs = ours.flatMap((s): Pair[] => {
    const set = match.get(s.label) ?? names.find((n) => n === s.label) ?? names.find((n) => s.label.includes(n));
    const partner = published.find((p) => name(p) === set);
    return partner ? [{ ours: s, published: partner, set: set! }] : [];
  });
  if (pairs.length === 0) {
    throw new ReportError(
      `no stack here is named after a set of that study (${names.join(", ")}); say which is which by --match STACK=SET`,
    );
  }
  return pairs;
}

/** "" where there is nothing to judge. */
export function judgement({ agrees, undecided }: ShapeRow): string {
  return undecided ? "inconclusive" : agrees === null ? "" : agrees ? "alike" : "differs";
}

const times = (v: number | null) => (v === null ? "-" : `x${v.toFixed(2)}`);

/** `judged` false: figures of two machines, or over two ranges, which cannot agree or differ in shape. */
function row(
  workload: string,
  what: string,
  published: number | null,
  ours: number | null,
  judged: boolean,
  show: (v: number | null) => string = times,
): ShapeRow {
  const known = judged && published !== null && ours !== null && published > 0 && ours > 0;
  const apart = known ? Math.max(published / ours, ours / published) : 0;
  const sides =
    known &&
    (published - 1) * (ours - 1) < 0 &&
    Math.max(Math.abs(published - 1), Math.abs(ours - 1)) > 0.05 &&
    show === times;
  return {
    workload,
    what,
    published: show(published),
    ours: show(ours),
    agrees: known ? apart <= AGREE && !sides : null,
  };
}

/** A ratio of averages with its interval: "differs" is said only of what the repeats bear out. */
function ratioRow(workload: string, what: string, published: number | null, ours: Ratio | null): ShapeRow {
  const plain = row(workload, what, published, ours?.value ?? null, true);
  const { interval } = ours ?? {};
  if (!interval || published === null)
    return ours?.verdict === "no evidence of a difference"
      ? { ...plain, ours: `${plain.ours} (unbounded)`, agrees: null, undecided: true }
      : plain;
  const open = !plain.agrees && interval.low <= published && published <= interval.high;
  return {
    ...plain,
    ours: `${plain.ours} [${interval.low.toFixed(2)}, ${interval.high.toFixed(2)}]`,
    ...(open ? { agrees: null, undecided: true } : {}),
  };
}

/** Growth of p95 from the lowest to the highest thread count that has one. */
function growth(subject: Subject, workload: string): { factor: number; from: number; to: number } | null {
  const points = subject.points.filter((p) => p.key === workload && p.p95).sort((a, b) => a.threads - b.threads);
  const [first, last] = [points[0], points.at(-1)];
  if (!first || !last || first === last) return null;
  return { factor: last.p95!.mean / first.p95!.mean, from: first.threads, to: last.threads };
}

export function shapeOf(pairs: readonly Pair[]): Shape {
  const first = pairs[0]!;
  const workloads = [...new Set(pairs.flatMap((p) => p.ours.points.map((x) => x.key)))].filter((k) =>
    pairs.some((p) => sweepOf(p.published, k)),
  );
  const rows = workloads.flatMap((workload): ShapeRow[] => {
    const out: ShapeRow[] = [];
    const sweeps = pairs.map((p) => ({ ours: sweepOf(p.ours, workload), published: sweepOf(p.published, workload) }));
    const per = (a: number | null | undefined, b: number | null | undefined) => (a && b ? a / b : null);
    pairs.forEach((pair, i) =>
      out.push(
        row(
          workload,
          `average tps, ${pair.set}`,
          sweeps[i]!.published?.averageTps ?? null,
          sweeps[i]!.ours?.averageTps ?? null,
          false,
          number,
        ),
      ),
    );
    pairs.slice(1).forEach((pair, i) => {
      const [mine, theirs] = [sweeps[i + 1]!.ours, sweeps[i + 1]!.published];
      const base = sweeps[0]!.ours?.average;
      out.push(
        ratioRow(
          workload,
          `average tps, ${pair.set} / ${first.set}`,
          per(theirs?.averageTps, sweeps[0]!.published?.averageTps),
          mine?.average && base ? ratio(mine.average, base) : null,
        ),
      );
    });
    pairs.forEach((pair, i) => {
      const [mine, theirs] = [sweeps[i]!.ours, sweeps[i]!.published];
      if (theirs?.peakThreads) {
        out.push(
          row(
            workload,
            `threads at the peak, ${pair.set}`,
            theirs.peakThreads,
            mine?.peakThreads ?? null,
            theirs.peakThreads <= Math.max(...(mine?.threads ?? [0])),
            (v) => (v === null ? "-" : String(v)),
          ),
        );
      }
      const [g, h] = [growth(pair.published, workload), growth(pair.ours, workload)];
      if (g && h)
        out.push(
          row(
            workload,
            `p95, ${pair.set}: ${g.to} threads / ${g.from} (ours ${h.to} / ${h.from})`,
            g.factor,
            h.factor,
            g.from === h.from && g.to === h.to,
          ),
        );
    });
    return out;
  });
  return {
    pairs: pairs.map((p) => ({ ours: p.ours.label, published: p.published.label })),
    rows,
    reasons: reasons(pairs),
  };
}

type Rule = (pairs: readonly Pair[]) => string | null;

const siteKinds = (s: Subject) => [...new Set(s.context?.topology?.sites.map((x) => x.kind) ?? [])];
const text = (v: string | number | null | undefined) => (v === null || v === undefined ? "not stated" : String(v));

/** Each rule names one difference that is on record and says what it does to the figures. */
const rules: Rule[] = [
  (pairs) =>
    pairs.every((p) => siteKinds(p.ours).length === 1 && siteKinds(p.ours)[0] === "local")
      ? "same machine: all our nodes share the CPUs, memory and disk of one host, so a second site adds no hardware and three nodes compete with each other and with the driver; absolute figures and the gap between sites say nothing about the published hosts"
      : null,
  (pairs) =>
    pairs.some((p) => p.published.caveats.some((c) => c.includes("t3.medium"))) &&
    !pairs.some((p) => siteKinds(p.ours).includes("aws"))
      ? "no t3 throttling: the published AWS nodes are burstable (20 % of each vCPU once credits are spent), so their figures depend on how long they ran before; ours are not throttled"
      : null,
  (pairs) => {
    const rtts = pairs.map((p) => farthestRtt(p.ours));
    if (rtts.every((r) => r === null) || pairs.some((p) => farthestRtt(p.published) !== null)) return null;
    return `RTT: the published one was not measured; ours is ${pairs.map((p, i) => `${rtts[i] === null ? "unknown" : `${number(rtts[i])} ms`} (${p.set})`).join(", ")}, and every commit of these designs pays it once, so write ratios scale with it`;
  },
  (pairs) => {
    const kinds = new Set(pairs.map((p) => text(p.published.environment["sites"])));
    const mine = new Set(pairs.flatMap((p) => siteKinds(p.ours)));
    return kinds.size > 1 && mine.size === 1 && pairs.some((p) => p.set.includes("proxmox") || p.set.includes("aws"))
      ? "hardware of the sites: published sets differ in machine as well as in place (EC2 against a Proxmox host), so their ratios mix both; our sites are alike, so our ratios show distance alone"
      : null;
  },
  (pairs) => {
    const ratio = (side: "ours" | "published", p: Pair) => {
      const [a, b] = [
        sweepOf(p[side], "oltp_read_only")?.averageTps,
        sweepOf(pairs[0]![side], "oltp_read_only")?.averageTps,
      ];
      return a && b ? a / b : null;
    };
    const apart = pairs.slice(1).filter((p) => {
      const [a, b] = [ratio("ours", p), ratio("published", p)];
      return a && b && Math.max(a / b, b / a) > AGREE && farthestRtt(p.ours) !== farthestRtt(pairs[0]!.ours);
    });
    return apart.length
      ? `reads: every node answers them by itself, so distance costs reads only when the way to the node that serves them is long; ours are served where the endpoint sends them (${text(pairs[0]!.ours.method["routing"])}), the published routing was not recorded`
      : null;
  },
  (pairs) =>
    differ(
      pairs,
      "unit",
      "rows per table",
      "data size",
      "what fits into the buffer pool, and how often two transactions meet on a row",
    ),
  (pairs) => differ(pairs, "environment", "proxy", "proxy", "which node reads and writes go to, and a hop's CPU time"),
  (pairs) => differ(pairs, "environment", "server version", "server version", "defaults and group commit"),
  (pairs) =>
    differ(
      pairs,
      "method",
      "window (s)",
      "seconds per window",
      "how much of a burst, a checkpoint or a throttled phase is in the figure",
    ),
  (pairs) =>
    differ(
      pairs,
      "method",
      "thread counts",
      "thread counts",
      "averages over a sweep: they are only alike over the same counts",
    ),
  (pairs) => differ(pairs, "method", "load generator", "load generator", "the driver's own cost per transaction"),
  (pairs) => {
    const own = Math.min(...pairs.map((p) => Math.max(0, ...p.ours.points.map((x) => x.tps?.n ?? 0))));
    return own > 1
      ? `repeats: ours are means of ${own} and more windows with an interval, the published figures one run each`
      : "repeats: one run on both sides, so none of these ratios has an interval";
  },
  (pairs) => {
    const flagged = pairs.filter((p) => p.ours.points.some((x) => x.saturated.length > 0)).map((p) => p.ours.label);
    return flagged.length
      ? `driver: our driver was the bottleneck in ${flagged.join(", ")}, which flattens those curves`
      : null;
  },
];

function differ(
  pairs: readonly Pair[],
  facts: "unit" | "method" | "environment",
  what: string,
  name: string,
  effect: string,
): string | null {
  const theirs = [...new Set(pairs.map((p) => text(p.published[facts][what])))];
  const mine = [...new Set(pairs.map((p) => text(p.ours[facts][what])))];
  if (theirs.join() === mine.join()) return null;
  return `${name}: published ${theirs.join(" / ")}, ours ${mine.join(" / ")}; this bears on ${effect}`;
}

function reasons(pairs: readonly Pair[]): string[] {
  return rules.flatMap((rule) => rule(pairs) ?? []);
}
