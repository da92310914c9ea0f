/** The largest packet that crosses the mesh between two nodes, found with pings that must not be fragmented. Pure text. */
import { writeFile } from "../scripts.ts";

/** Where `mesh.mtu: auto` begins: WireGuard's usual value, which a 1500-byte path carries over IPv4 and IPv6. */
export const AUTO_MTU = 1420;
/** The least that `mesh.mtu` may be, IPv6's own. */
export const LEAST_MTU = 1280;

export const startMtu = (mtu: number | "auto"): number => (mtu === "auto" ? AUTO_MTU : mtu);

/**
 * Defines `widest ADDRESS MTU`: prints the size of the largest packet, MTU at most, that passes; nothing when none of
 * 1280 bytes does. A path that is wide enough takes two pings, a narrower one eight sizes, each about a second. WireGuard
 * pads a packet to 16 bytes below its MTU, so that the value found may be up to 15 bytes below what the path would take.
 */
export const WIDEST = `widest() {
  local low=${LEAST_MTU - 1} high=$2 size took wait
  took=$(ping -n -q -c 1 -W 3 "$1" 2>/dev/null | sed -n 's|^rtt [^=]*= \\([0-9]*\\)\\..*|\\1|p')
  wait=$((1 + \${took:-0} * 2 / 1000))
  passes() { ping -n -q -M do -c 2 -i 0.2 -W $wait -s $(($2 - 28)) "$1" >/dev/null 2>&1; }
  size=$high
  while [ $low -lt $high ]; do
    if passes "$1" $size; then low=$size; else high=$((size - 1)); fi
    size=$(((low + high + 1) / 2))
  done
  if [ $low -ge ${LEAST_MTU} ]; then echo $low; fi
}`;

/** Prints "path <peer> <bytes or ->" for each peer, all at once. */
export function pathScript(peers: { name: string; meshAddress: string }[], mtu: number): string {
  return `${WIDEST}
path() { size=$(widest "$2" ${mtu}); echo "path $1 \${size:--}"; }
${peers.map((p) => `path ${p.name} ${p.meshAddress} &`).join("\n")}
wait`;
}

/** What the narrowest path of all nodes takes, bytes; never below the least, which a script has refused before. */
export function narrowest(printed: string[], start: number): number {
  const sizes = printed.flatMap((text) => [...text.matchAll(/^path \S+ (\d+)$/gm)].map((m) => Number(m[1])));
  return Math.max(LEAST_MTU, Math.min(start, ...sizes));
}

/** Where the interface's own file finds the value again after a restart. */
export const MTU_FILE = "/etc/wireguard/mtu";

/** For good: the interface's own file reads it at each start. */
export function mtuScript(mtu: number): string {
  return `changed=0
${writeFile(MTU_FILE, String(mtu))}
ip link set wg0 mtu ${mtu}`;
}
