/** A site on a Proxmox VE host: its keys and what can be known to be wrong about them. */
import { z } from "zod";
import { type DebianRelease, jumpHost, madeNodes, siteCommon } from "./common.ts";

/** Where a node's database lies: one named line of a storage comparison. */
export const storageProfile = z.strictObject({
  /** Proxmox storage of the disk; default: the site's. A pool with another SLOG is another storage. */
  datastore: z.string().min(1).optional(),
  /** GiB of a disk (or a container's mount point) of its own for the database directory; absent: on the root disk. */
  sizeGb: z.number().int().min(1).max(65_536).optional(),
  /** A VM's own data disk gets this; a container's mount point has what its storage has. */
  filesystem: z.enum(["ext4", "xfs"]).default("ext4"),
  cache: z.enum(["none", "directsync", "writethrough", "writeback", "unsafe"]).default("none"),
  discard: z.boolean().default(true),
  iothread: z.boolean().default(true),
  /** The guest sees a disk that does not rotate. */
  ssd: z.boolean().default(false),
  /** What a result must say and no API tells: "ZFS mirror, NVMe SLOG". */
  note: z.string().max(200).default(""),
});

const download = z.strictObject({
  url: z.url({ protocol: /^https?$/, error: "an http or https address" }),
  checksum: z.string().regex(/^([0-9a-f]{64}|[0-9a-f]{128})$/, "a SHA-256 or SHA-512 sum in lower-case hexadecimal"),
});

/** Debian's dated cloud images: `latest` would be another one next month. */
export const DEBIAN_IMAGES: Record<DebianRelease, z.infer<typeof download>> = {
  12: {
    url: "https://cloud.debian.org/images/cloud/bookworm/20260210-2384/debian-12-genericcloud-amd64-20260210-2384.qcow2",
    checksum:
      "e5d776b9de352c89fbad4baec8bfd38a35c5905114a5f3b108946348cb44d869396d22e4a837a43afee4b11363d4759c358fb3e8a7cd07fa743ed6b663784fed",
  },
  13: {
    url: "https://cloud.debian.org/images/cloud/trixie/20260914-2601/debian-13-genericcloud-amd64-20260914-2601.qcow2",
    checksum:
      "95e110dfcdbd0ed8a82a75ed9579802f9950cabf51a810dcc6388e81bc778188713878b9f28d583a0ea602fbf48b35996ae9ad37f584166d8fbd6489df248f53",
  },
};
export const DEBIAN_TEMPLATES: Record<DebianRelease, z.infer<typeof download>> = {
  12: {
    url: "http://download.proxmox.com/images/system/debian-12-standard_12.7-1_amd64.tar.zst",
    checksum:
      "39f6d06e082d6a418438483da4f76092ebd0370a91bad30b82ab6d0f442234d63fe27a15569895e34d6d1e5ca50319f62637f7fb96b98dbde4f6103cf05bff6d",
  },
  13: {
    url: "http://download.proxmox.com/images/system/debian-13-standard_13.1-2_amd64.tar.zst",
    checksum:
      "5aec4ab2ac5c16c7c8ecb87bfeeb10213abe96db6b85e2463585cea492fc861d7c390b3f9c95629bf690b95e9dfe1037207fc69c0912429605f208d5cb2621f8",
  },
};

