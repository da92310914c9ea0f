import type * as pulumi from "@pulumi/pulumi";
import type { Config } from "../config/schema.ts";
import type { Database } from "../databases/database.ts";
import type { Node } from "../node.ts";
import { withRole } from "../topology.ts";
import { HaProxy } from "./haproxy.ts";
import { MaxScale } from "./maxscale.ts";
import type { Proxy } from "./proxy.ts";

/** Undefined for proxy.kind none: the load engine then spreads over the database nodes itself. */
export function createProxy(
  nodes: Node[],
  database: Database,
  config: Config,
  after: pulumi.Resource[],
): Proxy | undefined {
  const node = withRole(nodes, "proxy")[0];
  const { kind } = config.proxy;
  if (kind === "none" || !node) return undefined;
  const behind = withRole(nodes, "database");
  switch (kind) {
    case "haproxy":
      return new HaProxy(node, behind, database, config, after);
    case "maxscale":
      return new MaxScale(node, behind, database, config);
    default:
      throw new Error(`meshbench:proxy.kind is "${kind satisfies never}"`);
  }
}
