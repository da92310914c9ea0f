/** Seen on the nodes themselves: where a cloud's machine should be, a container of this machine says what it is. */
import type { Site } from "../config/sites/index.ts";
import { kindOf } from "./kinds/index.ts";

/** systemd-detect-virt's word, as each kind of site passes it on. */
const virtualization = (facts: Record<string, unknown>): unknown =>
  facts["virtualization"] ?? (facts["seen"] as Record<string, unknown> | undefined)?.["virtualization"];

export function standInNodes(
  sites: Site[],
  nodes: { name: string; site: string; facts: Record<string, unknown> }[],
): string[] {
  return sites.flatMap((site) => {
    const machine = kindOf(site).machineName;
    const contained = nodes.filter(
      (node) => node.site === site.name && virtualization(node.facts) === "systemd-nspawn",
    );
    if (machine === null || contained.length === 0) return [];
    return [
      `a local node stands in for each ${machine} of ${site.name} (${contained.map((node) => node.name).join(", ")}): figures are of this machine, not of a cloud`,
    ];
  });
}
