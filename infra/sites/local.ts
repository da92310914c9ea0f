/** Sites on this machine: lab/ is called as a cloud's API would be, through its command line. */

import { local } from "@pulumi/command";
import * as pulumi from "@pulumi/pulumi";
import { execa } from "execa";
import type { Config } from "../config/schema.ts";
import { releaseOf } from "../config/sites/common.ts";
import type { LocalSite } from "../config/sites/index.ts";
import type { Engine } from "../databases/engine.ts";
import type { Node } from "../node.ts";
import { checkout } from "../paths.ts";
import type { NodePlan } from "../topology.ts";
import type { SiteContext } from "./context.ts";
import { guard } from "./guard.ts";
import { DIAL } from "./reached.ts";

/** What `lab node create` prints. */
interface Created {
  address: string;
  publicAddress: string;
  hostKey: string;
  behindNat: boolean;
  limits?: unknown;
}

/** Boots a node that is down on the disk it had. Rejects with the laboratory's own sentence. */
async function startAgain(lab: string, node: string): Promise<void> {
  const args = ["lab/cli.ts", "node", "start", "--lab", lab, "--name", node];
  try {
    await execa(process.execPath, args, { cwd: checkout });
  } catch (error) {
    const { stderr, message } = error as { stderr?: string; message: string };
    throw new Error(
      stderr
        ?.trim()
        .split("\n")
        .at(-1)
        ?.replace(/^lab: /, "") || message,
    );
  }
}

/** All local sites of a stack share one laboratory: their network, the links between them, and the nodes. */
export class LocalSites extends pulumi.ComponentResource {
  readonly nodes: Node[];
  /** Of database nodes, where the site's own release has not got the server. */
  private readonly databaseRelease: Engine["localRelease"];

  constructor(
    sites: LocalSite[],
    /** How a site is called in messages: meshbench:sites[0]. */
    keyOf: (site: LocalSite) => string,
    links: Config["links"],
    plans: NodePlan[],
    context: SiteContext,
    databaseRelease: Engine["localRelease"],
    opts?: pulumi.ComponentResourceOptions,
  ) {
    super("meshbench:sites:Local", "local", {}, opts);
    this.databaseRelease = databaseRelease;
    const network = this.network(sites, links, context);
    const siteOf = (plan: NodePlan): LocalSite => sites.find((s) => s.name === plan.site)!;
    // A change that is refused for one node is carried out on none.
    const guards = plans
      .filter(({ roles }) => roles.includes("database"))
      .map((plan) => this.guarded(plan, siteOf(plan), keyOf(siteOf(plan)), context));
    const made = plans.map((plan) => this.machine(plan, siteOf(plan), context, [network, ...guards]));
    this.labels(context, made);
    const limits = this.limits(plans, siteOf, context, made);
    this.nodes = plans.map((plan, i) => this.node(plan, siteOf(plan), context, made[i]!, limits));
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

  /**
   * Made as configured; what is changed later on a node that stands has a step of its own, so that nothing that asks for
   * the node's address has to wait for it, in a preview neither.
   */
  private machine(plan: NodePlan, site: LocalSite, context: SiteContext, after: pulumi.Resource[]): local.Command {
    const release = this.releaseOf(plan, site);
    const spec = pulumi.all([context.key.publicKey, pulumi.output(context.labels)]).apply(([publicKey, labels]) =>
      JSON.stringify({
        lab: context.lab,
        site: site.name,
        name: plan.name,
        authorizedKeys: [publicKey],
        labels,
        ...(release === 12 ? {} : { debian: release }),
        ...limitsOf(site),
      }),
    );
    return this.lab(
      plan.name,
      {
        create: "node create",
        delete: `node delete --lab ${context.lab} --name ${plan.name}`,
        stdin: spec,
        // Another release is another node; the word is left out where stacks that stand have none.
        triggers: [context.lab, site.name, ...(release === 12 ? [] : [`Debian ${release}`])],
      },
      after,
      ["stdin"],
    );
  }

  private releaseOf(plan: NodePlan, site: LocalSite): 12 | 13 | NonNullable<Engine["localRelease"]> {
    return (plan.roles.includes("database") ? this.databaseRelease : undefined) ?? releaseOf(site);
  }

  /** What the node's triggers are made of: a change of any makes it anew. */
  private guarded(plan: NodePlan, site: LocalSite, key: string, { lab }: SiteContext): pulumi.Resource {
    return guard(
      plan.name,
      {
        replaced: { debian: String(this.releaseOf(plan, site)), lab },
        mayReplace: site.replaceNodes,
        replaceKey: `${key}.replaceNodes to true`,
      },
      { parent: this },
    );
  }

  /** Of all nodes that stand, when they change: the lab's own list goes by them. */
  private labels(context: SiteContext, nodes: pulumi.Resource[]): void {
    const stdin = pulumi.output(context.labels).apply((labels) => JSON.stringify({ lab: context.lab, labels }));
    this.lab("labels", { create: "label", stdin, triggers: [context.lab] }, nodes);
  }

  /** Processors and memory of all nodes, also of those that run. Prints by node what came of it. */
  private limits(
    plans: NodePlan[],
    siteOf: (plan: NodePlan) => LocalSite,
    context: SiteContext,
    nodes: pulumi.Resource[],
  ): local.Command {
    const wanted = Object.fromEntries(plans.map((plan) => [plan.name, limitsOf(siteOf(plan))]));
    const stdin = JSON.stringify({ lab: context.lab, nodes: wanted });
    return this.lab("limits", { create: "limit", stdin, triggers: [context.lab] }, nodes);
  }

  private node(
    plan: NodePlan,
    site: LocalSite,
    context: SiteContext,
    made: local.Command,
    limits: local.Command,
  ): Node {
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
      bringBack: () => startAgain(context.lab, plan.name),
      settled: limits,
      // The step that sets limits is waited for only where there are any.
      facts: pulumi
        .output<string | undefined>(Object.keys(limitsOf(site)).length === 0 ? undefined : limits.stdout)
        .apply(
          (text): Record<string, unknown> => ({
            kind: "local node",
            os: `Debian ${this.releaseOf(plan, site)}`,
            limits: text === undefined ? "none" : (JSON.parse(text) as Record<string, string>)[plan.name],
          }),
        ),
    };
  }

  /**
   * Names stand alone in the state; a changed node is taken down before it is made anew, since both would have one
   * name.
   */
  private lab(
    name: string,
    command: { create: string; delete?: string; stdin: pulumi.Input<string>; triggers: string[] },
    dependsOn: pulumi.Resource[] = [],
    ignoreChanges: string[] = [],
  ): local.Command {
    return new local.Command(
      `local-${name}`,
      {
        create: `node lab/cli.ts ${command.create}`,
        ...(command.delete === undefined ? {} : { delete: `node lab/cli.ts ${command.delete}` }),
        stdin: command.stdin,
        triggers: command.triggers,
        logging: "stderr",
        addPreviousOutputInEnv: false,
      },
      { parent: this, dependsOn, ignoreChanges, deleteBeforeReplace: true },
    );
  }
}

/** As far as the configuration sets any. */
const limitsOf = ({ cpus, memoryMb }: LocalSite): { cpus?: number; memoryMb?: number } => ({
  ...(cpus === undefined ? {} : { cpus }),
  ...(memoryMb === undefined ? {} : { memoryMb }),
});
