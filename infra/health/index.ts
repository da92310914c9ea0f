/**
 * The look at a standing stack with which each `up` begins. It is no resource: when all is well it changes nothing, and
 * shows nothing; when something is down it is brought back before any step relies on it.
 */
import * as pulumi from "@pulumi/pulumi";
import type { Config } from "../config/schema.ts";
import { engineOf } from "../databases/index.ts";
import type { Node } from "../node.ts";
import type { Connection } from "../ssh.ts";

/**
 * One sentence, said once. Every step that waits for a node fails with the very same error, of which Pulumi shows each
 * but once; on its way through a step's inputs it would put their names in front.
 */
function sentence(text: string): pulumi.RunError {
  return Object.defineProperty(new pulumi.RunError(text), "message", { get: () => text, set: () => {} });
}

export interface Standing {
  /**
   * The same nodes, whose connections nobody gets before all of them have been looked at. A connection's value stays
   * what it was, and depends on its own node alone.
   */
  nodes: Node[];
  /**
   * Looks, once everything that waits for it has been registered. Rejects with one sentence when something is down that
   * can't be brought back; the nodes' connections fail with it.
   */
  look: () => Promise<void>;
}

export function lookAt(nodes: Node[], config: Config): Standing {
  // A preview changes nothing, and connections of nodes to come are not known in it.
  if (pulumi.runtime.isDryRun()) return { nodes, look: () => Promise.resolve() };
  const connections = pulumi.all(nodes.map((n) => pulumi.output(n.connection)));
  const urns = pulumi.all(nodes.map((n) => n.resource?.urn ?? pulumi.output("")));
  const looked = Promise.withResolvers<void>();
  const begin = (): Promise<void> => {
    pulumi
      .all([connections, urns])
      .apply(([all, known]) => look(nodes, all as Connection[], known, config).then(looked.resolve, looked.reject));
    return looked.promise;
  };
  const gated = nodes.map((node) => ({
    ...node,
    connection: pulumi.output(node.connection).apply((known) => looked.promise.then(() => known)) as Node["connection"],
  }));
  return { nodes: gated, look: begin };
}

async function look(nodes: Node[], connections: Connection[], urns: string[], config: Config): Promise<void> {
  // Under --target some have not been made; mocks have no nodes at all.
  const there = nodes.flatMap((node, i) =>
    connections[i]?.host ? [{ node, connection: connections[i], urn: urns[i]! }] : [],
  );
  if (there.length === 0 || process.env["MESHBENCH_LOOK"] === "off") return;
  const [{ Look }, { Hurt }, { routesOf }, { reached }] = await Promise.all([
    import("./look.ts"),
    import("./looked-at.ts"),
    import("./ports.ts"),
    import("./reached.ts"),
  ]);
  const stack = pulumi.getStack();
  const command = (words: string): string => `npm run pulumi -- ${words} -s ${stack}`;
  const { mtu, port } = config.mesh;
  const found = there.map(({ node, connection, urn }) =>
    reached(node, connection, `if it is lost, \`${command("up")} --replace '${urn}'\` makes it anew`),
  );
  const { host, standing, repair } = engineOf(config.database);
  const looking = new Look(found, {
    galera: repair === "galera",
    group: repair === "group",
    serverUnits: host.units,
    standing,
    mesh: { port, mtu: mtu === "auto" ? undefined : mtu },
    routes: routesOf(config),
    bootstrapFrom: process.env["MESHBENCH_BOOTSTRAP_FROM"] || undefined,
    up: command("up"),
    say: (line) => void pulumi.log.warn(line),
  });
  try {
    await looking.all();
  } catch (error) {
    throw error instanceof Hurt ? sentence(error.message) : error;
  } finally {
    for (const node of found) node.close();
  }
}
