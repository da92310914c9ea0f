/** Sites in AWS regions: a network each, nodes with fixed addresses, and who may reach what. */
import * as aws from "@pulumi/aws";
import * as pulumi from "@pulumi/pulumi";
import type { Config } from "../../config/schema.ts";
import type { AwsSite } from "../../config/sites/aws.ts";
import { type Architecture, architectureOf } from "../../config/sites/aws-check.ts";
import { type DebianRelease, releaseOf } from "../../config/sites/common.ts";
import { engineOf } from "../../databases/index.ts";
import { meshSlots } from "../../mesh/plan.ts";
import type { Node } from "../../node.ts";
import type { NodePlan } from "../../topology.ts";
import type { SiteContext } from "../context.ts";
import { jumpConnection } from "../keys.ts";
import { providerSettings } from "./access.ts";
import { DEBIAN_OWNER, debianName } from "./image.ts";
import { AwsInstance } from "./instance.ts";
import { AwsNetwork } from "./network.ts";
import { AwsSecurity, peersOfSite } from "./security.ts";
import { vpcNetwork, zoneOf } from "./subnets.ts";
import type { Tags } from "./tags.ts";
import { typeOf } from "./types.ts";

/**
 * All AWS sites of a stack: each region has its own provider, and the port of the mesh is open to the addresses of the
 * others.
 */
export class AwsSites extends pulumi.ComponentResource {
  readonly nodes: Node[];
  /** Of the database nodes of all sites so far; grows. With `rolling` each waits for the one before. */
  private readonly before: pulumi.Resource[];

  constructor(
    sites: AwsSite[],
    plans: NodePlan[],
    config: Config,
    context: SiteContext,
    before: pulumi.Resource[],
    opts?: pulumi.ComponentResourceOptions,
  ) {
    super("meshbench:sites:Aws", "aws", {}, opts);
    this.before = before;
    const parent = { parent: this };
    const slots = meshSlots(config.sites);
    const tagsOf = (site: string): Tags => ({
      ...context.labels,
      site,
      ...(config.runId === undefined ? {} : { run: config.runId }),
    });
    const plansAt = (site: string): NodePlan[] => plans.filter((p) => p.site === site);

    const networks = new Map(
      sites.map((site) => [
        site.name,
        new AwsNetwork(
          site,
          vpcNetwork(site, slots[site.name]!),
          plansAt(site.name),
          context.key.publicKey,
          providerSettings(site, config.aws, context.accounts?.[site.name]),
          tagsOf(site.name),
          parent,
        ),
      ]),
    );
    const addresses = new Map([...networks].map(([name, network]) => [name, network.addresses]));
    this.nodes = sites.flatMap((site) => {
      const network = networks.get(site.name)!;
      const security = new AwsSecurity(
        site,
        network,
        {
          operatorCidrs: site.operatorCidr ?? config.operatorCidr ?? [],
          meshPort: config.mesh.port,
          meshPeers: peersOfSite(site, config.sites, addresses),
        },
        tagsOf(site.name),
        parent,
      );
      return this.instances(site, plansAt(site.name), network, security, config, context, tagsOf(site.name));
    });
    this.registerOutputs();
  }

  private instances(
    site: AwsSite,
    plans: NodePlan[],
    network: AwsNetwork,
    security: AwsSecurity,
    config: Config,
    context: SiteContext,
    tags: Tags,
  ): Node[] {
    const images = new Map<Architecture, pulumi.Input<string>>();
    const imageFor = (architecture: Architecture): pulumi.Input<string> => {
      const image = site.ami ?? images.get(architecture) ?? debianImage(releaseOf(site), architecture, network.opts);
      images.set(architecture, image);
      return image;
    };
    const alone = config.sites.reduce((sum, s) => sum + s.nodes, 0) === 1;
    const key = `meshbench:sites[${config.sites.findIndex((s) => s.name === site.name)}]`;
    const proxy = jumpConnection(site.jump, key);
    const databases = plans.filter((p) => p.roles.includes("database"));
    return plans.map((plan) => {
      const index = databases.indexOf(plan);
      const before = site.rolling && index !== -1 ? this.before.slice(-1) : [];
      const instance = new AwsInstance(
        plan,
        {
          site,
          key,
          network,
          security,
          image: imageFor(architectureOf(typeOf(site, plan.roles))),
          tags,
          context,
          proxy,
          alone,
          rejoined: engineOf(config.database).rejoined ?? "",
          zone: zoneOf(site.zones, index === -1 ? undefined : index),
          after: before,
        },
        { parent: this },
      );
      if (index !== -1) this.before.push(instance.ready);
      return instance.node;
    });
  }
}

/**
 * Debian's own account and names. The newest one changes from week to week: instances keep the one that they were made
 * from.
 */
function debianImage(
  release: DebianRelease,
  architecture: Architecture,
  opts: pulumi.InvokeOptions,
): pulumi.Output<string> {
  return aws.ec2.getAmiOutput(
    {
      mostRecent: true,
      owners: [DEBIAN_OWNER],
      filters: [
        { name: "name", values: [debianName(release, architecture)] },
        { name: "architecture", values: [architecture] },
        { name: "virtualization-type", values: ["hvm"] },
      ],
    },
    opts,
  ).id;
}
