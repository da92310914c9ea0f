/** Hosts that are there already. */
import { checkSshSite, type SshSite } from "../../config/sites/ssh.ts";
import { nodesAt } from "../../topology.ts";
import { plansAt, type SiteKind } from "./kind.ts";

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
    return ({ sites, plans }, opts) =>
      sites.flatMap(({ site, key }) => new Component(site, key, plansAt(plans, site), opts).nodes);
  },
};
