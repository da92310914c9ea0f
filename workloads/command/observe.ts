/** Server facts around each window: the observer of workloads/facts in the shape that a run asks for. */
import type { RunSpec } from "../contract.ts";
import type { Observer } from "../engine/run.ts";
import { deltas, openObserver } from "../facts/observer.ts";
import type { NodeSample } from "../facts/observer.ts";

/** Undefined when the spec names no node to look at. */
export async function observerFor(spec: RunSpec): Promise<Observer | undefined> {
  if (spec.observe.length === 0) return undefined;
  const observer = await openObserver(spec.target, spec.observe);
  const byNode = await observer.variables();
  const variables = Object.values(byNode)[0];
  let start: Promise<NodeSample[]> | null = null;
  return {
    version: variables?.["version"],
    variables,
    open() {
      start = observer.sample();
    },
    async close() {
      const end = await observer.sample();
      const facts = deltas(spec.target.driver, (await start) ?? [], end);
      start = null;
      return facts;
    },
    async end() {
      observer.close();
    },
  };
}
