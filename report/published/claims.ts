/**
 * What the published texts claim, worked out again from their own figures. follows: the figures give it. rounding: they
 * give it but for the last digit. not from these figures: nothing published bears it out. contradicted: the figures say
 * otherwise. not checkable: the figure that would be needed is missing.
 */

import type { DistanceColumn } from "./distance.ts";
import { distanceTable, distanceThreads } from "./distance.ts";
import { hybridStudy } from "./hybrid.ts";
import { leaseFacts, leaseRuns } from "./leaseholder.ts";
import { replicationStudy } from "./replication.ts";
import { storageStudy } from "./storage.ts";

export type Verdict = "follows" | "rounding" | "not from these figures" | "contradicted" | "not checkable";

export interface Claim {
  study: string;
  /** In our words, with the claimed figure. */
  claim: string;
  /** What the figures give, with the arithmetic. */
  found: string;
  verdict: Verdict;
}

const average = (set: string, workload: string) =>
  hybridStudy.find((s) => s.id === `000/${set}`)!.given.find((g) => g.workload === workload)!;
const tps = (set: string, workload: string) => average(set, workload).averageTps!;
const p95 = (set: string, workload: string, threads: number) =>
  hybridStudy.find((s) => s.id === `000/${set}`)!.points.find((p) => p.workload === workload && p.threads === threads)!
    .p95!;
const mean = (values: readonly number[]) => values.reduce((a, b) => a + b, 0) / values.length;
const percent = (value: number) => `${(value * 100).toFixed(2)} %`;

/**
 * A claimed percentage against the one worked out: equal when rounded to the same digit, "rounding" when off by one in
 * it.
 */
export function judgePercent(claimed: number, found: number, digits = 1): Verdict {
  const off = Math.abs(Math.round(found * 100 * 10 ** digits) - Math.round(claimed * 10 ** digits));
  return off === 0 ? "follows" : off === 1 ? "rounding" : "contradicted";
}

function percentClaim(study: string, text: string, claimed: number, found: number, arithmetic: string): Claim {
  return {
    study,
    claim: `${text}: ${claimed} %`,
    found: `${arithmetic} = ${percent(found)}`,
    verdict: judgePercent(claimed, found),
  };
}

function hybridClaims(): Claim[] {
  const [ro, wo, rw] = ["oltp_read_only", "oltp_write_only", "oltp_read_write"];
  const averages = (w: string) => ({
    hybrid: tps("hybrid", w),
    aws: tps("aws-only", w),
    proxmox: tps("proxmox-only", w),
  });
  const [r, w, m] = [averages(ro), averages(wo), averages(rw)];
  const highest = p95("aws-only", wo, 192);
  const galera003 = replicationStudy.find((s) => s.id === "003/galera")!.points[0]!.tps!;
  return [
    percentClaim(
      "000",
      "AWS-only reads more per second than Proxmox-only",
      63.5,
      r.aws / r.proxmox - 1,
      `${r.aws} / ${r.proxmox} - 1`,
    ),
    percentClaim("000", "hybrid reads less than AWS-only", 43.6, 1 - r.hybrid / r.aws, `1 - ${r.hybrid} / ${r.aws}`),
    percentClaim("000", "hybrid writes less than AWS-only", 12.1, 1 - w.hybrid / w.aws, `1 - ${w.hybrid} / ${w.aws}`),
    percentClaim(
      "000",
      "AWS-only writes more than Proxmox-only",
      36.9,
      w.aws / w.proxmox - 1,
      `${w.aws} / ${w.proxmox} - 1`,
    ),
    {
      study: "000",
      claim: "reading, the hybrid lies in the middle of the three",
      verdict: r.hybrid < Math.min(r.aws, r.proxmox) ? "contradicted" : "follows",
      found: `hybrid ${r.hybrid} tps is the lowest: Proxmox-only ${r.proxmox}, AWS-only ${r.aws}`,
    },
    {
      study: "000",
      claim: "AWS-only writes fastest of the three",
      verdict: w.aws > Math.max(w.hybrid, w.proxmox) ? "follows" : "contradicted",
      found: `${w.aws} against ${w.hybrid} (hybrid) and ${w.proxmox} (Proxmox-only)`,
    },
    {
      study: "000",
      claim: "in the mixed workload the hybrid is slightly slower than Proxmox-only",
      verdict: m.hybrid < m.proxmox ? "follows" : "contradicted",
      found: `${m.hybrid} / ${m.proxmox} - 1 = ${percent(m.hybrid / m.proxmox - 1)}`,
    },
    {
      study: "000",
      claim: "in the mixed workload the hybrid is more predictable than Proxmox-only",
      verdict: "not from these figures",
      found: `one average p95 each (${average("hybrid", rw).averageP95} and ${average("proxmox-only", rw).averageP95} ms): a lower percentile is not a smaller spread, and there are no repeats`,
    },
    {
      study: "000",
      claim: "AWS-only's write p95 at 192 threads is over 200 times its minimum",
      verdict: "not checkable",
      found: `the write minimum is not published; the claim needs it below ${(highest / 200).toFixed(1)} ms. Against the only published minimum, of the read-only test, ${highest} / ${p95("aws-only", ro, 1)} = ${(highest / p95("aws-only", ro, 1)).toFixed(0)}, which mixes two workloads`,
    },
    {
      study: "000",
      claim: "the slowest node is the bottleneck of writes",
      verdict: w.hybrid > w.proxmox ? "contradicted" : "not checkable",
      found: `the hybrid, with one Proxmox node and a WAN, writes ${percent(w.hybrid / w.proxmox - 1)} more than three Proxmox nodes: a node of that kind does not set the pace by itself. Flow control and the disk that the three may share are not separated`,
    },
    {
      study: "000",
      claim: "write throughput is capped by the protocol, whatever the hardware",
      verdict: "contradicted",
      found: `no database without Galera was measured, so the protocol is not separated from the machines; and study 003's Galera, on other hardware, does ${galera003.toFixed(0)} mixed transactions per second against ${m.aws} here (3 instead of 4 writes each)`,
    },
    {
      study: "000",
      claim: "the latency curve over threads is exponential",
      verdict: "not from these figures",
      found: `write p95 is given at one thread count per set and as a bound (over 1,200 ms) at 64. In a closed loop at constant throughput mean latency is threads / tps, a straight line: ${w.aws} tps give ${((64 / w.aws) * 1000).toFixed(0)} ms at 64 and ${((192 / w.aws) * 1000).toFixed(0)} ms at 192`,
    },
    {
      study: "000",
      claim: "the hybrid's read penalty comes from reads that cross the VPN to the Proxmox node",
      verdict: "not checkable",
      found:
        "neither RTT nor routing counters were recorded; a readwritesplit router keeps everything between BEGIN and COMMIT on the primary, so sysbench's read-only transactions need not have gone there",
    },
    {
      study: "000",
      claim: "rounded trade-off: about 40 % of reads and about 10 % of writes",
      verdict: "follows",
      found: `${percent(1 - r.hybrid / r.aws)} and ${percent(1 - w.hybrid / w.aws)}, both rounded in the hybrid's favour`,
    },
  ];
}

