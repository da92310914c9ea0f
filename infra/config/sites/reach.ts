/** Whether the sites can form one mesh: networks that do not overlap, and somebody in every pair who can be called. */
import { unreachablePairs } from "../../mesh/plan.ts";
import { kindOf } from "../../sites/kinds/index.ts";
import { networkOf, overlap, parseCidr } from "../addresses.ts";
import { missing, type Problem } from "../problem.ts";
import type { Config } from "../schema.ts";
import type { Site } from "./index.ts";

/** One sentence per problem. `slots`: of the sites in the mesh, by name. */
export function checkReach(config: Pick<Config, "sites" | "mesh">, slots: Record<string, number>): Problem[] {
  return [...overlaps(config, slots), ...unreachable(config.sites)];
}

function overlaps({ sites, mesh }: Pick<Config, "sites" | "mesh">, slots: Record<string, number>): Problem[] {
  const problems: Problem[] = [];
  const networks = sites.flatMap((site, i) =>
    kindOf(site)
      .networks(site, slots[site.name]!)
      .map((network) => ({
        ...network,
        site,
        key: `meshbench:sites[${i}]`,
        range: networkOf(parseCidr(network.text)!),
      })),
  );
  const ofMesh = networkOf(parseCidr(mesh.network)!);
  for (const [i, one] of networks.entries()) {
    if (overlap(one.range, ofMesh))
      problems.push(
        one.implied
          ? ofDefault(one, { text: mesh.network, key: "meshbench:mesh.network" })
          : `meshbench:mesh.network: ${mesh.network}, which overlaps ${one.text} of ${one.key}; expected another /24`,
      );
    for (const other of networks.slice(0, i)) {
      if (!overlap(one.range, other.range) || shareNetwork(one.site, other.site)) continue;
      // Two defaults are two slots, and never overlap.
      if (one.implied) problems.push(ofDefault(one, other));
      else if (other.implied) problems.push(ofDefault(other, one));
      else
        problems.push(
          `${other.key}: ${other.text}, which overlaps ${one.text} of ${one.key}; expected a network of its own for each site`,
        );
    }
  }
  return problems;
}

const ofDefault = (own: { key: string; text: string }, other: { key: string; text: string }): Problem =>
  missing(
    `${own.key}.network`,
    "another, such as 172.20.0.0/16",
    `its default ${own.text} overlaps ${other.text} of ${other.key}`,
  );

const shareNetwork = (one: Site, other: Site): boolean =>
  one.kind === other.kind && kindOf(one).shareNetwork(one, other);

function unreachable(sites: Site[]): Problem[] {
  const keyOf = (name: string): string => kindOf(sites.find((s) => s.name === name)!).natKey;
  const pairs = unreachablePairs(sites.map((site) => ({ name: site.name, behindNat: kindOf(site).behindNat(site) })));
  return pairs.map(([a, b]) => {
    const off = [...new Set([a, b].map((name) => `${keyOf(name)} false`))].sort().join(" or ");
    return `sites "${a}" and "${b}" are both behind NAT: neither can call the other; one of them needs ${off} and an address that the other reaches`;
  });
}
