/**
 * The least a transaction can take by the speed of light between the sites, against what was measured.
 *
 * Replication: the round trips that a commit waits for, by the rule that the result names (commit-rules.ts). Client: the
 * driver sends one statement at a time and waits, so each statement costs a round trip to the endpoint. Where it is not
 * known which node served, the nearest is taken: the floor stays a lower bound.
 */
import type { CommitRule } from "../../workloads/contract.ts";
import type { Point, Subject } from "../model.ts";
import { COMMIT_RULES } from "./commit-rules.ts";

export interface Rtt {
  between: (a: string, b: string) => number | null;
  max: number | null;
}

export interface FloorTerm {
  what: string;
  times: number;
  rttMs: number;
  ms: number;
}
export interface Floor {
  ms: number;
  terms: FloorTerm[];
  measuredMs: number | null;
  source: "measured mean" | "threads / tps" | null;
}

/** Every point of a subject asks for the same matrix. */
const known = new WeakMap<Subject, Rtt>();

/**
 * RTT in ms by unordered pair of node names: the least of the pings of both directions. It is what distance alone
 * costs;
 * the mean also holds the queues of a machine that was busy while it was measured.
 */
export function rttOf(subject: Subject): Rtt {
  const cached = known.get(subject) ?? readRtt(subject);
  known.set(subject, cached);
  return cached;
}

function readRtt(subject: Subject): Rtt {
  const pairs = new Map<string, number>();
  for (const entry of subject.context?.rttMatrix ?? []) {
    if (!entry.rttMs || entry.from === entry.to) continue;
    const key = [entry.from, entry.to].sort().join("\0");
    pairs.set(key, Math.min(pairs.get(key) ?? Infinity, entry.rttMs.min));
  }
  const database = new Set(nodes(subject, "database"));
  const among = [...pairs].filter(([key]) => key.split("\0").every((n) => database.has(n))).map(([, rtt]) => rtt);
  return {
    between: (a, b) => (a === b ? 0 : (pairs.get([a, b].sort().join("\0")) ?? null)),
    max: among.length ? Math.max(...among) : null,
  };
}

/** A node may have several roles: "driver+proxy". */
export function hasRole(node: { role: string }, role: string): boolean {
  return node.role.split("+").includes(role);
}

function nodes(subject: Subject, role: string): string[] {
  return (subject.context?.topology?.nodes ?? []).filter((n) => hasRole(n, role)).map((n) => n.name);
}

/** Highest RTT between two database nodes, ms; published sets may state one. Null when it is not known. */
export function farthestRtt(subject: Subject): number | null {
  const measured = rttOf(subject).max;
  if (measured !== null) return measured;
  const stated = subject.environment["highest RTT (ms)"];
  return typeof stated === "number" ? stated : null;
}

/** Mean latency of a point; for a closed loop without one, threads / tps (Little's law). */
export function meanLatency(point: Point): { ms: number; source: "measured mean" | "threads / tps" } | null {
  if (point.avg) return { ms: point.avg.mean, source: "measured mean" };
  if (point.tps && point.tps.mean > 0 && !point.key.includes("@"))
    return { ms: (point.threads / point.tps.mean) * 1000, source: "threads / tps" };
  return null;
}

/** Commits that leave a writeset: one per transaction with BEGIN and COMMIT, one per statement without. */
export function commitsPerTransaction(point: Point): number {
  if (!point.mix || point.mix.write < 1e-9) return 0;
  return point.mix.other === null || point.mix.other >= 1.5 ? 1 : point.mix.write;
}

/** From the result itself; results from before it was recorded are of Galera wherever there are several nodes. */
export const commitRuleOf = (subject: Subject): CommitRule => subject.context?.database?.commit ?? "safe-delivery";

/** Floor of one point, or null when RTTs or the statement mix are not known. */
export function floorOf(subject: Subject, point: Point): Floor | null {
  const rtt = rttOf(subject);
  const databases = nodes(subject, "database");
  if (!point.mix || databases.length === 0 || !subject.context?.rttMatrix) return null;
  const terms: FloorTerm[] = [];
  const add = (what: string, times: number, rttMs: number) => {
    if (times > 1e-9 && rttMs > 0) terms.push({ what, times, rttMs, ms: times * rttMs });
  };

  const commits = commitsPerTransaction(point);
  const rule = COMMIT_RULES[commitRuleOf(subject)];
  if (commits > 0) {
    const complete = databases.every((a) => databases.every((b) => rtt.between(a, b) !== null));
    const others = (writer: string): string[] => databases.filter((node) => node !== writer);
    if (complete)
      add(
        `commit: ${rule.what}`,
        commits,
        Math.min(
          ...writersOf(point, databases).map((writer) =>
            rule.wait(writer, others(writer), (a, b) => rtt.between(a, b)!),
          ),
        ),
      );
  }

  const drivers = nodes(subject, "driver");
  const driver = drivers.find((d) => d === subject.result?.host.hostname) ?? drivers[0];
  const statements = point.mix.read + point.mix.write + (point.mix.other ?? 0);
  const served = endpointNodes(subject);
  if (driver && served.length > 0) {
    const legs = served.map((n) => rtt.between(driver, n));
    if (legs.every((r) => r !== null))
      add("statements: round trip from the driver to the endpoint", statements, Math.min(...(legs as number[])));
    const proxies = served.filter((n) => !databases.includes(n));
    if (proxies.length === served.length) {
      const onward = proxies.flatMap((p) => databases.map((d) => rtt.between(p, d)));
      if (onward.every((r) => r !== null))
        add(
          "statements: round trip from the proxy to the nearest database",
          statements,
          Math.min(...(onward as number[])),
        );
    }
  }
  const measured = meanLatency(point);
  return {
    ms: terms.reduce((sum, t) => sum + t.ms, 0),
    terms,
    measuredMs: measured?.ms ?? null,
    source: measured?.source ?? null,
  };
}

/** The nodes that took writes in a point's windows, where that was recorded; else any may have. */
function writersOf(point: Point, databases: readonly string[]): readonly string[] {
  const seen = databases.filter((node) => point.primaries?.includes(node));
  return seen.length > 0 ? seen : databases;
}

/** Names of the nodes behind the spec's endpoints: by mesh address, else by the endpoint's own name. */
function endpointNodes(subject: Subject): string[] {
  const members = subject.context?.topology?.nodes ?? [];
  const endpoints = subject.result?.spec.target.endpoints ?? [];
  const found = endpoints.map(
    (e) =>
      (members.find((n) => n.meshAddress === e.host || n.name === e.host) ?? members.find((n) => n.name === e.name))
        ?.name,
  );
  return found.every((n) => n !== undefined) ? (found as string[]) : [];
}
