/** Sites on this machine: lab/ is called as a cloud's API would be, through its command line. */

import { local } from "@pulumi/command";
import * as pulumi from "@pulumi/pulumi";
import type { Config } from "../config/schema.ts";
import type { LocalSite } from "../config/sites.ts";
import type { Node } from "../node.ts";
import type { NodePlan } from "../topology.ts";
import type { SiteContext } from "./context.ts";
import { DIAL } from "./reached.ts";

/** What `lab node create` prints. */
interface Created {
  address: string;
  publicAddress: string;
  hostKey: string;
  behindNat: boolean;
  limits?: unknown;
}

/** All local sites of a stack share one laboratory: their network, the links between them, and the nodes. */
export class LocalSites extends pulumi.ComponentResource {
  readonly nodes: Node[];

  constructor(
    sites: LocalSite[],
    links: Config["links"],
    plans: NodePlan[],
    context: SiteContext,
    opts?: pulumi.ComponentResourceOptions,
  ) {
    super("meshbench:sites:Local", "local", {}, opts);
    const network = this.network(sites, links, context);
    this.nodes = plans.map((plan) => this.node(plan, sites.find((s) => s.name === plan.site)!, context, network));
    this.registerOutputs();
  }

  private network(sites: LocalSite[], links: Config["links"], context: SiteContext): pulumi.Resource {
    const spec = {
      lab: context.lab,
      stackId: context.labels["stack-id"],
      sites: sites.map(({ name, nat }) => ({ name, nat })),
      links: links.map(({ lossPercent, ...link }) => ({ ...link, lossPct: lossPercent })),
    };
    return this.lab("network", {
      create: "network apply",
      delete: `purge --lab ${context.lab}`,
      stdin: pulumi.output(spec).apply((known) => JSON.stringify(known)),
      triggers: [context.lab],
    });
  }

  private node(plan: NodePlan, site: LocalSite, context: SiteContext, network: pulumi.Resource): Node {
    const spec = pulumi.all([context.key.publicKey, pulumi.output(context.labels)]).apply(([publicKey, labels]) =>
      JSON.stringify({
        lab: context.lab,
        site: site.name,
        name: plan.name,
        authorizedKeys: [publicKey],
        labels,
        ...(site.cpus === undefined ? {} : { cpus: site.cpus }),
        ...(site.memoryMb === undefined ? {} : { memoryMb: site.memoryMb }),
      }),
    );
    const made = this.lab(
      plan.name,
      {
        create: "node create",
        delete: `node delete --lab ${context.lab} --name ${plan.name}`,
        stdin: spec,
        triggers: [context.lab, site.name],
      },
      [network],
    );
    const created = made.stdout.apply((text) => JSON.parse(text) as Created);
    return {
      ...plan,
      lanAddress: created.address,
      publicAddress: created.publicAddress,
      behindNat: site.nat,
      connection: pulumi.secret(
        pulumi.output({
          host: created.address,
          port: 22,
          user: "root",
          privateKey: context.key.privateKey,
          hostKey: created.hostKey,
          ...DIAL,
        }),
      ),
      sudo: false,
      resource: made,
      facts: created.apply(
        ({ limits }): Record<string, unknown> => ({ kind: "local node", ...(limits === undefined ? {} : { limits }) }),
      ),
    };
  }

  /**
   * Names stand alone in the state; a changed node is taken down before it is made anew, since both would have one
   * name.
   */
  private lab(
    name: string,
    command: { create: string; delete: string; stdin: pulumi.Input<string>; triggers: string[] },
    dependsOn: pulumi.Resource[] = [],
  ): local.Command {
    return new local.Command(
      `local-${name}`,
      {
        create: `node lab/cli.ts ${command.create}`,
        delete: `node lab/cli.ts ${command.delete}`,
        stdin: command.stdin,
        triggers: command.triggers,
        logging: "stderr",
        addPreviousOutputInEnv: false,
      },
      { parent: this, dependsOn, deleteBeforeReplace: true },
    );
  }
}
