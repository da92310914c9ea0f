/** The WireGuard mesh as a plan: addresses, endpoints, keepalives. Pure. */

import { MTU_FILE, startMtu } from "./path-mtu.ts";

/** FNV-1a, 32 bits: spreads short names well and is the same for ever, which an address needs to be. */
function fnv1a(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash;
}

export const SLOTS = 16;

/**
 * Which sixteenth of the mesh's /24 each site has. Given slots are kept; the others are derived from the site's name
 * and move on to the next free one when taken, in the order of the configuration: a site added at the end moves nobody.
 * Throws a sentence when a slot is given twice or there are more sites than slots.
 */
export function meshSlots(sites: { name: string; meshSlot?: number | undefined }[]): Record<string, number> {
  if (sites.length > SLOTS) throw new RangeError(`meshbench:sites: ${sites.length} sites; expected at most ${SLOTS}`);
  const taken = new Map<number, string>();
  for (const site of sites) {
    if (site.meshSlot === undefined) continue;
    const other = taken.get(site.meshSlot);
    if (other !== undefined)
      throw new RangeError(
        `meshbench:sites: meshSlot ${site.meshSlot} of both "${other}" and "${site.name}"; expected a slot of its own for each`,
      );
    taken.set(site.meshSlot, site.name);
  }
  for (const site of sites) {
    if (site.meshSlot !== undefined) continue;
    let slot = fnv1a(site.name) % SLOTS;
    while (taken.has(slot)) slot = (slot + 1) % SLOTS;
    taken.set(slot, site.name);
  }
  return Object.fromEntries([...taken].map(([slot, name]) => [name, slot]));
}

/**
 * host: 1..14; 0 and 15 stay free, so that slot 0 never hands out the network's address nor slot 15 the broadcast one.
 */
export function meshAddress(network: string, slot: number, host: number): string {
  if (host < 1 || host > 14) throw new RangeError(`a site has 14 mesh addresses, host number ${host} is none of them`);
  return network.replace(/\.0\/24$/, `.${slot * 16 + host}`);
}

export interface MeshNode {
  name: string;
  site: string;
  meshAddress: string;
  /** Address on the site's own network, reachable from nodes of the same site. */
  lanAddress: string;
  /** Address at which other sites reach the node; unused when behindNat. */
  publicAddress: string;
  behindNat: boolean;
}

export interface Peer {
  name: string;
  allowedIp: string;
  /** Absent: this side waits to be called and learns the peer's address from its first packet. */
  endpoint?: string;
  keepaliveSeconds?: number;
}

/**
 * Peers of one node. A node behind NAT calls out and keeps its mapping open; the reachable side leaves its endpoint
 * out.
 */
export function peersOf(self: MeshNode, all: MeshNode[], port: number, keepaliveSeconds: number): Peer[] {
  return all
    .filter((n) => n.name !== self.name)
    .map((peer) => {
      const sameSite = peer.site === self.site;
      const reachable = sameSite || !peer.behindNat;
      return {
        name: peer.name,
        allowedIp: `${peer.meshAddress}/32`,
        ...(reachable ? { endpoint: `${sameSite ? peer.lanAddress : peer.publicAddress}:${port}` } : {}),
        ...(self.behindNat && !sameSite ? { keepaliveSeconds } : {}),
      };
    });
}

/**
 * Whether this node speaks first to that peer. WireGuard retries a handshake after five seconds, and two that are begun
 * at the same moment from both ends can cross and be lost: so one side begins, the one behind NAT or else the lower
 * name.
 */
export function begins(
  self: { name: string; site: string; behindNat: boolean },
  peer: { name: string; site: string; behindNat: boolean },
): boolean {
  const hidden = (a: typeof self, b: typeof self): boolean => a.behindNat && a.site !== b.site;
  if (hidden(self, peer) !== hidden(peer, self)) return hidden(self, peer);
  return self.name < peer.name;
}

/** Pairs of sites of which neither can call the other; a mesh needs this to be empty. */
export function unreachablePairs(sites: { name: string; behindNat: boolean }[]): [string, string][] {
  const hidden = sites.filter((s) => s.behindNat);
  return hidden.flatMap((a, i) => hidden.slice(i + 1).map((b): [string, string] => [a.name, b.name]));
}

/**
 * wg-quick's file. The private key stays in its own file on the node, where it was made, and is read when the interface
 * comes up.
 */
export function wireguardConf(
  self: { meshAddress: string },
  peers: (Peer & { publicKey: string })[],
  options: { port: number; mtu: number | "auto" },
): string {
  const lines = [
    "[Interface]",
    `Address = ${self.meshAddress}/24`,
    `ListenPort = ${options.port}`,
    `MTU = ${startMtu(options.mtu)}`,
    "PostUp = wg set %i private-key /etc/wireguard/private.key",
    ...(options.mtu === "auto" ? [`PostUp = [ ! -s ${MTU_FILE} ] || ip link set %i mtu $(cat ${MTU_FILE})`] : []),
  ];
  for (const peer of peers) {
    lines.push("", `# ${peer.name}`, "[Peer]", `PublicKey = ${peer.publicKey}`, `AllowedIPs = ${peer.allowedIp}`);
    if (peer.endpoint !== undefined) lines.push(`Endpoint = ${peer.endpoint}`);
    if (peer.keepaliveSeconds !== undefined) lines.push(`PersistentKeepalive = ${peer.keepaliveSeconds}`);
  }
  return `${lines.join("\n")}\n`;
}
