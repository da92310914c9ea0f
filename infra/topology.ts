/** Configuration -> which nodes there are, where they stand, what they do and which mesh address each has. Pure. */
import type { Config } from "./config/schema.ts";
import type { Site } from "./config/sites/index.ts";
import { meshAddress, meshSlots } from "./mesh/plan.ts";

export type Role = "database" | "proxy" | "driver";

export interface NodePlan {
  /** Unique in the stack and stable: editing one site never renames another's nodes. */
  name: string;
  site: string;
  roles: Role[];
  /** Address in the mesh, without prefix length. */
  meshAddress: string;
  segment: number;
}

/** Host numbers in a site's sixteen addresses: database nodes from 1 up, further drivers from 12 down, then these. */
export const DATABASE_HOSTS = 12;
const PROXY_HOST = 13;
const DRIVER_HOST = 14;

/** The site that a proxy or driver stands in unless the configuration names one. */
export function homeSite(config: Config): string {
  return (config.sites.find((s) => s.nodes > 0) ?? config.sites[0]!).name;
}

/** The site of the drivers' own nodes. */
export const driverSite = (config: Config): string => config.driver.site ?? config.proxy.site ?? homeSite(config);

/** Database nodes of a site, and the nodes of their own that proxy and drivers have there. */
export function nodesAt(config: Config, name: string): number {
  const proxyAt = config.proxy.site ?? homeSite(config);
  const ownProxy = config.proxy.kind !== "none" && config.proxy.placement === "own" && proxyAt === name;
  const ownDrivers = config.driver.placement === "own" && driverSite(config) === name ? config.driver.nodes : 0;
  return (config.sites.find((s) => s.name === name)?.nodes ?? 0) + Number(ownProxy) + ownDrivers;
}

export function planNodes(config: Config): NodePlan[] {
  const slots = meshSlots(config.sites);
  const at = (site: Site, name: string, host: number, roles: Role[]): NodePlan => ({
    name,
    site: site.name,
    roles,
    meshAddress: meshAddress(config.mesh.network, slots[site.name]!, host),
    segment: site.segment,
  });
  const nodes = config.sites.flatMap((site) =>
    Array.from({ length: site.nodes }, (_, i) => at(site, `${site.name}-${i + 1}`, i + 1, ["database"])),
  );

  const { proxy, driver } = config;
  const proxySite = proxy.site ?? homeSite(config);
  const siteOf = (name: string): Site => config.sites.find((s) => s.name === name)!;
  if (proxy.kind !== "none") {
    if (proxy.placement === "own") nodes.push(at(siteOf(proxySite), "proxy", PROXY_HOST, ["proxy"]));
    if (proxy.placement === "database")
      nodes.find((n) => n.site === proxySite && n.roles.includes("database"))!.roles.push("proxy");
  }
  if (driver.placement === "own") {
    const site = siteOf(driverSite(config));
    nodes.push(
      at(
        site,
        "driver",
        DRIVER_HOST,
        proxy.kind !== "none" && proxy.placement === "driver" ? ["driver", "proxy"] : ["driver"],
      ),
    );
    for (let n = 2; n <= driver.nodes; n++) nodes.push(at(site, `driver-${n}`, DATABASE_HOSTS + 2 - n, ["driver"]));
  } else nodes.find((n) => n.roles.includes("proxy"))!.roles.push("driver");
  return nodes;
}

export const withRole = <T extends { roles: Role[] }>(nodes: T[], role: Role): T[] =>
  nodes.filter((n) => n.roles.includes(role));
