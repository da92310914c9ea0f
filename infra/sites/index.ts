/** Sites of all kinds -> nodes, in the order of the plan. */
import type * as pulumi from "@pulumi/pulumi";
import type { Config } from "../config/schema.ts";
import type { LocalSite, Site } from "../config/sites.ts";
import type { Node } from "../node.ts";
import type { NodePlan } from "../topology.ts";
import type { SiteContext } from "./context.ts";
import { LocalSites } from "./local.ts";

export function createSites(config: Config, plans: NodePlan[], context: SiteContext, opts?: pulumi.ComponentResourceOptions): Node[] {
  const nodes: Node[] = [];
  const ofKind = <K extends Site["kind"]>(kind: K): Extract<Site, { kind: K }>[] => config.sites.filter((s) => s.kind === kind) as Extract<Site, { kind: K }>[];
  const plansOf = (sites: Site[]): NodePlan[] => plans.filter((p) => sites.some((s) => s.name === p.site));

  const local: LocalSite[] = ofKind("local");
  if (local.length > 0) nodes.push(...new LocalSites(local, config.links, plansOf(local), context, opts).nodes);
  return plans.map((plan) => nodes.find((n) => n.name === plan.name)!);
}
