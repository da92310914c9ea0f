/**
 * Addresses of a lab, all derived from its block: a /20 of 10.64.0.0/10, hence 16 /24s.
 * The first /24 is plumbing, the others are the LANs of at most 15 sites.
 */
import { createHash } from "node:crypto";
import { LabError } from "../run.ts";

export const POOL = "10.64.0.0/10";
export const MAX_SITES = 15;
/** Host parts of a site's LAN that nodes get; .1 is the router. */
export const FIRST_HOST = 10;
export const LAST_HOST = 250;
const BLOCK_PREFIX = 20;

export interface Range {
  first: number;
  last: number;
}

export function toNumber(address: string): number {
  return address.split(".").reduce((sum, octet) => sum * 256 + Number(octet), 0);
}

export function toAddress(value: number): string {
  return [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join(".");
}

/** "10.0.0.0/8" or "10.0.0.1" as the range of addresses it stands for. */
export function parseRange(text: string): Range {
  const [address = "", prefix = "32"] = text.split("/");
  const size = 2 ** (32 - Number(prefix));
  const first = Math.floor(toNumber(address) / size) * size;
  return { first, last: first + size - 1 };
}

export function overlaps(a: Range, b: Range): boolean {
  return a.first <= b.last && b.first <= a.last;
}

/**
 * The lowest free block of the pool.
 * @param taken ranges in use: other labs' blocks and the routes the machine already has (no default route).
 * @throws LabError when the pool is full.
 */
export function chooseBlock(taken: string[]): string {
  const used = taken.map(parseRange);
  const pool = parseRange(POOL);
  const size = 2 ** (32 - BLOCK_PREFIX);
  for (let first = pool.first; first < pool.last; first += size) {
    const candidate = { first, last: first + size - 1 };
    if (!used.some((range) => overlaps(range, candidate))) return `${toAddress(first)}/${BLOCK_PREFIX}`;
  }
  throw new LabError(`no free addresses for another lab in ${POOL}: delete a lab (\`lab list\`, \`lab purge\`)`);
}

export interface SiteAddresses {
  subnet: string;
  gateway: string;
  /** Both ends of the site's uplink, a /30. */
  coreSide: string;
  siteSide: string;
  /** The address a NAT site shows to the other sites. */
  natAddress: string;
}

/** @param index 1..15, the site's number in its lab. */
export function siteAddresses(block: string, index: number): SiteAddresses {
  const base = parseRange(block).first;
  return {
    subnet: `${toAddress(base + 256 * index)}/24`,
    gateway: toAddress(base + 256 * index + 1),
    coreSide: toAddress(base + 4 * index + 1),
    siteSide: toAddress(base + 4 * index + 2),
    natAddress: toAddress(base + 128 + index),
  };
}

/** The management link between the operator's machine and the lab's core, a /30. */
export function operatorAddresses(block: string): { network: string; core: string; operator: string } {
  const base = parseRange(block).first;
  return { network: `${toAddress(base)}/30`, core: toAddress(base + 1), operator: toAddress(base + 2) };
}

export function nodeAddress(block: string, siteIndex: number, host: number): string {
  return toAddress(parseRange(block).first + 256 * siteIndex + host);
}

/** Six hexadecimal digits that stand for the lab where names are short (an interface name has 15 characters). */
export function labHash(lab: string): string {
  return createHash("sha256").update(lab).digest("hex").slice(0, 6);
}

/** Names of the kernel's objects; everything of a lab on this machine begins with `mb-<hash>-`. */
export const names = {
  prefix: (lab: string) => `mb-${labHash(lab)}-`,
  core: (lab: string) => `mb-${labHash(lab)}-core`,
  site: (lab: string, site: string) => `mb-${labHash(lab)}-s-${site}`,
  node: (lab: string, node: string) => `mb-${labHash(lab)}-n-${node}`,
  /** The operator's end of the management link, the only interface outside the lab's namespaces. */
  operatorLink: (lab: string) => `mb-${labHash(lab)}`,
  /** In core: the uplink of a site. */
  uplink: (siteIndex: number) => `s${siteIndex}`,
  /** On the site's bridge: a node's port. */
  port: (host: number) => `n${host}`,
};
