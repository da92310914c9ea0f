/** REST's documents -> what is known of the running proxy. Pure. */
import type { ProxyFacts } from "./proxy.ts";

interface Resource {
  id: string;
  attributes: Record<string, unknown>;
}
interface Documents {
  maxscale: { data: Resource };
  servers: { data: Resource[] };
  monitor: { data: Resource };
  service: { data: Resource };
}

/** Parameters in force are not always those that were asked for: transaction_replay, for one, turns others on. */
export function parseFacts(text: string): ProxyFacts {
  const { maxscale, servers, monitor, service } = JSON.parse(text) as Documents;
  return {
    version: String(maxscale.data.attributes["version"]),
    servers: servers.data.map((s) => ({ name: s.id, state: String(s.attributes["state"]) })),
    inForce: { monitor: parameters(monitor.data), service: parameters(service.data) },
  };
}

/** Accounts stay out, also in REST's masked form; what is not set says nothing. */
function parameters({ attributes }: Resource): Record<string, unknown> {
  const all = (attributes["parameters"] ?? {}) as Record<string, unknown>;
  return Object.fromEntries(
    Object.entries(all).filter(([name, value]) => value !== null && name !== "user" && name !== "password"),
  );
}

/** What the counters grew by between two readings; a proxy that was restarted in between began again at zero. */
export function countersBetween(before: Record<string, number>, after: Record<string, number>): Record<string, number> {
  const restarted = Object.entries(after).some(([name, value]) => value < (before[name] ?? 0));
  return Object.fromEntries(
    Object.entries(after).map(([name, value]) => [name, restarted ? value : value - (before[name] ?? 0)]),
  );
}
