/** Guests on a Proxmox VE host. */
import { parseCidr } from "../../config/addresses.ts";
import type { ProxmoxSite } from "../../config/sites/proxmox.ts";
import { checkProxmoxSite } from "../../config/sites/proxmox-check.ts";
import { engineOf } from "../../databases/index.ts";
import { plansAt, type SiteKind, withRelease } from "./kind.ts";

export const proxmox: SiteKind<ProxmoxSite> = {
  machineName: "Proxmox guest",
  sharesMachine: false,
  emulatesLinks: false,
  complete: withRelease,
  check: checkProxmoxSite,
  networks: ({ address }) =>
    address === undefined || parseCidr(address) === undefined ? [] : [{ text: address, implied: false }],
  /** Two hypervisors of one Proxmox cluster: their guests have different addresses in it. */
  shareNetwork: (one, other) => one.endpoint !== undefined && one.endpoint === other.endpoint,
  behindNat: ({ nat }) => nat,
  natKey: "nat",
  machine(site) {
    const storage = site.storage === undefined ? site.datastore : [site.storage].flat().join(", ");
    return `${site.guest}, ${site.cores} cores, ${site.memoryMb} MB, ${site.diskGb} GB on ${storage}`;
  },
  cpu: () => "x64",
  prices: null,
  exclusive: ({ endpoint }) => [`Proxmox at ${endpoint === undefined ? "?" : new URL(endpoint).host}`],
  /** An assumption, as for AWS. */
  standUpSeconds: 600,
  preflight: async () => (await import("../../preflight/proxmox.ts")).checkProxmoxSites,
  load: async () => {
    const { ProxmoxSite: Component } = await import("../proxmox/site.ts");
    return ({ sites, plans, config, context, alone, before }, opts) => {
      const shared = { alone, before, secrets: config, engine: engineOf(config.database), context };
      return sites.flatMap(
        ({ site, key }) => new Component({ site, key, plans: plansAt(plans, site), ...shared }, opts).nodes,
      );
    };
  },
};
