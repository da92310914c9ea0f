/** One node in AWS: an instance, its fixed address, its host key, and the wait until it can be used. */
import * as aws from "@pulumi/aws";
import * as pulumi from "@pulumi/pulumi";
import type { AwsSite } from "../../config/sites/aws.ts";
import { architectureOf, isBurstable } from "../../config/sites/aws-check.ts";
import { releaseOf } from "../../config/sites/common.ts";
import { operatorKey } from "../../identity/identity.ts";
import type { Node } from "../../node.ts";
import type { NodePlan } from "../../topology.ts";
import { cloudInit } from "../cloud-init.ts";
import type { SiteContext } from "../context.ts";
import { grownDisks } from "../disk-growth.ts";
import { guard } from "../guard.ts";
import { DIAL, type Reach } from "../reached.ts";
import { ready } from "../ready.ts";
import type { AwsNetwork } from "./network.ts";
import type { AwsSecurity } from "./security.ts";
import type { Tags } from "./tags.ts";
import { typeOf } from "./types.ts";

export interface InstanceArgs {
  site: AwsSite;
  /** How the site is called in messages: meshbench:sites[0]. */
  key: string;
  network: AwsNetwork;
  security: AwsSecurity;
  image: pulumi.Input<string>;
  zone: string;
  tags: Tags;
  context: SiteContext;
  /** The site's jump host. */
  proxy: Reach["proxy"];
  /** The cluster has no other database node: a stop hurts nobody else. */
  alone: boolean;
  /** The engine's, for database nodes; empty where a node that has booted is back. */
  rejoined: string;
  /** Database nodes that have to be in service first. */
  after: pulumi.Resource[];
}

/**
 * As EC2 gives it back, with six decimals. The provider compares both texts without their trailing zeros, so that "1"
 * would differ from "1.000000" at every run, and the field makes the instance anew.
 */
export const spotPrice = (usdPerHour: number): string => usdPerHour.toFixed(6);

/** What of a looked-up image must not change by itself; words of the first release are those of stacks that stand. */
const imageFamily = (site: AwsSite): string => (releaseOf(site) === 12 ? "Debian's" : `Debian's of ${releaseOf(site)}`);

/** What of the network must not change under a database node. */
const networkName = (site: AwsSite, zone: string): string =>
  site.vpcId === undefined
    ? (site.network ?? "default")
    : `${site.vpcId} ${site.subnetIds![zone]}${site.private === true ? " private" : ""}`;

/** Debian's images for EC2 have this login. */
const USER = "admin";

export class AwsInstance extends pulumi.ComponentResource {
  readonly node: Node;
  readonly ready: pulumi.Resource;

  constructor(plan: NodePlan, args: InstanceArgs, opts?: pulumi.ComponentResourceOptions) {
    super("meshbench:sites:AwsInstance", plan.name, {}, opts);
    const { site, network } = args;
    const type = typeOf(site, plan.roles);
    /*
     * The host key is made by the operator's side and handed over in user data, so that the very first connection is to
     * a known key. The other ways are worse: the console log shows a key made on the node only after minutes and not at
     * all on some types, and trusting the first answer trusts whoever answers. What user data costs: who may read
     * instance attributes in the account, or is root on the node, can read the key. Others on the node cannot be had to
     * fetch it from outside: IMDSv2 is required, with a hop limit of one.
     */
    const hostKey = operatorKey(`${plan.name}-host-key`, plan.name, { parent: this });
    const userData = pulumi
      .all([args.context.key.publicKey, hostKey.privateKey, hostKey.publicKey])
      .apply(([operator, secret, known]) =>
        cloudInit({
          user: USER,
          authorizedKeys: [operator],
          hostname: plan.name,
          hostKey: { private: secret, public: known },
        }),
      );

    const kept = plan.roles.includes("database") ? [this.guarded(plan, args, type)] : [];
    const instance = this.instance(plan, args, type, userData, [
      ...network.ready,
      ...args.security.rules,
      ...kept,
      ...args.after,
    ]);
    const address = this.address(plan.name, network, instance);

    const connection = pulumi.secret(
      pulumi
        .all([address, args.context.key.privateKey, hostKey.publicKey, instance.id, args.proxy])
        .apply(([host, privateKey, known, id, proxy]) => ({
          host,
          port: 22,
          user: USER,
          privateKey,
          // The comment of a key means nothing to SSH. With the instance in it, a new instance behind the old address
          // and key is a changed connection, which runs every step on it again.
          hostKey: `${known.split(" ").slice(0, 2).join(" ")} ${id}`,
          ...DIAL,
          ...(proxy === undefined ? {} : { proxy }),
        })),
    );
    const waited = ready(
      plan.name,
      {
        connection,
        sudo: true,
        timeoutSeconds: site.readyTimeoutSeconds,
        rejoined: plan.roles.includes("database") ? args.rejoined : "",
        triggers: [instance.id, type],
      },
      { parent: this, deletedWith: instance },
    );
    this.ready = waited.resource;
    const node: Node = {
      ...plan,
      lanAddress: instance.privateIp,
      publicAddress: address,
      behindNat: site.private === true,
      connection: waited.connection,
      sudo: true,
      resource: instance,
      facts: pulumi.all([waited.facts, instance.ami]).apply(
        ([seen, ami]): Record<string, unknown> => ({
          kind: "EC2 instance",
          instanceType: type,
          ami,
          region: site.region,
          zone: args.zone,
          disk: { type: "gp3", ...site.disk },
          ...(isBurstable(type) ? { cpuCredits: site.credits } : {}),
          spot: site.spot !== false,
          placementGroup: site.placementGroup,
          ...seen,
        }),
      ),
    };
    this.node = {
      ...node,
      settled: grownDisks(node, [{ mount: "/", sizeGb: site.disk.sizeGb }], { parent: this }),
    };
    this.registerOutputs();
  }

