/**
 * Who may reach a site's nodes: the operator by SSH, peers on the mesh's port, nobody else. With security groups that
 * are there already nothing is made.
 */
import * as aws from "@pulumi/aws";
import * as pulumi from "@pulumi/pulumi";
import type { AwsSite } from "../../config/sites/aws.ts";
import type { Site } from "../../config/sites/index.ts";
import type { AwsNetwork } from "./network.ts";
import type { Tags } from "./tags.ts";

export const ANYWHERE = "0.0.0.0/0";

/** A network from which the mesh's port is reached. `name` makes the rule's: it stays when others come and go. */
export interface MeshPeer {
  name: string;
  cidr: pulumi.Input<string>;
}

/**
 * Nodes of other AWS sites by their fixed addresses. Sites of other kinds, and private ones, by the networks that are
 * given for them; without any, and with such a site in the stack, by no address at all: a peer behind NAT calls from one
 * that nobody knows beforehand. WireGuard answers nobody who has no key, and so the open port says nothing to others.
 * Nobody can call a private site's nodes from outside.
 */
export function peersOfSite(
  site: AwsSite,
  sites: Site[],
  addresses: Map<string, Map<string, { publicIp: pulumi.Output<string> }>>,
): MeshPeer[] {
  if (site.private === true) return [];
  const others = sites.filter((s) => s.kind !== "aws" || s.private === true);
  const given = (site.peerCidrs ?? []).map((cidr): MeshPeer => ({ name: cidr.replace(/[./]/g, "-"), cidr }));
  if (others.length > 0 && given.length === 0) return [{ name: "anywhere", cidr: ANYWHERE }];
  const known = [...addresses]
    .filter(([name]) => name !== site.name)
    .flatMap(([, nodes]) => [...nodes])
    .map(([name, address]): MeshPeer => ({ name, cidr: pulumi.interpolate`${address.publicIp}/32` }));
  return [...known, ...given];
}

export interface SecurityArgs {
  operatorCidrs: string[];
  meshPort: number;
  meshPeers: MeshPeer[];
}

export class AwsSecurity extends pulumi.ComponentResource {
  readonly groupIds: pulumi.Input<string>[];
  /** Before these are there, nobody reaches a node. */
  readonly rules: pulumi.Resource[];

  constructor(
    site: AwsSite,
    network: AwsNetwork,
    { operatorCidrs, meshPort, meshPeers }: SecurityArgs,
    tags: Tags,
    opts?: pulumi.ComponentResourceOptions,
  ) {
    super("meshbench:sites:AwsSecurity", site.name, {}, opts);
    if (site.securityGroupIds !== undefined) {
      this.groupIds = site.securityGroupIds;
      this.rules = [];
      this.registerOutputs();
      return;
    }
    const own = { provider: network.opts.provider, parent: this };
    // Rules are resources of their own: the provider forbids to mix them with rules written into the group.
    const group = new aws.ec2.SecurityGroup(
      `${site.name}-nodes`,
      {
        vpcId: network.vpcId,
        description: "meshbench nodes",
        revokeRulesOnDelete: true,
        tags: { ...tags, Name: `${site.name}-nodes` },
      },
      own,
    );
    const securityGroupId = group.id;
    this.groupIds = [securityGroupId];
    const ingress = (
      name: string,
      rule: Omit<aws.vpc.SecurityGroupIngressRuleArgs, "securityGroupId" | "tags">,
    ): pulumi.Resource =>
      new aws.vpc.SecurityGroupIngressRule(
        `${site.name}-${name}`,
        { securityGroupId, ...rule, tags: { ...tags, Name: `${site.name}-${name}` } },
        own,
      );
    const ssh = { ipProtocol: "tcp", fromPort: 22, toPort: 22 };
    const mesh = { ipProtocol: "udp", fromPort: meshPort, toPort: meshPort };

    this.rules = [
      ...operatorCidrs.map((cidrIpv4) =>
        ingress(`ssh-${cidrIpv4.replace(/[./]/g, "-")}`, { ...ssh, cidrIpv4, description: "SSH of the operator" }),
      ),
      ingress("mesh-own", {
        ...mesh,
        referencedSecurityGroupId: securityGroupId,
        description: "WireGuard between nodes of this site",
      }),
      ...meshPeers.map(({ name, cidr }) =>
        ingress(`mesh-${name}`, { ...mesh, cidrIpv4: cidr, description: `WireGuard from ${name}` }),
      ),
      new aws.vpc.SecurityGroupEgressRule(
        `${site.name}-egress`,
        {
          securityGroupId,
          ipProtocol: "-1",
          cidrIpv4: ANYWHERE,
          description: "anything out",
          tags: { ...tags, Name: `${site.name}-egress` },
        },
        own,
      ),
    ];
    this.registerOutputs();
  }
}
