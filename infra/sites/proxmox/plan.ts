/** A Proxmox site's configuration and node plans -> what each guest is to be. Pure. */
import { formatAddress, parseAddress, parseCidr } from "../../config/addresses.ts";
import { releaseOf } from "../../config/sites/common.ts";
import {
  DEBIAN_IMAGES,
  DEBIAN_TEMPLATES,
  type ProxmoxSite,
  profileOf,
  type StorageProfile,
} from "../../config/sites/proxmox.ts";
import type { Owned } from "../../preflight/owned.ts";
import type { NodePlan } from "../../topology.ts";

export interface GuestPlan {
  node: NodePlan;
  /** Name in Proxmox: a DNS label that tells stacks apart. */
  name: string;
  /** "dhcp", or address with mask. */
  address: string;
  /** Absent with DHCP. */
  lanAddress?: string;
  publicAddress?: string;
  vmId?: number;
  /** Absent: the database, if any, lies on the root disk. */
  storage?: { name: string; profile: StorageProfile };
}

/**
 * Database node n (from 1) is n - 1, the proxy's own node 12, the driver's 13: the host number in the site's mesh
 * addresses, less one.
 */
export function offsetOf(plan: Pick<NodePlan, "meshAddress">): number {
  return (Number(plan.meshAddress.split(".")[3]) % 16) - 1;
}

export function planGuests(site: ProxmoxSite, plans: NodePlan[], stack: string): GuestPlan[] {
  return plans.map((node) => {
    const offset = offsetOf(node);
    const cidr = site.address === undefined ? undefined : parseCidr(site.address);
    const lanAddress = cidr && formatAddress(cidr.address + offset);
    const outside = site.publicAddress === undefined ? undefined : parseAddress(site.publicAddress);
    const publicAddress = outside === undefined ? lanAddress : formatAddress(outside + offset);
    const storage = node.roles.includes("database") ? profileOf(site, offset) : undefined;
    return {
      node,
      name: guestName(stack, node.name),
      address: cidr ? `${lanAddress}/${cidr.prefix}` : "dhcp",
      ...(lanAddress === undefined ? {} : { lanAddress }),
      ...(publicAddress === undefined ? {} : { publicAddress }),
      ...(site.vmId === undefined ? {} : { vmId: site.vmId + offset }),
      ...(storage === undefined ? {} : { storage }),
    };
  });
}

/** Proxmox takes DNS names only: no underscore, no dot that a stack's name may have; at most 63 characters. */
export function guestName(stack: string, node: string): string {
  const clean =
    stack
      .toLowerCase()
      .replace(/[^a-z0-9-]+/g, "-")
      .replace(/^-+|-+$/g, "") || "stack";
  return `${clean.slice(0, 62 - node.length).replace(/-+$/, "")}-${node}`;
}

/** Tags of Proxmox are lower-case words; those of the labels that fit are there, the rest is in the description. */
export function guestTags(stack: string, site: string, id: string): string[] {
  return ["meshbench", idTag(id), `site-${site}`, `stack-${guestName(stack, "").replace(/-$/, "")}`].sort();
}

/** By which a stack's own guests are known: others may have given their stack the same name. */
export const idTag = (id: string): string => `id-${id}`;

export interface Download {
  url: string;
  checksum: string;
  algorithm: "sha256" | "sha512";
  fileName: string;
}

/**
 * The image of VMs or the template of containers. Its name tells the version, so that another one is another file, and
 * the stack with a part of its id: one that is destroyed must not take another's image with it, nor a namesake's.
 */
export function imageOf(site: ProxmoxSite, { name, id }: Pick<Owned, "name" | "id">): Download {
  const stack = id === undefined ? name : `${name}-${id.slice(0, 6)}`;
  const given = site.image ?? (site.guest === "vm" ? DEBIAN_IMAGES : DEBIAN_TEMPLATES)[releaseOf(site)];
  const last = new URL(given.url).pathname.split("/").pop()!;
  // An `import` volume's format is known by its ending; Debian's raw images end in .raw, others of qcow2 format in
  // .img.
  const named = site.guest === "vm" && !/\.(qcow2|raw|vmdk)$/.test(last) ? `${last.replace(/\.img$/, "")}.qcow2` : last;
  return {
    ...given,
    algorithm: given.checksum.length === 64 ? "sha256" : "sha512",
    fileName: named.replace(/(\.tar)?\.\w+$/, (ending) => `-${guestName(stack, "").replace(/-$/, "")}${ending}`),
  };
}
