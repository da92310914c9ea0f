/**
 * What the mesh really does: round trips, path MTU and throughput between every pair of nodes, measured before each
 * run.
 */
import * as pulumi from "@pulumi/pulumi";
import { type Node, onNode } from "../node.ts";
import { asText, type PairMeasure, parseMeasured } from "./measured.ts";
import { startMtu, WIDEST } from "./path-mtu.ts";

/**
 * Prints one line per peer: name, ping's summary and loss, the largest packet that passes unfragmented, the throughput.
 */
export function rttScript(peers: { name: string; meshAddress: string }[], mtu: number): string {
  return `${WIDEST}
probe() {
  out=$(ping -n -q -c 10 -i 0.1 -W 2 "$2" 2>&1 || true)
  loss=$(sed -n 's/.* \\([0-9.]*\\)% packet loss.*/\\1/p' <<<"$out")
  rtt=$(sed -n 's|^rtt min/avg/max/mdev = \\([0-9./]*\\) ms.*|\\1|p' <<<"$out")
  pmtu=$(widest "$2" ${mtu})
  echo "rtt $1 \${rtt:--} \${loss:-100} \${pmtu:--}"
}
${peers.map((p) => `probe ${p.name} ${p.meshAddress} &`).join("\n")}
wait`;
}

/**
 * A server for the others' throughput tests that ends by itself: nothing listens any more when the load has long begun.
 */
export function serverScript(meshAddress: string): string {
  return `systemctl stop meshbench-iperf.service 2>/dev/null || true
systemctl reset-failed meshbench-iperf.service 2>/dev/null || true
systemd-run --quiet --collect --unit=meshbench-iperf --property=RuntimeMaxSec=120 iperf3 -s -B ${meshAddress}
for _ in $(seq 50); do ss -Hltn "src ${meshAddress}:5201" | grep -q . && break; sleep 0.1; done`;
}

/** Both directions to each peer, one after the other: two tests at once would measure each other. */
export function throughputScript(peers: { name: string; meshAddress: string }[], megabytes: number): string {
  return `flow() {
  out=$(timeout 20 iperf3 -c "$2" -n ${megabytes}M $3 -f m 2>/dev/null | awk '/receiver/ { for (i = 1; i <= NF; i++) if ($i == "Mbits/sec") print $(i - 1) }' || true)
  echo "flow $1 $4 \${out:--}"
}
${peers.map((p) => `flow ${p.name} ${p.meshAddress} "" to; flow ${p.name} ${p.meshAddress} -R from`).join("\n")}`;
}

export class MeshMeasurement extends pulumi.ComponentResource {
  readonly matrix: pulumi.Output<PairMeasure[]>;

  /** Runs again when `runKey` changes. Throughput tests are chained from node to node, so that no two run at once. */
  constructor(
    nodes: Node[],
    mtu: number | "auto",
    runKey: pulumi.Input<string>,
    opts?: pulumi.ComponentResourceOptions,
  ) {
    super("meshbench:mesh:Measurement", "mesh-measured", {}, opts);
    const others = (node: Node): Node[] => nodes.filter((n) => n !== node);
    const triggers = [runKey];
    const rtts = nodes.map((node) =>
      onNode(
        `${node.name}-rtt`,
        node,
        {
          script: `${serverScript(node.meshAddress)}\n${rttScript(others(node), startMtu(mtu))}`,
          triggers,
        },
        { parent: this },
      ),
    );
    const megabytes = nodes.length > 5 ? 1 : 4;
    const flows: ReturnType<typeof onNode>[] = [];
    for (const [i, node] of nodes.entries()) {
      if (i === 0) continue;
      flows.push(
        onNode(
          `${node.name}-throughput`,
          node,
          {
            script: throughputScript(nodes.slice(0, i), megabytes),
            triggers,
          },
          { parent: this, dependsOn: [...rtts, ...flows.slice(-1)] },
        ),
      );
    }
    this.matrix = pulumi
      .all([pulumi.all(rtts.map((r) => r.stdout)), pulumi.all(flows.map((f) => f.stdout))])
      .apply(([rtt, flow]) =>
        parseMeasured(
          nodes.map((n) => n.name),
          rtt.map(asText),
          flow.map(asText),
        ),
      );
    this.registerOutputs({ matrix: this.matrix });
  }
}
