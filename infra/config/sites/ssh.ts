/** Hosts that already exist: bare metal, or machines of any other origin. */
import { z } from "zod";
import { missing, type Problem } from "../problem.ts";
import { hostKey, jumpHost, siteCommon } from "./common.ts";

export const sshHost = z.strictObject({
  /** Where SSH answers. */
  address: z.string().min(1),
  /** What hosts of the same site call it by; default `address`. */
  lanAddress: z.string().min(1).optional(),
  /** What other sites call it by; default `address`. */
  publicAddress: z.string().min(1).optional(),
  hostKey: hostKey.optional(),
});

export const sshSite = z.strictObject({
  ...siteCommon,
  kind: z.literal("ssh"),
  /** In this order: the database nodes, then the proxy's own node, then the drivers', as far as they stand here. */
  hosts: z.array(sshHost).min(1).max(14),
  user: z.string().min(1).default("root"),
  port: z.number().int().min(1).max(65_535).default(22),
  /** On the operator's machine. */
  privateKeyFile: z.string().min(1).default("~/.ssh/id_ed25519"),
  /** Take the key that a host shows first as its own, for hosts without `hostKey`. */
  scanHostKeys: z.boolean().default(false),
  nat: z.boolean().default(false),
  jump: jumpHost.optional(),
  /** What a result must say of the hosts: "HP Gen8, RAID-1 of two SATA SSDs, ext4". */
  note: z.string().max(200).default(""),
});

export type SshSite = z.infer<typeof sshSite>;

/** `needed`: hosts that the topology places in this site. */
export function checkSshSite(site: SshSite, key: string, needed: number): Problem[] {
  const problems: Problem[] = [];
  if (site.hosts.length < needed)
    problems.push(
      `${key}.hosts: ${site.hosts.length} hosts; expected ${needed}, one for each node of the site (database nodes, and a proxy or driver with a node of its own)`,
    );
  for (const [i, host] of site.hosts.entries()) {
    if (host.hostKey === undefined && !site.scanHostKeys)
      problems.push(
        missing(
          `${key}.hosts[${i}].hostKey`,
          `the host's key (\`ssh-keyscan -t ed25519 ${host.address}\`, compared with the host's own), or ${key}.scanHostKeys to take what is seen first`,
        ),
      );
    const other = site.hosts.findIndex((h) => h.address === host.address);
    if (other !== i)
      problems.push(
        `${key}.hosts[${i}].address: "${host.address}", as in hosts[${other}].address; expected one host per node`,
      );
  }
  return problems;
}
