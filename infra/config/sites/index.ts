/** The kinds of site and what each can be told. One discriminated union: `kind` decides which keys exist. */
import { z } from "zod";
import { awsSite } from "./aws.ts";
import { madeNodes, siteCommon } from "./common.ts";
import { proxmoxSite } from "./proxmox.ts";
import { sshSite } from "./ssh.ts";

export { siteCommon, siteName } from "./common.ts";

/** A stretch of this machine. */
export const localSite = z.strictObject({
  ...siteCommon,
  ...madeNodes,
  kind: z.literal("local"),
  /**
   * Nodes reach out from behind one address and cannot be reached from other sites, as behind a home or office router.
   */
  nat: z.boolean().default(false),
  cpus: z.number().positive().optional(),
  memoryMb: z.number().int().min(256).optional(),
  /** Allow a change that makes database nodes anew. */
  replaceNodes: z.boolean().default(false),
});

const SCHEMAS = {
  local: localSite,
  aws: awsSite,
  proxmox: proxmoxSite,
  ssh: sshSite,
};
type Schema = (typeof SCHEMAS)[keyof typeof SCHEMAS];
export const siteSchema = z.discriminatedUnion("kind", Object.values(SCHEMAS) as [Schema, ...Schema[]]);

export type LocalSite = z.infer<typeof localSite>;
export type Site = z.infer<typeof siteSchema>;
