/** Server facts around each window: the observer of workloads/facts in the shape that a run asks for. */
import type { RunSpec } from "../contract.ts";
import { dialectName } from "../contract.ts";
import type { Observer } from "../engine/run.ts";
import type { NodeSample } from "../facts/observer.ts";
import { deltas, openObserver } from "../facts/observer.ts";

/** A look at the nodes costs each of them about a millisecond; every few seconds it does not show in the figures. */
const LOOK_EVERY_MS = 5000;
/** What an outage or a stall can be told by, while it lasts. Counters stand in the series as they are. */
const WATCHED = new Set([
  "Threads_running",
  "Innodb_row_lock_waits",
  "wsrep_flow_control_paused_ns",
  "wsrep_local_recv_queue",
  "wsrep_local_send_queue",
  "wsrep_cluster_size",
  "wsrep_cluster_status",
  "wsrep_local_state_comment",
  "wsrep_ready",
  "wsrep_local_bf_aborts",
  "wsrep_local_cert_failures",
]);

/** Undefined when the spec names no node to look at. */
export async function observerFor(spec: RunSpec): Promise<Observer | undefined> {
  if (spec.observe.length === 0) return undefined;
  const observer = await openObserver(spec.target, spec.observe);
  const byNode = await observer.variables();
  const variables = Object.values(byNode)[0];
  let start: Promise<NodeSample[]> | null = null;
  let timer: NodeJS.Timeout | undefined;
  let series: { t: number; samples: NodeSample[] }[] = [];
  return {
    version: variables?.["version"],
    variables,
    open() {
      start = observer.sample();
      series = [];
      const openedAt = performance.now();
      timer = setInterval(() => {
        const t = (performance.now() - openedAt) / 1000;
        void observer.sample().then((samples) => series.push({ t, samples }));
      }, LOOK_EVERY_MS);
    },
    async close() {
      clearInterval(timer);
      const seen = series;
      const end = await observer.sample();
      const facts = deltas(dialectName(spec.target), (await start) ?? [], end);
      start = null;
      return facts.map((fact) => {
        const own = seen.flatMap(({ t, samples }) =>
          samples.filter((sample) => sample.node === fact.node).map((sample) => ({ t, ...watched(sample) })),
        );
        return own.length > 0 ? { ...fact, series: own } : fact;
      });
    },
    async end() {
      clearInterval(timer);
      observer.close();
    },
  };
}

function watched(sample: NodeSample): Record<string, string | number> {
  if ("error" in sample) return { error: sample.error };
  return Object.fromEntries(Object.entries(sample.values).filter(([name]) => WATCHED.has(name)));
}
