/** One region's network: VPC, a public subnet per zone, the way out, the nodes' fixed addresses, the operator's key. */
import * as aws from "@pulumi/aws";
import * as pulumi from "@pulumi/pulumi";
import type { AwsSite } from "../config/aws.ts";
import type { AwsSettings } from "../config/aws-settings.ts";
import type { NodePlan } from "../topology.ts";
import { zoneSubnet } from "./aws-subnets.ts";
import type { Tags } from "./aws-tags.ts";

export class AwsNetwork extends pulumi.ComponentResource {
  /** For every resource and look-up in this region. */
  readonly opts: { provider: aws.Provider; parent: pulumi.Resource };
  readonly vpc: aws.ec2.Vpc;
  /** By the letter of the zone. */
  readonly subnets: Map<string, aws.ec2.Subnet>;
  /**
   * By the node's name. They outlive an instance, so that the mesh and the operator find its successor where it was.
   */
  readonly addresses: Map<string, aws.ec2.Eip>;
  readonly keyPair: aws.ec2.KeyPair;
  readonly placementGroup: aws.ec2.PlacementGroup | undefined;
  /** Nothing reaches a node before the route is there. */
  readonly ready: pulumi.Resource[];

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

    this.vpc = new aws.ec2.Vpc(
      `${site.name}-vpc`,
      { cidrBlock: network, enableDnsSupport: true, enableDnsHostnames: true, tags: named(`${site.name}-vpc`) },
      this.opts,
    );
    const gateway = new aws.ec2.InternetGateway(
      `${site.name}-gateway`,
      { vpcId: this.vpc.id, tags: named(`${site.name}-gateway`) },
      this.opts,
    );
    const routes = new aws.ec2.RouteTable(
      `${site.name}-routes`,
      { vpcId: this.vpc.id, tags: named(`${site.name}-routes`) },
      this.opts,
    );
    const out = new aws.ec2.Route(
      `${site.name}-out`,
      { routeTableId: routes.id, destinationCidrBlock: "0.0.0.0/0", gatewayId: gateway.id },
      this.opts,
    );

    this.subnets = new Map(
      site.zones.map((zone) => [
        zone,
        new aws.ec2.Subnet(
          `${site.name}-${zone}`,
          {
            vpcId: this.vpc.id,
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
    const associations = [...this.subnets].map(
      ([zone, subnet]) =>
        new aws.ec2.RouteTableAssociation(
          `${site.name}-${zone}-routes`,
          { subnetId: subnet.id, routeTableId: routes.id },
          this.opts,
        ),
    );
    this.ready = [out, ...associations];

    this.addresses = new Map(
      plans.map((plan) => [
        plan.name,
        new aws.ec2.Eip(
          `${plan.name}-address`,
          { domain: "vpc", tags: named(plan.name) },
          { ...this.opts, dependsOn: [gateway] },
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
}
