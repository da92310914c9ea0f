/** The proxy that the configuration asks for. */
import type * as pulumi from "@pulumi/pulumi";
import type { Config } from "../config/schema.ts";
import type { Database } from "../databases/database.ts";
import type { Node } from "../node.ts";
import { withRole } from "../topology.ts";
import { displacedBy, PROXIES } from "./kinds.ts";
import type { Proxy } from "./proxy.ts";

/** Undefined for proxy.kind none: the load engine then spreads over the database nodes itself. */
export async function createProxy(
  nodes: Node[],
  database: Database,
  config: Config,
  after: pulumi.Resource[],
): Promise<Proxy | undefined> {
  const node = withRole(nodes, "proxy")[0];
  const { kind } = config.proxy;
  const { load } = PROXIES[kind];
  if (load === null || !node) return undefined;
  const create = await load();
  const databaseNodes = withRole(nodes, "database");
  return create({ node, databaseNodes, database, config, after, displaced: displacedBy(kind) });
}
