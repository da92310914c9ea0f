/**
 * Before a run: whether the servers take as many sessions and prepared statements as the spec needs, and whether they
 * keep statements at all. Every condition is a necessary one: what is refused here could not have run.
 */
import type { RunSpec } from "../contract.ts";
import { dialectOf } from "../dialects/index.ts";
import { shown } from "../drivers/address.ts";
import { openSession } from "../sql-session.ts";
import { planStep } from "../steps.ts";
import type { EndpointRoom } from "./room.ts";
import { roomOn } from "./room.ts";

/** What a step holds at once, over all of its drivers. */
export interface Demand {
  workload: string;
  threads: number;
  /** Prepared statements of each session. */
  statements: number;
}

export function demandsOf(spec: RunSpec): Demand[] {
  const emulated = spec.target.preparedStatements === "disable";
  const proxied = spec.target.endpoints.some(({ role }) => role === "proxy");
  return spec.steps.map(({ workload, threads }, i) => {
    const { plan } = planStep(spec, i);
    // COMMIT is prepared beside the tables' own, except through a proxy; BEGIN not on every server.
    const control = plan.transaction && !proxied ? 1 : 0;
    return { workload, threads, statements: emulated ? 0 : plan.templates.length * plan.tables + control };
  });
}

/**
 * One line per limit that a step exceeds.
 * @param rooms one per endpoint that sessions are spread over; a step has all of them together
 */
export function shortages(demands: readonly Demand[], rooms: readonly EndpointRoom[]): string[] {
  const lines = [
    worst(
      demands,
      rooms,
      "sessions",
      ({ threads }) => threads,
      ({ threads }) => `${threads} threads`,
    ),
    worst(
      demands,
      rooms,
      "statements",
      ({ threads, statements }) => threads * statements,
      ({ threads, statements }) =>
        `${threads} threads with ${statements} statements each; raise it, or use fewer tables or threads, or --db-ps-mode disable`,
    ),
  ];
  return lines.filter((line) => line !== null);
}

function worst(
  demands: readonly Demand[],
  rooms: readonly EndpointRoom[],
  what: "sessions" | "statements",
  needed: (demand: Demand) => number,
  words: (demand: Demand) => string,
): string | null {
  const free = rooms.reduce((sum, room) => sum + room[what].free, 0);
  const demand = demands.toSorted((a, b) => needed(b) - needed(a))[0];
  if (demand === undefined || needed(demand) <= free) return null;
  const limits = rooms.map((room) => `${room[what].key}: ${room[what].set} on ${room.where}`).join(", ");
  return `${limits}, ${free} of it free; expected ${needed(demand)} for ${demand.workload} with ${words(demand)}`;
}

/** Asks the endpoints. Resolves to one line per shortage; an endpoint that does not answer is passed over. */
export async function checkCapacity(spec: RunSpec, { signal }: { signal: AbortSignal }): Promise<string[]> {
  signal.throwIfAborted();
  const { target } = spec;
  // first-alive has all sessions on the first one; every other policy spreads them.
  const endpoints = target.policy === "first-alive" ? target.endpoints.slice(0, 1) : target.endpoints;
  // The other drivers may have their sessions open already: what is in use tells nothing then.
  const alone = (spec.drivers?.count ?? 1) === 1;
  const behindProxy = Math.max(1, spec.observe.length);
  const rooms = await Promise.all(
    endpoints.map((endpoint) => roomOn(target, endpoint, alone, endpoint.role === "proxy" ? behindProxy : 1)),
  );
  const lines = shortages(demandsOf(spec), rooms);
  if (target.preparedStatements === "disable") return lines;
  const { preparedStatementsProblem } = dialectOf(target);
  for (const endpoint of endpoints) {
    const problem = await preparedStatementsProblem(() => openSession(target, endpoint));
    if (problem !== null) lines.push(`${shown(endpoint)}: ${problem}`);
  }
  return lines;
}
