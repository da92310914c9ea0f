/** The kinds of site and what each can be told. One discriminated union: `kind` decides which keys exist. */
import { z } from "zod";

export const siteName = z.string().regex(/^[a-z][a-z0-9-]{0,14}$/, "lower-case letters, digits and '-', starting with a letter, at most 15");

/** Keys that every kind of site has. */
export const siteCommon = {
  name: siteName,
  /** Database nodes in this site; the proxy's and the driver's own nodes come on top. 0 where only those stand here. */
  nodes: z.number().int().min(0).max(12),
  /** gmcast.segment of the site's nodes: Galera relays a writeset once per segment. Default: 0 for all, as Galera has it. */
  segment: z.number().int().min(0).max(254).default(0),
  /** Which sixteenth of the mesh network the site's addresses come from; default derived from the name. */
  meshSlot: z.number().int().min(0).max(15).optional(),
};

/** A stretch of this machine. */
export const localSite = z.strictObject({
  ...siteCommon,
  kind: z.literal("local"),
  /** Nodes reach out from behind one address and cannot be reached from other sites, as behind a home or office router. */
  nat: z.boolean().default(false),
  cpus: z.number().positive().optional(),
  memoryMb: z.number().int().min(256).optional(),
});

export const siteSchema = z.discriminatedUnion("kind", [localSite]);

export type LocalSite = z.infer<typeof localSite>;
export type Site = z.infer<typeof siteSchema>;