function distanceClaims(): Claim[] {
  const columns = Object.keys(distanceTable) as DistanceColumn[];
  const [single, near] = [distanceTable["1xFra"], distanceTable["3xFra"]];
  const apart = columns.flatMap((c) =>
    distanceTable[c].rw.map((v, i) => ({ c, threads: distanceThreads[i]!, change: v / distanceTable[c].ro[i]! - 1 })),
  );
  const largest = apart.reduce((a, b) => (Math.abs(b.change) > Math.abs(a.change) ? b : a));
  const typical = mean(apart.map((a) => a.change));
  const bytesPerRow = 12e9 / (24 * 2_000_000);
  return [
    {
      study: "001",
      claim: "24 tables of 2,000,000 rows are about 12 GB",
      verdict: bytesPerRow > 190 && bytesPerRow < 300 ? "follows" : "contradicted",
      found: `12 GB / 48,000,000 = ${bytesPerRow.toFixed(0)} bytes per row; a row holds 188 bytes, and InnoDB's overhead and the index on k come on top`,
    },
    {
      study: "001",
      claim: "the second table measures reads and writes",
      verdict: "not from these figures",
      found: `over all 28 cells read-write is ${percent(typical)} off read-only on average (at most ${percent(largest.change)}: ${largest.c}, ${largest.threads} threads), though it adds four writes and a synchronous commit: the figures show no cost of writing`,
    },
    {
      study: "001",
      claim: "reading slows down because the nodes are apart",
      verdict: "not from these figures",
      found: `one thread falls from ${near.ro[0]} to ${distanceTable["1xHel-2xFra"].ro[0]} tps although a Galera node answers reads by itself: ${(1000 / distanceTable["1xHel-2xFra"].ro[0] - 1000 / near.ro[0]).toFixed(1)} ms more per transaction have to be the load's own way to the server`,
    },
    {
      study: "001",
      claim: "loading takes longer with every step of distance",
      verdict: "follows",
      found: columns.map((c) => `${c} x${(distanceTable[c].prepare / single.prepare).toFixed(2)}`).join(", "),
    },
  ];
}

