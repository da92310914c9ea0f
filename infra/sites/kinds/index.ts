/** The kinds of site: a member of the union in config/sites without a description here does not compile. */
import type { Config } from "../../config/schema.ts";
import type { Site } from "../../config/sites/index.ts";
import { aws } from "./aws.ts";
import type { SiteKind } from "./kind.ts";
import { local } from "./local.ts";
import { proxmox } from "./proxmox.ts";
import { ssh } from "./ssh.ts";

export type SiteOf<K extends Site["kind"]> = Extract<Site, { kind: K }>;

/** Nodes are made in this order. */
export const SITE_KINDS: { readonly [K in Site["kind"]]: SiteKind<SiteOf<K>> } = {
  local,
  aws,
  proxmox,
  ssh,
};

/** The description takes the very site that it was found by. */
export const kindOf = ({ kind }: Pick<Site, "kind">): SiteKind => SITE_KINDS[kind] as unknown as SiteKind;

/** The kinds that a configuration has sites of, each once. */
export const kindsOf = (config: Pick<Config, "sites">): SiteKind[] =>
  Object.entries(SITE_KINDS)
    .filter(([kind]) => config.sites.some((site) => site.kind === kind))
    .map(([, description]) => description as unknown as SiteKind);
