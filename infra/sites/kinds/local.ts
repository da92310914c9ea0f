/** Debian nodes on this machine. */
import type { LocalSite } from "../../config/sites/index.ts";
import { engineOf } from "../../databases/index.ts";
import { type SiteKind, withRelease } from "./kind.ts";

export const local: SiteKind<LocalSite> = {
  machineName: null,
  sharesMachine: true,
  emulatesLinks: true,
  complete: withRelease,
  check: () => [],
  networks: () => [],
  shareNetwork: () => false,
  behindNat: ({ nat }) => nat,
  natKey: "nat",
  machine: () => null,
  cpu: () => "x64",
  prices: null,
  exclusive: () => [],
  /** As measured on two cores (npm run bench:up). */
  standUpSeconds: 40,
  preflight: null,
  load: async () => {
    const { LocalSites } = await import("../local.ts");
    return ({ sites, plans, config, context }, opts) => {
      return new LocalSites(
        sites.map(({ site }) => site),
        (site) => sites.find((one) => one.site === site)!.key,
        config.links,
        plans,
        context,
        engineOf(config.database).localRelease,
        opts,
      ).nodes;
    };
  },
};
