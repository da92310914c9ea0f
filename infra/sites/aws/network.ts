/**
 * One region's network: VPC, a public subnet per zone, the way out - made here or there already -, the nodes' fixed
 * addresses, the operator's key.
 */
import * as aws from "@pulumi/aws";
import * as pulumi from "@pulumi/pulumi";
import type { AwsSite } from "../../config/sites/aws.ts";
import type { AwsSettings } from "../../config/sites/aws-settings.ts";
import type { NodePlan } from "../../topology.ts";
import { zoneSubnet } from "./subnets.ts";
import type { Tags } from "./tags.ts";

interface Place {
  vpcId: pulumi.Input<string>;
  subnetIds: Map<string, pulumi.Input<string>>;
  ready: pulumi.Resource[];
  /** AWS gives out addresses of a VPC that has one. */
  gateway: pulumi.Resource[];
}

export class AwsNetwork extends pulumi.ComponentResource {
  /** For every resource and look-up in this region. */
  readonly opts: { provider: aws.Provider; parent: pulumi.Resource };
  readonly vpcId: pulumi.Input<string>;
  /** By the letter of the zone. */
  readonly subnetIds: Map<string, pulumi.Input<string>>;
  /**
   * By the node's name; of a private site none. They outlive an instance, so that the mesh and the operator find its
   * successor where it was.
   */
  readonly addresses: Map<string, aws.ec2.Eip>;
  readonly keyPair: aws.ec2.KeyPair;
  readonly placementGroup: aws.ec2.PlacementGroup | undefined;
  /** Nothing reaches a node before the route is there. */
  readonly ready: pulumi.Resource[];

  /** `network`: of the VPC, where one is made. */
  constructor(
    site: AwsSite,
    network: string,
    plans: NodePlan[],
    publicKey: pulumi.Input<string>,
    provider: Omit<AwsSettings, "assumeRole">,
    tags: Tags,
    opts?: pulumi.ComponentResourceOptions,
  ) {
    super("meshbench:sites:AwsNetwork", site.name, {}, opts);
    const named = (name: string): Tags => ({ ...tags, Name: name });
    const own = new aws.Provider(`${site.name}-aws`, provider as aws.ProviderArgs, { parent: this });
    this.opts = { provider: own, parent: this };

    const { vpcId, subnetIds, ready, gateway }: Place =
      site.vpcId === undefined
        ? this.made(site, network, named)
        : { vpcId: site.vpcId, subnetIds: new Map(Object.entries(site.subnetIds!)), ready: [], gateway: [] };
    this.vpcId = vpcId;
    this.subnetIds = subnetIds;
    this.ready = ready;

    this.addresses = new Map(
      (site.private === true ? [] : plans).map((plan) => [
        plan.name,
        new aws.ec2.Eip(
          `${plan.name}-address`,
          { domain: "vpc", tags: named(plan.name) },
          { ...this.opts, dependsOn: gateway },
        ),
      ]),
    );
    this.keyPair = new aws.ec2.KeyPair(`${site.name}-key`, { publicKey, tags: named(`${site.name}-key`) }, this.opts);
    this.placementGroup = site.placementGroup
      ? new aws.ec2.PlacementGroup(
          `${site.name}-group`,
          { strategy: "cluster", tags: named(`${site.name}-group`) },
          this.opts,
        )
      : undefined;
    this.registerOutputs();
  }

  private made(site: AwsSite, network: string, named: (name: string) => Tags): Place {
    const vpc = new aws.ec2.Vpc(
      `${site.name}-vpc`,
      { cidrBlock: network, enableDnsSupport: true, enableDnsHostnames: true, tags: named(`${site.name}-vpc`) },
      this.opts,
    );
    const gateway = new aws.ec2.InternetGateway(
      `${site.name}-gateway`,
      { vpcId: vpc.id, tags: named(`${site.name}-gateway`) },
      this.opts,
    );
    const routes = new aws.ec2.RouteTable(
      `${site.name}-routes`,
      { vpcId: vpc.id, tags: named(`${site.name}-routes`) },
      this.opts,
    );
    const out = new aws.ec2.Route(
      `${site.name}-out`,
      { routeTableId: routes.id, destinationCidrBlock: "0.0.0.0/0", gatewayId: gateway.id },
      this.opts,
    );

    const subnets = new Map(
      site.zones.map((zone) => [
        zone,
        new aws.ec2.Subnet(
          `${site.name}-${zone}`,
          {
            vpcId: vpc.id,
            cidrBlock: zoneSubnet(network, zone),
            availabilityZone: `${site.region}${zone}`,
            // A node has to reach its package sources before its own address is attached.
            mapPublicIpOnLaunch: true,
            tags: named(`${site.name}-${zone}`),
          },
          this.opts,
        ),
      ]),
    );
    const associations = [...subnets].map(
      ([zone, subnet]) =>
        new aws.ec2.RouteTableAssociation(
          `${site.name}-${zone}-routes`,
          { subnetId: subnet.id, routeTableId: routes.id },
          this.opts,
        ),
    );
    return {
      vpcId: vpc.id,
      subnetIds: new Map([...subnets].map(([zone, subnet]) => [zone, subnet.id])),
      ready: [out, ...associations],
      gateway: [gateway],
    };
  }
}