function storageClaims(): Claim[] {
  return [
    {
      study: "002",
      claim: `${storageStudy.configurationsAnnounced} configurations`,
      found: `${storageStudy.configurations.length} are listed, A to J`,
      verdict:
        storageStudy.configurations.length === Number(storageStudy.configurationsAnnounced)
          ? "follows"
          : "contradicted",
    },
    {
      study: "002",
      claim: "a VM on ext4 over a zvol loses half of the performance",
      found: storageStudy.figures,
      verdict: "not checkable",
    },
    {
      study: "002",
      claim: "bare metal and LXC with an NVMe SLOG are the best",
      found: storageStudy.figures,
      verdict: "not checkable",
    },
    {
      study: "002",
      claim: "bare metal against VM against container is compared on the same machine",
      verdict: "not from these figures",
      found: `bare metal had ${storageStudy.bareMetal.cores} cores, ${storageStudy.bareMetal.memoryGb} GB and ${storageStudy.bareMetal.disks}; guests ${storageStudy.guests.cores} cores, ${storageStudy.guests.memoryGb} GB and a ${storageStudy.guests.disks}: virtualisation, CPU, memory and disk layout change together`,
    },
  ];
}

function replicationClaims(): Claim[] {
  const [gr, galera] = ["gr", "galera"].map((n) => replicationStudy.find((s) => s.id === `003/${n}`)!);
  return [
    {
      study: "003",
      claim: "semi-synchronous replication is faster than both",
      found: "no semi-synchronous run is published",
      verdict: "not checkable",
    },
    {
      study: "003",
      claim: "both were loaded with sysbench's mixed workload alike",
      verdict: "follows",
      found: [gr!, galera!]
        .map(
          (s) =>
            `${s.id}: ${s.points[0]!.mix!.read.toFixed(2)} reads and ${s.points[0]!.mix!.write.toFixed(2)} writes per transaction`,
        )
        .join("; "),
    },
    {
      study: "003",
      claim: "the figures show Galera ahead of Group Replication",
      verdict: galera!.points[0]!.tps! > gr!.points[0]!.tps! ? "follows" : "contradicted",
      found: `${galera!.points[0]!.tps!.toFixed(1)} / ${gr!.points[0]!.tps!.toFixed(1)} - 1 = ${percent(galera!.points[0]!.tps! / gr!.points[0]!.tps! - 1)}, on two different hosts, each with flow control out of the way`,
    },
  ];
}

function leaseholderClaims(): Claim[] {
  const perCall = leaseFacts.queriesPerSecond / leaseFacts.transactionsPerSecond;
  const swing = leaseFacts.leasesOfSwingingNode.high - leaseFacts.leasesOfSwingingNode.low;
  return [
    {
      study: "004",
      claim: `about ${leaseFacts.statementsPerCall} statements per call`,
      found: `${leaseFacts.queriesPerSecond} / ${leaseFacts.transactionsPerSecond} = ${perCall.toFixed(0)}`,
      verdict: Math.abs(perCall / leaseFacts.statementsPerCall - 1) < 0.05 ? "follows" : "contradicted",
    },
    ...leaseRuns.map((r): Claim => {
      const expected = 1 / r.avgSeconds;
      // One decimal of a rounded figure such as 0.08 or 0.4 is worth up to 15 %.
      const fits = Math.abs(r.tps / expected - 1) <= 0.15;
      return {
        study: "004",
        claim: `${r.label}, ${r.cloud}: ${r.avgSeconds} s and ${r.tps} transactions per second from one thread`,
        verdict: fits ? "follows" : "contradicted",
        found: `one thread at ${r.avgSeconds} s makes ${expected.toFixed(2)} per second${fits ? "" : `; ${r.tps} means ${(1 / r.tps).toFixed(1)} s per call, so ${(1 / r.tps - r.avgSeconds).toFixed(1)} s were spent outside the measured response`}`,
      };
    }),
    {
      study: "004",
      claim: "10 to 13 ms per remote read explain the slow runs",
      verdict: "not from these figures",
      found:
        "the 10 to 13 ms were inferred from the slow runs themselves (10 to 13 s / 1,000): that they match is no evidence; the RTT was not measured",
    },
    {
      study: "004",
      claim: "2 ms per local read explain the fast runs (1.3 to 2.3 s)",
      verdict: "rounding",
      found: `1,000 x ${leaseFacts.localReadMs} ms = 2 s; the rerun's 1.3 s leaves 1.3 ms per read`,
    },
    {
      study: "004",
      claim: `the node's lease count changed only by about ${leaseFacts.statedChange}`,
      verdict: swing === leaseFacts.statedChange ? "follows" : "rounding",
      found: `${leaseFacts.leasesOfSwingingNode.low} to ${leaseFacts.leasesOfSwingingNode.high} is ${swing}`,
    },
  ];
}

export function checkClaims(): Claim[] {
  return [...hybridClaims(), ...distanceClaims(), ...storageClaims(), ...replicationClaims(), ...leaseholderClaims()];
}