export const proxmoxSite = z.strictObject({
  ...siteCommon,
  ...madeNodes,
  kind: z.literal("proxmox"),
  /** https://host:8006 */
  endpoint: z.string().optional(),
  /** Accept a certificate that nobody vouches for. */
  insecure: z.boolean().default(false),
  /** The Proxmox node that carries the guests. */
  hypervisor: z.string().min(1).default("pve"),
  guest: z.enum(["vm", "lxc"]).default("vm"),
  /** VM image or container template; default by `guest` and `debian`, dated. */
  image: download.optional(),
  /** A storage with content type `import` (VM images) or `vztmpl` (container templates). */
  imageDatastore: z.string().min(1).default("local"),
  /** Storage of root disks. */
  datastore: z.string().min(1).default("local-lvm"),
  cores: z.number().int().min(1).max(256).default(2),
  memoryMb: z.number().int().min(512).default(4096),
  diskGb: z.number().int().min(4).default(32),
  /** Case counts: host, x86-64-v2-AES, ... */
  cpuType: z.string().min(1).default("x86-64-v2-AES"),
  /** Named storage profiles, and which one the database nodes take: one for all, or one per node. */
  profiles: z.record(z.string(), storageProfile).default({}),
  storage: z.union([z.string(), z.array(z.string()).min(1)]).optional(),
  bridge: z.string().min(1).default("vmbr0"),
  vlan: z.number().int().min(1).max(4094).optional(),
  /**
   * "dhcp", or address and mask of the first database node: the n-th follows at +n-1, the proxy at +12, the driver at
   * +13.
   */
  address: z.string().optional(),
  gateway: z.string().optional(),
  dns: z.array(z.string()).default([]),
  /** No other site can call the nodes; they dial out. */
  nat: z.boolean().default(true),
  /**
   * With nat false: the first database node's address seen from outside, when it is not `address`; the others follow
   * alike.
   */
  publicAddress: z.string().optional(),
  /** Id of the first database node, the others as with `address`. Default: the next free ones. */
  vmId: z.number().int().min(100).max(999_999_999).optional(),
  pool: z.string().min(1).optional(),
  /** Login of VMs; containers have root. */
  user: z
    .string()
    .regex(/^[a-z_][a-z0-9_-]{0,31}$/, "a user name")
    .default("debian"),
  /** The image runs the guest agent. Debian's cloud images do not. */
  agent: z.boolean().default(false),
  /**
   * first-contact: pinned when seen first; agent: that key compared with the one the hypervisor reads out of the guest.
   */
  hostKeys: z.enum(["first-contact", "agent", "snippets"]).default("first-contact"),
  /** A storage with content type `snippets`, for hostKeys "snippets"; the provider then needs SSH to the hypervisor. */
  snippets: z.string().min(1).optional(),
  jump: jumpHost.optional(),
  /**
   * Of containers. kernel: the hypervisor has the module loaded. tun: /dev/net/tun is passed through for wireguard-go,
   * which Proxmox allows root@pam with its password only, no token (PVE::LXC::check_ct_modify_config_perm).
   */
  wireguard: z.enum(["kernel", "tun"]).default("kernel"),
  /** Allow a change that makes database nodes anew. */
  replaceNodes: z.boolean().default(false),
  /** Make database nodes one after the other, and take changes that stop them (cores, memory) in the same way. */
  rolling: z.boolean().default(false),
});

export type ProxmoxSite = z.infer<typeof proxmoxSite>;
export type StorageProfile = z.infer<typeof storageProfile>;

export interface Secrets {
  proxmoxToken?: unknown;
  proxmoxPassword?: unknown;
}

/** One for all Proxmox sites, or one per site by its name; undefined when there is none. */
export function secretOf(value: unknown, site: string): string | undefined {
  const found = typeof value === "object" && value !== null ? (value as Record<string, unknown>)[site] : value;
  return typeof found === "string" && found !== "" ? found : undefined;
}

export type Login = { apiToken: string } | { username: "root@pam"; password: string };

export const needsRoot = (site: ProxmoxSite): boolean => site.guest === "lxc" && site.wireguard === "tun";

/** What a checked site logs in with. */
export function loginOf(site: ProxmoxSite, secrets: Secrets): Login {
  return needsRoot(site)
    ? { username: "root@pam", password: secretOf(secrets.proxmoxPassword, site.name) ?? "" }
    : { apiToken: secretOf(secrets.proxmoxToken, site.name) ?? "" };
}

/** The storage profile of the n-th database node (from 0); undefined: on the root disk. */
export function profileOf(site: ProxmoxSite, index: number): { name: string; profile: StorageProfile } | undefined {
  const name = Array.isArray(site.storage) ? site.storage[index] : site.storage;
  const profile = name === undefined ? undefined : site.profiles[name];
  return name === undefined || profile === undefined ? undefined : { name, profile };
}
