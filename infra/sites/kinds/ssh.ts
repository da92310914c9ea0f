/** Hosts that are there already. */
import { checkSshSite, type SshSite } from "../../config/sites/ssh.ts";
import { ENGINES, engineOf } from "../../databases/index.ts";
import { PROXIES } from "../../proxies/kinds.ts";
import { nodesAt } from "../../topology.ts";
import { foundScript, type Hosts } from "../ssh-host.ts";
import { plansAt, type SiteKind } from "./kind.ts";

/** A stack may have had another engine or proxy before. */
export const HOSTS: Hosts = {
  databases: Object.values(ENGINES).map(({ host }) => host),
  others: Object.values(PROXIES).map(({ host }) => host),
};

export const ssh: SiteKind<SshSite> = {
  machineName: null,
  sharesMachine: false,
  emulatesLinks: false,
  complete: (site) => site,
  check: (site, key, config) => checkSshSite(site, key, nodesAt(config, site.name)),
  networks: () => [],
  shareNetwork: () => false,
  behindNat: ({ nat }) => nat,
  natKey: "nat",
  machine: ({ note }) => (note === "" ? null : note),
  cpu: () => "x64",
  prices: null,
  exclusive: ({ hosts }) => hosts.map(({ address }) => `host ${address}`),
  /** An assumption, as for AWS. */
  standUpSeconds: 600,
  preflight: null,
  load: async () => {
    const { SshSite: Component } = await import("../ssh.ts");
    return ({ sites, plans, config }, opts) => {
      const found = foundScript(engineOf(config.database).host.dataDirectory, HOSTS);
      return sites.flatMap(({ site, key }) => new Component(site, key, plansAt(plans, site), found, opts).nodes);
    };
  },
};
