/** The kinds of site: a member of the union in infra/config/sites without an entry here does not compile. */
import type { Site } from "../../infra/config/sites/index.ts";
import { aws } from "./aws.ts";
import type { SiteCommands } from "./kind.ts";
import { local } from "./local.ts";
import { proxmox } from "./proxmox.ts";

/** Of hosts that are there already, which are left as they were found. */
const ssh: SiteCommands = {
  where: "ssh",
  inCloud: false,
  needsLocalNodes: false,
  provider: null,
  leftovers: null,
  recover: null,
  room: null,
};

export const SITE_COMMANDS: { readonly [K in Site["kind"]]: SiteCommands } = {
  local,
  aws,
  proxmox,
  ssh,
};

/** By what a stack file says, which may be anything. */
export const commandsOf = (kinds: Iterable<string>): SiteCommands[] =>
  [...kinds].flatMap((kind) => (Object.hasOwn(SITE_COMMANDS, kind) ? [SITE_COMMANDS[kind as Site["kind"]]] : []));

/** The kind whose provider a resource of this type is of: "aws:ec2/vpc:Vpc". */
export const ofType = (type: string): SiteCommands | undefined =>
  Object.values(SITE_COMMANDS).find(({ provider }) => provider !== null && type.startsWith(`${provider.plugin}:`));
