/**
 * What a node is made of, in a few words: part of a run's identity, since another machine is another measurement. Pure.
 */

import type { Config } from "../config/schema.ts";
import { isArm } from "../config/sites/aws-check.ts";
import type { Site } from "../config/sites/index.ts";
import type { NodePlan, Role } from "../topology.ts";
import { typeOf } from "./aws/types.ts";

/** Undefined for sites whose configuration says nothing about it. */
export function machineOf(site: Site, roles: Role[]): string | undefined {
  if (site.kind === "aws") {
    const { sizeGb, iops, throughputMiBs } = site.disk;
    return `${typeOf(site, roles)}${site.spot === false ? "" : " (spot)"}, gp3 ${sizeGb} GB, ${iops} IOPS, ${throughputMiBs} MiB/s`;
  }
  if (site.kind === "proxmox") {
    const storage = site.storage === undefined ? site.datastore : [site.storage].flat().join(", ");
    return `${site.guest}, ${site.cores} cores, ${site.memoryMb} MB, ${site.diskGb} GB on ${storage}`;
  }
  if (site.kind === "ssh" && site.note !== "") return site.note;
  return undefined;
}

/** All drivers stand in one site and have one type there. Only AWS has types with another processor than x86-64. */
export function cpuOfDrivers(config: Pick<Config, "sites">, plans: NodePlan[]): "x64" | "arm64" {
  const driver = plans.find((plan) => plan.roles.includes("driver"));
  const site = config.sites.find((one) => one.name === driver?.site);
  return site?.kind === "aws" && isArm(typeOf(site, driver!.roles)) ? "arm64" : "x64";
}
