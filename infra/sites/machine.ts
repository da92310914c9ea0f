/** What a stack's machines have in common. Pure. */
import type { Config } from "../config/schema.ts";
import type { NodePlan } from "../topology.ts";
import { kindOf } from "./kinds/index.ts";

/** All drivers stand in one site and have one type there. */
export function cpuOfDrivers(config: Pick<Config, "sites">, plans: NodePlan[]): "x64" | "arm64" {
  const driver = plans.find((plan) => plan.roles.includes("driver"))!;
  const site = config.sites.find((one) => one.name === driver.site)!;
  return kindOf(site).cpu(site, driver.roles);
}
