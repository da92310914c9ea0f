/**
 * Keeps a site from becoming one of another kind under its name: its nodes would be made anew elsewhere and the former
 * ones deleted with their data, and the guards of the nodes themselves, which belong to the kind, would go with them.
 */
import type * as pulumi from "@pulumi/pulumi";
import type { Site } from "../config/sites/index.ts";
import { valueOf } from "../identity/value-of.ts";
import { guard } from "./guard.ts";

/** Resolves in an `up` once the guards have passed: nothing of a site is registered before. */
export async function guardKinds(
  sites: { site: Site; key: string }[],
  opts?: pulumi.CustomResourceOptions,
): Promise<void> {
  const guards = sites
    .filter(({ site }) => site.nodes > 0)
    .map(({ site, key }) =>
      guard(
        site.name,
        {
          replaced: { kind: site.kind },
          ...("replaceNodes" in site
            ? { mayReplace: site.replaceNodes, replaceKey: `${key}.replaceNodes to true` }
            : // Hosts that are there already are not made anew by any key; as a site of another name they are another site.
              { mayReplace: false, replaceKey: `${key}.name to a name of its own` }),
        },
        { ...opts },
      ),
    );
  await Promise.all(guards.map(({ stdout }) => valueOf(stdout)));
}
