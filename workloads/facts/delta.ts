/** Differences between two samples of the same nodes. Pure. */
import type { DialectName, StepResult } from "../contract.ts";
import { dialectNamed } from "../dialects/index.ts";
import type { Values } from "./names.ts";

/** `at`: milliseconds since the epoch, on the driver's clock. A node that did not answer in time has only `error`. */
export type NodeSample = { node: string; at: number; values: Values } | { node: string; at: number; error: string };

export type ServerFacts = StepResult["server"][number];

/**
 * Per node of `end`: counters as differences over the window, everything else as it stood at the end.
 * A server that was restarted in between began to count anew: it gets no differences, and the error says why.
 */
export function deltas(dialect: DialectName, start: readonly NodeSample[], end: readonly NodeSample[]): ServerFacts[] {
  const { kindOf } = dialectNamed(dialect);
  const before = new Map(start.map((sample) => [sample.node, sample]));
  return end.map((last): ServerFacts => {
    const first = before.get(last.node);
    if ("error" in last) return { node: last.node, error: last.error };
    const state: Values = {};
    const counters: Record<string, number> = {};
    for (const [name, value] of Object.entries(last.values)) {
      if (kindOf(name) === "gauge" || typeof value !== "number") state[name] = value;
      else counters[name] = value;
    }
    if (first === undefined || "error" in first) {
      return {
        node: last.node,
        end: state,
        error: `no counters at the start of the window${first ? `: ${first.error}` : ""}`,
      };
    }
    const delta: Record<string, number> = {};
    let restarted = false;
    for (const [name, value] of Object.entries(counters)) {
      const earlier = first.values[name];
      if (typeof earlier !== "number") continue;
      if (value < earlier) restarted = true;
      delta[name] = value - earlier;
    }
    if (restarted)
      return { node: last.node, end: state, error: "the server was restarted in the window: its counters began anew" };
    return { node: last.node, delta, end: state };
  });
}
