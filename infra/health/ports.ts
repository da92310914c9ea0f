/**
 * TCP ports through which the load passes: tried from the nodes that use them, since a firewall may let pings pass and
 * drop what matters. The texts are pure.
 */
import type { Config } from "../config/schema.ts";
import { engineOf } from "../databases/index.ts";
import { PROXIES } from "../proxies/kinds.ts";
import { CHECK_PORT, WRITER_PORT } from "../proxies/proxy.ts";
import { Hurt, type LookedAt, type Route } from "./looked-at.ts";
import type { NodeState } from "./probe.ts";

/** Drivers watch the database nodes themselves, whatever proxy stands before them. */
export function routesOf({ database, proxy }: Pick<Config, "database" | "proxy">): Route[] {
  const { port, inService } = engineOf(database);
  const what = "the database's port";
  const own: Route[] = [{ from: "driver", to: "database", port, what }];
  if (proxy.kind === "none") return own;
  own.push(
    { from: "proxy", to: "database", port, what },
    { from: "driver", to: "proxy", port: WRITER_PORT, what: "the proxy's port" },
  );
  if (PROXIES[proxy.kind].asksInService && inService !== null)
    own.push({
      from: "proxy",
      to: "database",
      port: typeof inService === "string" ? CHECK_PORT : inService.port,
      what: "the port of its in-service check",
    });
  return own;
}

interface Pair {
  from: LookedAt;
  to: LookedAt;
  route: Route;
}

/** A lost packet of a handshake is sent again after 1, 3 and 7 seconds. */
const TRY_SECONDS = 8;

/**
 * Prints "port <node> <port> open|refused|silent" for each. A server counts a connection that says nothing as an aborted
 * one; it locks nobody out for it, since it keeps no cache of hosts.
 */
export function routesScript(targets: { name: string; meshAddress: string; port: number }[]): string {
  return `try_port() {
  local said code=0 state=silent
  said=$(LC_ALL=C timeout ${TRY_SECONDS} bash -c "</dev/tcp/$2/$3" 2>&1) || code=$?
  if [ $code = 0 ]; then state=open; elif grep -q refused <<<"$said"; then state=refused; fi
  echo "port $1 $3 $state"
}
${targets.map((t) => `try_port ${t.name} ${t.meshAddress} ${t.port} &`).join("\n")}
wait`;
}

/** Prints the ports, of those given, on which somebody on the node listens. */
export const listensScript = (ports: number[]): string =>
  `for port in ${ports.join(" ")}; do ss -Hltn "sport = :$port" | grep -q . && echo "$port" || true; done`;

/**
 * Nodes that hear each other over the mesh, and a port between them that is dropped, or refused by something before a
 * program that listens. A port where nobody listens yet is the steps' own work.
 *
 * @throws Hurt
 */
export async function tryRoutes(
  nodes: LookedAt[],
  states: Map<string, NodeState>,
  routes: readonly Route[],
): Promise<void> {
  const pairs = routes.flatMap((route) =>
    nodes
      .filter((from) => from.roles.includes(route.from))
      .flatMap((from) =>
        nodes
          .filter((to) => to !== from && to.roles.includes(route.to) && hear(states, from.name, to.name))
          .map((to): Pair => ({ from, to, route })),
      ),
  );
  const tried = await Promise.all(
    nodes.map(async (from) => {
      const own = pairs.filter((pair) => pair.from === from);
      if (own.length === 0) return [];
      const { stdout } = await from.run(
        routesScript(own.map(({ to, route }) => ({ name: to.name, meshAddress: to.meshAddress, port: route.port }))),
      );
      const found = new Map([...stdout.matchAll(/^port (\S+) (\d+) (\S+)$/gm)].map((m) => [`${m[1]} ${m[2]}`, m[3]!]));
      return own.map((pair) => ({ ...pair, state: found.get(`${pair.to.name} ${pair.route.port}`) ?? "open" }));
    }),
  );
  const closed = tried.flat().filter(({ state }) => state !== "open");
  const silent = closed.filter(({ state }) => state === "silent");
  if (silent.length > 0) throw new Hurt(sentence(silent, "does not answer"));
  const asked = nodes.filter((node) => closed.some(({ to }) => to === node));
  const listening = new Map(
    await Promise.all(
      asked.map(async (node) => {
        const ports = closed.filter(({ to }) => to === node).map(({ route }) => route.port);
        const { stdout } = await node.run(listensScript([...new Set(ports)]));
        return [node, new Set(stdout.trim().split(/\s+/).map(Number))] as const;
      }),
    ),
  );
  const refused = closed.filter(({ to, route }) => listening.get(to)!.has(route.port));
  if (refused.length > 0) throw new Hurt(sentence(refused, "refuses it, though a program listens there"));
}

const hear = (states: Map<string, NodeState>, from: string, to: string): boolean =>
  states.get(from)?.mesh.peers.some((peer) => peer.name === to && peer.state !== "silent") ?? false;

function sentence(closed: Pair[], how: string): string {
  const [{ from, to, route }] = closed as [Pair];
  const more = closed.length > 1 ? ` (and ${closed.length - 1} more such ways)` : "";
  return `mesh: ${to.name} answers pings of ${from.name}, but its TCP port ${route.port}, ${route.what}, ${how}${more}; expected it open from the ${route.from}'s node to the ${route.to}'s (is there a firewall?)`;
}
