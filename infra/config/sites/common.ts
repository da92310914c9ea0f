/** Keys that several kinds of site have. */
import { z } from "zod";

export const siteName = z
  .string()
  .regex(/^[a-z][a-z0-9-]{0,14}$/, "lower-case letters, digits and '-', starting with a letter, at most 15");

/** Keys that every kind of site has. */
export const siteCommon = {
  name: siteName,
  /** Database nodes in this site; the proxy's and the driver's own nodes come on top. 0 where only those stand here. */
  nodes: z.number().int().min(0).max(12),
  /**
   * gmcast.segment of the site's nodes: Galera relays a writeset once per segment. Default: 0 for all, as Galera has
   * it.
   */
  segment: z.number().int().min(0).max(254).default(0),
  /** Which sixteenth of the mesh network the site's addresses come from; default derived from the name. */
  meshSlot: z.number().int().min(0).max(15).optional(),
};

/** The release of Debian on nodes that a stack makes; 12 is that of the published studies. */
export const debianRelease = z.union([z.literal(12), z.literal(13)]);
export type DebianRelease = z.infer<typeof debianRelease>;

/** Of kinds of site whose nodes are made here. Default: the stack's `debian`. */
export const madeNodes = { debian: debianRelease.optional() };

/** What a checked configuration has for every such site. */
export const releaseOf = (site: { debian?: DebianRelease | undefined }): DebianRelease => site.debian ?? 12;

/** The command plugin asks a server for the pinned key's type and takes SHA-1 for RSA: ed25519 is what works everywhere. */
export const hostKey = z
  .string()
  .regex(
    /^ssh-ed25519 [A-Za-z0-9+/=]+$/,
    'a public host key of type ed25519, "ssh-ed25519 AAAA..." without a comment (`ssh-keyscan -t ed25519 HOST` shows it, `ssh-keygen -A` on the host makes it)',
  );

/** A host through which SSH goes to nodes that cannot be reached directly. */
export const jumpHost = z.strictObject({
  host: z.string().min(1),
  port: z.number().int().min(1).max(65_535).default(22),
  user: z.string().min(1).default("root"),
  /** On the operator's machine. */
  privateKeyFile: z.string().min(1).default("~/.ssh/id_ed25519"),
  hostKey,
});

export type JumpHost = z.infer<typeof jumpHost>;
