/** Sites of all kinds -> nodes, in the order of the plan. */
import type * as pulumi from "@pulumi/pulumi";
import { databaseNodes } from "../config/counts.ts";
import type { Config } from "../config/schema.ts";
import type { Node } from "../node.ts";
import type { NodePlan } from "../topology.ts";
import type { SiteContext } from "./context.ts";
import { guardKinds } from "./kind-guards.ts";
import { SITE_KINDS } from "./kinds/index.ts";
import type { SiteKind } from "./kinds/kind.ts";

/** A provider's package takes seconds to load, and is loaded only where a site needs it. */
export async function createSites(
  config: Config,
  plans: NodePlan[],
  context: SiteContext,
  opts?: pulumi.ComponentResourceOptions,
): Promise<Node[]> {
  const nodes: Node[] = [];
  const before: pulumi.Resource[] = [];
  const alone = databaseNodes(config) === 1;
  const all = config.sites.map((site, i) => ({ site, key: `meshbench:sites[${i}]` }));
  await guardKinds(all);
  for (const [kind, description] of Object.entries(SITE_KINDS)) {
    const sites = all.filter(({ site }) => site.kind === kind);
    if (sites.length === 0) continue;
    const create = await (description as unknown as SiteKind).load();
    nodes.push(
      ...create(
        {
          sites,
          plans: plans.filter((plan) => sites.some(({ site }) => site.name === plan.site)),
          config,
          context,
          alone,
          before,
        },
        opts,
      ),
    );
  }
  return plans.map((plan) => nodes.find((n) => n.name === plan.name)!);
}
