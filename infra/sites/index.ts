/** Sites of all kinds -> nodes, in the order of the plan. */
import type * as pulumi from "@pulumi/pulumi";
import type { Config } from "../config/schema.ts";
import type { LocalSite, Site } from "../config/sites/index.ts";
import { engineOf } from "../databases/index.ts";
import type { Node } from "../node.ts";
import type { NodePlan } from "../topology.ts";
import type { SiteContext } from "./context.ts";
import { LocalSites } from "./local.ts";

/** A provider's package takes seconds to load, and is loaded only where a site needs it. */
export async function createSites(
  config: Config,
  plans: NodePlan[],
  context: SiteContext,
  opts?: pulumi.ComponentResourceOptions,
): Promise<Node[]> {
  const nodes: Node[] = [];
  const ofKind = <K extends Site["kind"]>(kind: K): Extract<Site, { kind: K }>[] =>
    config.sites.filter((s) => s.kind === kind) as Extract<Site, { kind: K }>[];
  const plansOf = (sites: Site[]): NodePlan[] => plans.filter((p) => sites.some((s) => s.name === p.site));

  const keyOf = (site: Site): string => `meshbench:sites[${config.sites.indexOf(site)}]`;

  /** What says that a database node serves, over all sites: with `rolling` each node waits for the one before it. */
  const before: pulumi.Resource[] = [];

  const local: LocalSite[] = ofKind("local");
  if (local.length > 0) {
    const { localRelease } = engineOf(config.database);
    nodes.push(...new LocalSites(local, keyOf, config.links, plansOf(local), context, localRelease, opts).nodes);
  }

  const inAws = ofKind("aws");
  if (inAws.length > 0) {
    const { AwsSites } = await import("./aws/sites.ts");
    nodes.push(...new AwsSites(inAws, plansOf(inAws), config, context, before, opts).nodes);
  }
  const alone = config.sites.reduce((sum, s) => sum + s.nodes, 0) === 1;
  for (const site of ofKind("proxmox")) {
    const { ProxmoxSite } = await import("./proxmox/site.ts");
    nodes.push(
      ...new ProxmoxSite(
        { site, key: keyOf(site), plans: plansOf([site]), alone, before, secrets: config, context },
        opts,
      ).nodes,
    );
  }
  for (const site of ofKind("ssh")) {
    const { SshSite } = await import("./ssh.ts");
    nodes.push(...new SshSite(site, keyOf(site), plansOf([site]), opts).nodes);
  }
  return plans.map((plan) => nodes.find((n) => n.name === plan.name)!);
}
