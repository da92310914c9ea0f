/** The mesh on the nodes: keys are made where they are used, only public ones leave. */
import * as pulumi from "@pulumi/pulumi";
import type { MeshConfig } from "../config/schema.ts";
import { type Node, onNode } from "../node.ts";
import { ensurePackages, QUIET_SCRIPT } from "../packages.ts";
import { LAST_WORDS, writeFile } from "../scripts.ts";
import { AUTO_MTU, LEAST_MTU, mtuScript, narrowest, startMtu, WIDEST } from "./path-mtu.ts";
import { begins, type MeshNode, peersOf, wireguardConf } from "./plan.ts";

/** The first step on every node. Prints the public key. The pair survives every later run of the step. */
export function keyScript(): string {
  return `${QUIET_SCRIPT}
${ensurePackages(["wireguard-tools", "iproute2", "iputils-ping", "iperf3"])}
if ! modprobe -q wireguard 2>/dev/null && [ ! -d /sys/module/wireguard ]; then
  ${ensurePackages(["wireguard-go"]).replaceAll("\n", "\n  ")}
fi
install -d -m 0700 /etc/wireguard
[ -s /etc/wireguard/private.key ] || (umask 077; wg genkey > /etc/wireguard/private.key)
wg pubkey < /etc/wireguard/private.key`;
}

/**
 * Brings the interface up, or changes the running one: peers without dropping a tunnel, address or MTU by a restart.
 * \`wg syncconf\` takes a file without a private key as "no private key", so the key is put back in on the way.
 */
export function interfaceScript(conf: string): string {
  return `${LAST_WORDS}
conf=/etc/wireguard/wg0.conf
fixed() { grep -E '^(Address|MTU|ListenPort|PostUp)' "$conf" 2>/dev/null || true; }
before=$(fixed); changed=0
${writeFile("/etc/wireguard/wg0.conf", conf, "0600")}
systemctl enable --quiet wg-quick@wg0
if ! systemctl is-active --quiet wg-quick@wg0 || ! ip link show wg0 >/dev/null 2>&1; then
  systemctl restart wg-quick@wg0 || { last_words wg-quick@wg0 5 >&2; exit 1; }
elif [ "$before" != "$(fixed)" ]; then
  systemctl restart wg-quick@wg0
elif [ "$changed" = 1 ]; then
  wg syncconf wg0 <(wg-quick strip wg0 | awk 'NR == FNR { key = $0; next } { print } /^\\[Interface\\]/ { print "PrivateKey = " key }' /etc/wireguard/private.key -)
fi`;
}

/**
 * Returns when every peer has answered through the tunnel, with packets of the whole MTU too: on a path that drops them
 * everything small passes, and a database hangs in its first state transfer. Names the peers that did not answer within
 * the bound, and for a path that is too narrow the value that it takes; with `auto` it prints that.
 */
export function reachScript(
  self: string,
  peers: { name: string; meshAddress: string; begins: boolean }[],
  mtu: number | "auto",
  timeoutSeconds = 60,
): string {
  const narrow =
    mtu === "auto"
      ? `echo "path $1 $size"`
      : `[ "$size" -ge ${mtu} ] || { echo "meshbench:mesh.mtu: ${mtu}; packets between ${self} and $1 pass up to $size bytes, expected at most $size, or auto" >&2; return 1; }`;
  return `${WIDEST}
deadline=$((SECONDS + ${timeoutSeconds}))
called() { wg show wg0 dump | awk -v ip="$1/32" '$4 == ip && $5 > 0 { found = 1 } END { exit !found }'; }
reach() {
  if [ "$3" = waits ]; then for _ in $(seq 20); do called "$2" && break; sleep 0.1; done; fi
  until ping -n -q -c 1 -W 3 "$2" >/dev/null 2>&1; do
    [ $SECONDS -lt $deadline ] || { echo "${self}: no answer from $1 ($2) through the mesh within ${timeoutSeconds} s; is its UDP port open?" >&2; return 1; }
    sleep 0.2
  done
  size=$(widest "$2" ${startMtu(mtu)})
  [ -n "$size" ] || { echo "mesh: packets of ${LEAST_MTU} bytes, the least that meshbench:mesh.mtu may be, do not pass between ${self} and $1; the path between them is too narrow" >&2; return 1; }
  ${narrow}
}
pids=()
${peers.map((p) => `reach ${p.name} ${p.meshAddress} ${p.begins ? "begins" : "waits"} & pids+=($!)`).join("\n")}
failed=0
for pid in "\${pids[@]}"; do wait "$pid" || failed=1; done
exit $failed`;
}

export class Mesh extends pulumi.ComponentResource {
  /** Steps after which a node speaks with all others. */
  readonly ready: pulumi.Resource[];

  /** Keys are made on the nodes as soon as each is there; everything else waits for the look at all of them. */
  constructor(nodes: Node[], standing: Node[], config: MeshConfig, opts?: pulumi.ComponentResourceOptions) {
    super("meshbench:mesh:WireGuard", "mesh", {}, opts);
    const keys = new Map(
      nodes.map((node) => [node.name, onNode(`${node.name}-wg-key`, node, { script: keyScript() }, { parent: this })]),
    );
    const described = pulumi.all(
      nodes.map((node) =>
        pulumi
          .all([node.lanAddress, node.publicAddress, keys.get(node.name)!.stdout])
          .apply(([lanAddress, publicAddress, key]) => ({
            name: node.name,
            site: node.site,
            meshAddress: node.meshAddress,
            behindNat: node.behindNat,
            lanAddress,
            publicAddress,
            publicKey: key.trim(),
          })),
      ),
    );
    const interfaces = standing.map((node) =>
      onNode(
        `${node.name}-wg`,
        node,
        {
          script: described.apply((all) => interfaceScript(confFor(node.name, all, config))),
        },
        { parent: this },
      ),
    );
    const reached = standing.map((node) =>
      onNode(
        `${node.name}-wg-ready`,
        node,
        {
          script: reachScript(
            node.name,
            standing
              .filter((n) => n !== node)
              .map((peer) => ({ name: peer.name, meshAddress: peer.meshAddress, begins: begins(node, peer) })),
            config.mtu,
          ),
        },
        { parent: this, dependsOn: interfaces },
      ),
    );
    this.ready = config.mtu === "auto" ? this.narrowed(standing, reached) : reached;
    this.registerOutputs();
  }

  /** One MTU for all: the two ends of a tunnel agree on a segment's size, but a routed packet meets any of them. */
  private narrowed(nodes: Node[], reached: ReturnType<typeof onNode>[]): pulumi.Resource[] {
    const mtu = pulumi.all(reached.map((r) => r.stdout)).apply((printed) =>
      narrowest(
        printed.map((text) => String(text ?? "")),
        AUTO_MTU,
      ),
    );
    return nodes.map((node) =>
      onNode(`${node.name}-wg-mtu`, node, { script: mtu.apply(mtuScript) }, { parent: this, dependsOn: reached }),
    );
  }
}

function confFor(name: string, all: (MeshNode & { publicKey: string })[], config: MeshConfig): string {
  const self = all.find((n) => n.name === name)!;
  const peers = peersOf(self, all, config.port, config.keepaliveSeconds).map((peer) => ({
    ...peer,
    publicKey: all.find((n) => n.name === peer.name)!.publicKey,
  }));
  return wireguardConf(self, peers, config);
}
