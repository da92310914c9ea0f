/** EC2 instances in a region. */
import type { AwsSite } from "../../config/sites/aws.ts";
import { checkAwsSite, isArm } from "../../config/sites/aws-check.ts";
import { awsPrices } from "../../cost/aws.ts";
import { vpcNetwork } from "../aws/subnets.ts";
import { typeOf } from "../aws/types.ts";
import { type SiteKind, withRelease } from "./kind.ts";

export const aws: SiteKind<AwsSite> = {
  machineName: "EC2 instance",
  sharesMachine: false,
  emulatesLinks: false,
  complete: withRelease,
  check: checkAwsSite,
  /** What a VPC that is there already has is known to AWS alone, and compared when it is asked. */
  networks: (site, slot) =>
    site.network === undefined && site.vpcId !== undefined
      ? []
      : [{ text: vpcNetwork(site, slot), implied: site.network === undefined }],
  shareNetwork: () => false,
  behindNat: (site) => site.private === true,
  natKey: "private",
  machine(site, roles) {
    const { sizeGb, iops, throughputMiBs } = site.disk;
    return `${typeOf(site, roles)}${site.spot === false ? "" : " (spot)"}, gp3 ${sizeGb} GB, ${iops} IOPS, ${throughputMiBs} MiB/s`;
  },
  cpu: (site, roles) => (isArm(typeOf(site, roles)) ? "arm64" : "x64"),
  prices: awsPrices,
  exclusive: () => [],
  /** An assumption, since none was measured: ten minutes for nodes and packages. */
  standUpSeconds: 600,
  preflight: async () => (await import("../../preflight/aws.ts")).checkAwsSites,
  load: async () => {
    const { AwsSites } = await import("../aws/sites.ts");
    return ({ sites, plans, config, context, before }, opts) => {
      return new AwsSites(
        sites.map(({ site }) => site),
        plans,
        config,
        context,
        before,
        opts,
      ).nodes;
    };
  },
};
