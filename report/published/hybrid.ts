/** Study 000: MariaDB Galera over AWS and Proxmox, joined by WireGuard, behind MaxScale. */
import type { GivenSweep } from "../model.ts";
import type { PublishedPoint, PublishedSet } from "./set.ts";

const common = {
  source: '"MariaDB Galera Cluster on hybrid cloud benchmark", blog post adapted from a paper at the 8th ISRITI, 2025',
  hardware:
    "three nodes of 2 vCPUs, 4 GB RAM, 32 GB: AWS EC2 t3.medium with gp3, and VMs of the same size on one Proxmox VE server",
  versions: "MariaDB 10.11.8 with Galera, MaxScale 24.02.5, SysBench 1.0.20",
  howMeasured:
    "sysbench OLTP read-only, write-only and read-write, 120 s per test, 1 to 192 threads, one run each; averages are over the thread counts",
  unit: { tables: null, "rows per table": null, "table options": null, reconnect: null },
  method: {
    "load generator": "sysbench 1.0.20",
    "client protocol": "mysql",
    "window (s)": "120",
    "warm-up (s)": null,
    repeats: "1",
    "thread counts": "1 to 192, not listed",
    "prepared statements": null,
    routing: "one endpoint, a proxy",
    "TLS to the database": null,
  },
  notStated: [
    "tables and rows",
    "the list of thread counts",
    "mean latency",
    "queries per second",
    "RTT between the sites",
    "where sysbench ran",
    "CPU credit mode of the t3 instances",
    "Galera and InnoDB options (said to be untuned)",
    "repeats (one run is assumed)",
    "throughput at single thread counts other than the peaks",
  ],
} as const;

const t3 =
  "t3.medium is burstable (baseline 20 % of each of 2 vCPUs): once its credits are spent, or billed as surplus in unlimited mode, throughput depends on what ran before";
const rtt = "the RTT between the sites was not measured, so the cost cannot be stated per millisecond";
const proxied = "MaxScale shared a t3.medium with a database node, so proxy and database competed for 2 vCPUs";
const oneHost =
  "whether the three VMs of the Proxmox server shared one disk is not said; if so, each commit waits for three syncs of it";

function environment(sites: string): PublishedSet["environment"] {
  return {
    database: "MariaDB Galera 10.11.8",
    "server version": "10.11.8-MariaDB",
    "database options": null,
    proxy: "maxscale 24.02.5",
    "database nodes": 3,
    sites: sites,
    "driver host": null,
    "stand-ins": null,
  };
}

function set(
  name: string,
  title: string,
  sites: string,
  points: PublishedPoint[],
  given: GivenSweep[],
  conditions: string[],
): PublishedSet {
  return {
    ...common,
    notStated: [...common.notStated],
    id: `000/${name}`,
    title,
    environment: environment(sites),
    points,
    given,
    conditions,
  };
}

const [ro, wo, rw] = ["oltp_read_only", "oltp_write_only", "oltp_read_write"] as const;

export const hybridStudy: PublishedSet[] = [
  set(
    "hybrid",
    "two nodes on AWS, one on Proxmox",
    "aws (2 nodes), proxmox (1 node), WireGuard between them",
    [
      { workload: ro, threads: 1, p95: 19.9 },
      { workload: ro, threads: 192, p95: 170.34 },
    ],
    [
      { workload: ro, averageTps: 1203.06 },
      { workload: wo, averageTps: 91.74 },
      { workload: rw, averageTps: 419.95, averageP95: 333.16 },
    ],
    [t3, rtt, proxied],
  ),
  set(
    "aws-only",
    "three nodes on AWS",
    "aws (3 nodes)",
    [
      { workload: ro, threads: 1, p95: 4.82 },
      { workload: ro, threads: 16, tps: 2663.53 },
      { workload: ro, threads: 192, p95: 116.8 },
      { workload: wo, threads: 192, p95: 6247.39 },
    ],
    [
      { workload: ro, averageTps: 2131.92, peakTps: 2663.53, peakThreads: 16 },
      { workload: wo, averageTps: 104.42 },
      { workload: rw, averageTps: 579.99, peakTps: 653.48 },
    ],
    [t3, proxied],
  ),
  set(
    "proxmox-only",
    "three nodes on one Proxmox server",
    "proxmox (3 nodes)",
    [
      { workload: ro, threads: 144, tps: 1662.84 },
      { workload: wo, threads: 192, p95: 9624.59 },
    ],
    [
      { workload: ro, averageTps: 1303.27, peakTps: 1662.84, peakThreads: 144 },
      { workload: wo, averageTps: 76.29 },
      { workload: rw, averageTps: 439.72, averageP95: 359.11 },
    ],
    [oneHost],
  ),
];

/** "At 64 threads, the 95th percentile crossed 1,200 ms for every setup" (write-only): a bound, not a figure. */
export const writeP95At64Threads = { threads: 64, atLeastMs: 1200 } as const;
