/** Same work first: what has to be equal before one figure may be divided by another, and what else differs. */
import type { Facts, Point, StatementMix, Subject } from "../model.ts";

export interface Difference {
  /**
   * unit: what a transaction is; method: how it was measured; environment: what it ran on (often the thing compared).
   */
  kind: "unit" | "method" | "environment";
  what: string;
  /** One value per subject, in their order; null: not stated. */
  values: (string | number | null)[];
}

export interface WorkCheck {
  /** Differences that make the figures incomparable. Empty: the same work as far as the sources state it. */
  incompatible: Difference[];
  differences: Difference[];
  /** Facts of the unit of work that at least one subject does not state. */
  unstated: { what: string; missing: string[] }[];
  /** Units of work (keys) that at least two subjects have. */
  common: string[];
}

/** Statements per transaction may differ by this share, beside what the edges of the windows may move. */
const MIX_TOLERANCE = 0.05;

function compareFacts(kind: Difference["kind"], facts: Facts[]): Difference[] {
  const names = [...new Set(facts.flatMap((f) => Object.keys(f)))];
  return names.flatMap((what) => {
    const values = facts.map((f) => f[what] ?? null);
    const stated = new Set(values.filter((v) => v !== null).map(String));
    return stated.size > 1 || (kind === "environment" && stated.size === 1 && values.includes(null))
      ? [{ kind, what, values }]
      : [];
  });
}

interface Mix {
  read: number;
  write: number;
  other: number | null;
  cut: number;
}

/** Statement mix of a unit of work in a subject, averaged over its points; null when no point has one. */
function mixOf(subject: Subject, key: string): Mix | null {
  const mixes = subject.points.filter((p) => p.key === key && p.mix).map((p) => p.mix!);
  if (mixes.length === 0) return null;
  const mean = (f: (m: StatementMix) => number) => mixes.reduce((s, m) => s + f(m), 0) / mixes.length;
  return {
    read: mean((m) => m.read),
    write: mean((m) => m.write),
    other: mixes.every((m) => m.other !== null) ? mean((m) => m.other!) : null,
    cut: mean((m) => m.cut ?? 0),
  };
}

/**
 * A write that touches no row counts as "other" (as in sysbench), so writes and others are compared together where both
 * are stated: which share of updates finds its row depends on what ran before, not on what was asked.
 */
function mixDifference(subjects: readonly Subject[], key: string): Difference[] {
  const mixes = subjects.map((s) => mixOf(s, key));
  const stated = mixes.filter((m) => m !== null);
  const others = stated.every((m) => m.other !== null);
  const cut = Math.max(0, ...stated.map((m) => m.cut));
  const apart = (values: number[], tolerance: number) =>
    values.length > 1 && Math.max(...values) - Math.min(...values) > Math.max(Math.max(...values) * tolerance, 0.05);
  if (
    !apart(
      stated.map((m) => m.read),
      MIX_TOLERANCE + cut,
    ) &&
    !apart(
      stated.map((m) => m.write + (others ? m.other! : 0)),
      (others ? MIX_TOLERANCE : 2 * MIX_TOLERANCE) + cut,
    )
  )
    return [];
  const show = (m: Mix | null) =>
    m
      ? `${round(m.read)} reads, ${round(m.write)} writes${m.other === null ? "" : `, ${round(m.other)} others`}`
      : null;
  return [{ kind: "unit", what: `statements per transaction of ${key}`, values: mixes.map(show) }];
}

const round = (v: number) => String(Math.round(v * 10) / 10);

/** Keys of a subject's units of work, given sweeps included. */
export function keysOf(subject: Subject): string[] {
  return [...new Set([...subject.points.map((p: Point) => p.key), ...subject.given.map((g) => g.workload)])];
}

export function checkWork(subjects: readonly Subject[]): WorkCheck {
  const counts = new Map<string, number>();
  for (const subject of subjects) for (const key of keysOf(subject)) counts.set(key, (counts.get(key) ?? 0) + 1);
  const common = [...counts].filter(([, n]) => n > 1).map(([key]) => key);
  const incompatible = [
    ...compareFacts(
      "unit",
      subjects.map((s) => s.unit),
    ),
    ...common.flatMap((key) => mixDifference(subjects, key)),
  ];
  if (subjects.length > 1 && common.length === 0) {
    incompatible.push({
      kind: "unit",
      what: "workloads (none in common)",
      values: subjects.map((s) => keysOf(s).join(", ") || null),
    });
  }
  const unitNames = [...new Set(subjects.flatMap((s) => Object.keys(s.unit)))];
  return {
    incompatible,
    common,
    differences: [
      ...compareFacts(
        "method",
        subjects.map((s) => s.method),
      ),
      ...compareFacts(
        "environment",
        subjects.map((s) => ({ ...s.environment, "stand-ins": null })),
      ),
      ...serverVariables(subjects),
    ],
    unstated: unitNames.flatMap((what) => {
      const missing = subjects.filter((s) => (s.unit[what] ?? null) === null).map((s) => s.label);
      return missing.length > 0 && subjects.length > 1 ? [{ what, missing }] : [];
    }),
  };
}

/** Server variables that change what a commit costs or how much fits in memory: a difference is named. */
const TELLING = [
  "innodb_buffer_pool_size",
  "innodb_flush_log_at_trx_commit",
  "innodb_log_file_size",
  "innodb_flush_method",
  "sync_binlog",
  "transaction_isolation",
  "tx_isolation",
  "max_connections",
  "wsrep_slave_threads",
  "wsrep_sync_wait",
  "shared_buffers",
  "synchronous_commit",
  "fsync",
  "default_transaction_isolation",
];

/** Addresses inside Galera's one long variable are each node's own. */
const OF_A_NODE = /(^|[._])(host|addr|listen_addr|recv_addr|recv_bind|dir|port|name)$/;

/** Galera's options each by its own name: of the whole line nobody sees what differs. */
function spread(variables: Record<string, string>): Record<string, string> {
  const { wsrep_provider_options: options, ...others } = variables;
  const each = (options ?? "")
    .split(";")
    .map((o) => o.split("=").map((part) => part.trim()))
    .filter(([name]) => name && !OF_A_NODE.test(name));
  return { ...others, ...Object.fromEntries(each.map(([name, value]) => [`${GALERA}${name!}`, value ?? ""])) };
}

const GALERA = "wsrep_provider_options: ";

function serverVariables(subjects: readonly Subject[]): Difference[] {
  const all = subjects.map((s) => spread(s.result?.server?.variables ?? {}));
  return [...TELLING, ...new Set(all.flatMap((v) => Object.keys(v).filter((name) => name.startsWith(GALERA))))].flatMap(
    (name) => {
      const values = all.map((v) => v[name] ?? null);
      const stated = new Set(values.filter((v) => v !== null));
      return stated.size > 1
        ? [
            {
              kind: "environment" as const,
              what: `server variable ${name}`,
              values: values.map((v) => (v && v.length > 80 ? `${v.slice(0, 77)}...` : v)),
            },
          ]
        : [];
    },
  );
}
