/** Whether the sites can form one mesh: networks that do not overlap, and somebody in every pair who can be called. */
import { unreachablePairs } from "../../mesh/plan.ts";
import { networkOf, overlap, parseCidr } from "../addresses.ts";
import type { Config } from "../schema.ts";
import type { Site } from "./index.ts";

/** The networks that a site's nodes stand in, as far as the configuration says; "a.b.c.d/n". */
export function siteNetworks(site: Site): string[] {
  // Kinds differ in what their network is called.
  const given = site as { network?: unknown; address?: unknown };
  return [given.network, given.address].filter((v): v is string => typeof v === "string" && parseCidr(v) !== undefined);
}

/** One sentence per problem. */
export function checkReach(config: Pick<Config, "sites" | "mesh">): string[] {
  const problems: string[] = [];
  const networks = config.sites.flatMap((site, i) =>
    siteNetworks(site).map((text) => ({
      site,
      key: `meshbench:sites[${i}]`,
      text,
      range: networkOf(parseCidr(text)!),
    })),
  );
  const mesh = networkOf(parseCidr(config.mesh.network)!);
  for (const [i, one] of networks.entries()) {
    if (overlap(one.range, mesh))
      problems.push(
        `meshbench:mesh.network: ${config.mesh.network}, which overlaps ${one.text} of ${one.key}; expected another /24`,
      );
    for (const other of networks.slice(0, i)) {
      if (overlap(one.range, other.range) && !sameLan(one.site, other.site))
        problems.push(
          `${other.key}: ${other.text}, which overlaps ${one.text} of ${one.key}; expected a network of its own for each site`,
        );
    }
  }
  const hidden = config.sites
    .filter((s) => s.kind !== "local")
    .map((s) => ({ name: s.name, behindNat: s.kind === "aws" ? s.private === true : "nat" in s && s.nat }));
  const local = config.sites.filter((s) => s.kind === "local").map((s) => ({ name: s.name, behindNat: s.nat }));
  const isAws = (name: string): boolean => config.sites.some((s) => s.name === name && s.kind === "aws");
  for (const [a, b] of unreachablePairs([...hidden, ...local])) {
    const off = [...new Set([a, b].map((name) => (isAws(name) ? "private false" : "nat false")))].sort().join(" or ");
    problems.push(
      `sites "${a}" and "${b}" are both behind NAT: neither can call the other; one of them needs ${off} and an address that the other reaches`,
    );
  }
  return problems;
}

/** Two hypervisors of one Proxmox cluster may share a network: their guests have different addresses in it. */
const sameLan = (a: Site, b: Site): boolean =>
  a.kind === "proxmox" && b.kind === "proxmox" && a.endpoint !== undefined && a.endpoint === b.endpoint;