  /** Where SSH goes, and other sites: the fixed address, or in a private site the one inside the VPC. */
  private address(name: string, network: AwsNetwork, instance: aws.ec2.Instance): pulumi.Output<string> {
    const fixed = network.addresses.get(name);
    if (fixed === undefined) return instance.privateIp;
    return new aws.ec2.EipAssociation(
      `${name}-address`,
      { allocationId: fixed.id, instanceId: instance.id },
      { parent: this, provider: network.opts.provider, deleteBeforeReplace: true },
    ).publicIp;
  }

  private instance(
    plan: NodePlan,
    { site, network, security, image, zone, tags }: InstanceArgs,
    type: string,
    userData: pulumi.Output<string>,
    dependsOn: pulumi.Resource[],
  ): aws.ec2.Instance {
    const named = { ...tags, Name: plan.name };
    return new aws.ec2.Instance(
      plan.name,
      {
        ami: image,
        instanceType: type,
        subnetId: network.subnetIds.get(zone)!,
        vpcSecurityGroupIds: security.groupIds,
        // Whatever the subnet gives by itself.
        ...(site.private === true ? { associatePublicIpAddress: false } : {}),
        keyName: network.keyPair.keyName,
        userData: pulumi.secret(userData),
        metadataOptions: { httpEndpoint: "enabled", httpTokens: "required", httpPutResponseHopLimit: 1 },
        rootBlockDevice: {
          volumeType: "gp3",
          volumeSize: site.disk.sizeGb,
          iops: site.disk.iops,
          throughput: site.disk.throughputMiBs,
          encrypted: true,
          deleteOnTermination: true,
        },
        // Not the block device's own tags, which the provider sets once the volume is there: where a policy of the
        // account denies untagged volumes, they have to be in the call that makes them.
        volumeTags: named,
        ...(isBurstable(type) ? { creditSpecification: { cpuCredits: site.credits } } : {}),
        ...(network.placementGroup === undefined ? {} : { placementGroup: network.placementGroup.name }),
        ...(site.spot === false
          ? {}
          : {
              instanceMarketOptions: {
                marketType: "spot",
                spotOptions: {
                  spotInstanceType: "one-time",
                  instanceInterruptionBehavior: "terminate",
                  ...(site.spot === true ? {} : { maxPrice: spotPrice(site.spot.maxPrice) }),
                },
              },
            }),
        tags: named,
      },
      {
        parent: this,
        provider: network.opts.provider,
        dependsOn,
        // User data counts at the first boot only, and changing it would stop the instance; an image that is looked up
        // drifts.
        ignoreChanges: ["userData", ...(site.ami === undefined ? ["ami"] : [])],
        // A type with another processor, and another release, need another image, whose change is ignored above.
        replacementTrigger:
          site.debian === 13 && site.ami === undefined ? `${architectureOf(type)} Debian 13` : architectureOf(type),
        // The provider would stop it for another type, and a one-time spot instance cannot be stopped.
        ...(site.spot === false ? {} : { replaceOnChanges: ["instanceType"] }),
        deleteBeforeReplace: true,
      },
    );
  }

  private guarded(plan: NodePlan, { site, key, zone, alone }: InstanceArgs, type: string): pulumi.Resource {
    return guard(
      plan.name,
      {
        replaced: {
          zone: `${site.region}${zone}`,
          network: networkName(site, zone),
          image: site.ami ?? imageFamily(site),
          spot: JSON.stringify(site.spot),
          placementGroup: String(site.placementGroup),
          architecture: architectureOf(type),
          ...(site.spot === false ? {} : { instanceType: type }),
        },
        restarted: site.spot === false ? { instanceType: type } : {},
        grown: { "disk.sizeGb": site.disk.sizeGb },
        mayReplace: site.replaceNodes,
        mayRestart: site.rolling || alone,
        replaceKey: `${key}.replaceNodes to true`,
        restartKey: `${key}.rolling to true`,
      },
      { parent: this },
    );
  }
}
