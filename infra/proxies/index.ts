import * as pulumi from "@pulumi/pulumi";
import type { Config } from "../config/schema.ts";
import type { Database } from "../databases/database.ts";
import type { Node } from "../node.ts";
import { withRole } from "../topology.ts";
import { HaProxy } from "./haproxy.ts";
import type { Proxy } from "./proxy.ts";

/** Undefined for proxy.kind none: the load engine then spreads over the database nodes itself. */
export function createProxy(nodes: Node[], database: Database, config: Config, after: pulumi.Resource[]): Proxy | undefined {
  const node = withRole(nodes, "proxy")[0];
  if (config.proxy.kind === "none" || !node) return undefined;
  return new HaProxy(node, withRole(nodes, "database"), database, config, after);
}
