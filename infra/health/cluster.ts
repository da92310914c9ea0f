/**
 * States of a Galera cluster's nodes -> what brings it back, by the rules of the provider: never a bootstrap that could
 * lose what another node has. Pure.
 */
import type { ServerState } from "./probe.ts";

export interface Member {
  name: string;
  meshAddress: string;
  server: ServerState;
}

/** What to do with the cluster. Names are those of nodes. */
export type Plan =
  | { kind: "well" }
  /** A primary component is there: these go back to it, one after the other. */
  | { kind: "join"; stopped: string[]; apart: string[]; waiting: string[] }
  /** All of the last primary component are there: started together they find back to it by themselves. */
  | { kind: "restart"; together: string[]; after: string[] }
  /** This node was the last to leave in order, or was named by the operator with nobody ahead of it. */
  | { kind: "bootstrap"; from: string; after: string[]; asked: boolean }
  /** Their positions are not known yet: they have to be asked. */
  | { kind: "recover"; ask: string[] }
  | { kind: "refused"; message: string };

export interface Knowledge {
  /** From `--wsrep-recover`, by node, where it has been asked for. */
  recovered: Record<string, { uuid: string; seqno: number }>;
  /** The node that the operator has named to start a dead cluster from. */
  bootstrapFrom: string | undefined;
  /** How the operator calls `up` on this stack. */
  up: string;
}

const isPrimary = (m: Member): boolean => m.server.status?.cluster === "Primary";
const names = (members: Member[]): string[] => members.map((m) => m.name);
/** Running, or on the way. A server that only waits for others is both. */
const isStarted = (m: Member): boolean => m.server.unit === "active" || m.server.unit === "activating";

/**
 * Members run, or are on their way, and there is no primary component. One that starts with neither a view to come back
 * to nor the right to begin waits for others for good: there is nothing to wait for.
 */
export const isGathering = (members: Member[]): boolean =>
  !members.some(isPrimary) &&
  members.some(
    ({ server, ...m }) =>
      server.uuid !== "" &&
      isStarted({ ...m, server }) &&
      (server.status !== undefined || server.view !== undefined || server.safeToBootstrap),
  );

export function planCluster(members: Member[], known: Knowledge): Plan {
  const primaries = members.filter(isPrimary);
  if (primaries.length > 0) return joinPlan(members, primaries);
  const former = members.filter((m) => m.server.uuid !== "");
  // A first bring-up that was interrupted before the cluster was founded is the steps' own work.
  if (former.length === 0)
    return members.some((m) => m.server.settled)
      ? {
          kind: "refused",
          message: `database: no node has the cluster's data any more (${describe(members, known)}); \`destroy\` and \`up\` make a new one`,
        }
      : { kind: "well" };
  const rest = (started: string[]): string[] => names(former).filter((name) => !started.includes(name));

  const viewed = former.filter((m) => m.server.view !== undefined);
  const present = new Set(viewed.map((m) => m.server.view!.me));
  if (viewed.length > 0 && viewed.every((m) => m.server.view!.members.every((uuid) => present.has(uuid))))
    return { kind: "restart", together: names(viewed), after: rest(names(viewed)) };
  // Servers that answer outside of a primary component wait for a member that is down and has no view to come back with.
  const safe = former.filter((m) => m.server.safeToBootstrap && m.server.status === undefined);
  const newest = (m: Member): number => known.recovered[m.name]?.seqno ?? m.server.seqno;
  if (safe.length === 1) return { kind: "bootstrap", from: safe[0]!.name, after: rest(names(safe)), asked: false };

  const unknown = former.filter((m) => newest(m) < 0 && known.recovered[m.name] === undefined);
  if (unknown.length > 0) return { kind: "recover", ask: names(unknown) };
  const highest = Math.max(...former.map(newest));
  const best = former.filter((m) => newest(m) === highest);
  const histories = new Set(former.map((m) => known.recovered[m.name]?.uuid || m.server.uuid));
  const state = describe(former, known);
  if (histories.size > 1)
    return {
      kind: "refused",
      message: `database: the nodes hold the data of ${histories.size} different clusters (${state}); replace those that are not wanted`,
    };
  const { bootstrapFrom } = known;
  if (bootstrapFrom !== undefined && names(best).includes(bootstrapFrom))
    return { kind: "bootstrap", from: bootstrapFrom, after: rest([bootstrapFrom]), asked: true };
  const how = `\`MESHBENCH_BOOTSTRAP_FROM=${best[0]!.name} ${known.up}\` starts the cluster from ${best[0]!.name}, which has the newest state`;
  if (bootstrapFrom !== undefined)
    return {
      kind: "refused",
      message: `MESHBENCH_BOOTSTRAP_FROM: ${bootstrapFrom}; expected ${names(best).join(" or ")}, which has the newest state (${state})`,
    };
  return {
    kind: "refused",
    message: `database: the cluster is down and no node may start it by itself (${state}); ${how}`,
  };
}

function joinPlan(members: Member[], primaries: Member[]): Plan {
  const clusters = new Set(primaries.map((m) => m.server.status!.uuid));
  if (clusters.size > 1)
    return {
      kind: "refused",
      message: `database: the nodes stand in ${clusters.size} clusters (${primaries.map((m) => `${m.name} in ${m.server.status!.uuid}`).join(", ")}); replace those that are not wanted`,
    };
  const others = members.filter((m) => !isPrimary(m));
  const stopped = names(others.filter((m) => !isStarted(m)));
  const apart = names(others.filter((m) => m.server.status !== undefined));
  const unready = (m: Member): boolean =>
    isPrimary(m) && !(m.server.status!.state === "Synced" && m.server.status!.ready);
  const waiting = names(
    members.filter((m) => (unready(m) || (isStarted(m) && m.server.status === undefined)) && m.server.settled),
  );
  return stopped.length + apart.length + waiting.length === 0
    ? { kind: "well" }
    : { kind: "join", stopped, apart, waiting };
}

/** Each node's state in words: "east-1 stopped at 120, west-1 starting at 118". */
function describe(members: Member[], known: Knowledge): string {
  const word: Record<string, string> = { active: "running", activating: "starting", failed: "failed" };
  return members
    .map((m) => {
      const seqno = known.recovered[m.name]?.seqno ?? m.server.seqno;
      const at = m.server.uuid === "" ? " without data" : seqno < 0 ? "" : ` at ${seqno}`;
      return `${m.name} ${word[m.server.unit] ?? "stopped"}${m.server.status ? ` (${m.server.status.cluster})` : ""}${at}`;
    })
    .join(", ");
}

/**
 * Members of the running cluster that are not in the configuration any more will lose the mesh. Where those that stay
 * would not be more than half of it, they need more weight before that, or they lose the quorum with them.
 */
export function needsWeight(members: Member[]): boolean {
  const primaries = members.filter(isPrimary);
  const incoming = new Set(primaries.flatMap((m) => m.server.status!.incoming).filter((address) => address !== ""));
  const staying = [...incoming].filter((address) => members.some((m) => m.meshAddress === address)).length;
  return staying < incoming.size && staying * 2 <= incoming.size;
}
