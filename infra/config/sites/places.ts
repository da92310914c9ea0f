/** What each kind of site, and all of them together, must be told before anything can be created. */

import { driverSite, homeSite } from "../../topology.ts";
import { neededDiskGb } from "../data-size.ts";
import type { Config } from "../schema.ts";
import { checkProxmoxSite, type ProxmoxSite, profileOf } from "./proxmox.ts";
import { checkReach } from "./reach.ts";
import { checkSshSite } from "./ssh.ts";

/** One sentence per problem. */
export function checkPlaces(config: Config): string[] {
  const problems = config.sites.flatMap((site, i) => {
    const key = `meshbench:sites[${i}]`;
    if (site.kind === "proxmox") return [...checkProxmoxSite(site, key, config), ...checkDisks(site, key, config)];
    if (site.kind === "ssh") return checkSshSite(site, key, nodesAt(config, site.name));
    return [];
  });
  // The same missing token is one problem, however many sites need it.
  return [...new Set(problems), ...checkReach(config)];
}

/** Database nodes of a site, and the nodes of their own that proxy and drivers have there. */
function nodesAt(config: Config, name: string): number {
  const proxyAt = config.proxy.site ?? homeSite(config);
  const ownProxy = config.proxy.kind !== "none" && config.proxy.placement === "own" && proxyAt === name;
  const ownDrivers = config.driver.placement === "own" && driverSite(config) === name ? config.driver.nodes : 0;
  return (config.sites.find((s) => s.name === name)?.nodes ?? 0) + Number(ownProxy) + ownDrivers;
}

function checkDisks(site: ProxmoxSite, key: string, config: Config): string[] {
  const problems: string[] = [];
  const rows = config.profile.data.tables * config.profile.data.tableSize;
  const onRoot = Array.from({ length: site.nodes }, (_, i) => profileOf(site, i)?.profile.sizeGb).some(
    (gb) => gb === undefined,
  );
  const needed = neededDiskGb(config, true);
  if (site.nodes > 0 && onRoot && site.diskGb < needed)
    problems.push(
      `${key}.diskGb: ${site.diskGb}; expected at least ${needed} for the ${rows} rows of meshbench:profile (twice the data, and the system)`,
    );
  for (const [name, profile] of Object.entries(site.profiles)) {
    const least = neededDiskGb(config, false);
    if (profile.sizeGb !== undefined && profile.sizeGb < least)
      problems.push(
        `${key}.profiles.${name}.sizeGb: ${profile.sizeGb}; expected at least ${least} for the ${rows} rows of meshbench:profile`,
      );
  }
  return problems;
}
