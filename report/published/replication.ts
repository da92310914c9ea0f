/** Study 003: MySQL 5.7 Group Replication against MariaDB 10.1.19 Galera, 128 threads, ten intervals of 10 s each. */
import type { PublishedInterval, PublishedSet } from "./set.ts";

/** tps, reads/s, writes/s and p95 (ms) per 10 s interval; errors and reconnects are 0.00 in every line. */
const lines = {
  gr: [
    [768.46, 10937.14, 2339.68, 335.94],
    [1009.4, 14132.12, 3031.3, 214.42],
    [1060, 14840.01, 3179.3, 195.94],
    [1042.69, 14597.3, 3129.28, 203.54],
    [1083.11, 15163.89, 3249.42, 189.03],
    [979.3, 13710.2, 2938, 210.79],
    [974.39, 13641.44, 2922.97, 199.02],
    [762.01, 10593.03, 2267.93, 360.43],
    [960.3, 13519.3, 2897.3, 286.83],
    [1015.3, 14214.2, 3046.3, 188.41],
  ],
  galera: [
    [1207.93, 17081.43, 3656.79, 113.88],
    [1302, 18227.01, 3904.7, 112.76],
    [1287.1, 18021.19, 3863, 112.79],
    [1279.6, 17913.7, 3839.2, 114.97],
    [1289.8, 18058.41, 3869.7, 114.46],
    [1275.2, 17850.9, 3824.9, 116.12],
    [1243.3, 17406.47, 3729.99, 118.15],
    [1287.2, 18020.37, 3861.19, 114.08],
    [1283.2, 17967.07, 3850.01, 114.7],
    [1261.3, 17656.79, 3783.5, 117.41],
  ],
} as const;

const names = { gr: "MySQL 5.7 Group Replication", galera: "MariaDB 10.1.19 Galera" } as const;
const options = {
  gr: "group_replication_flow_control_mode=DISABLED, slave_parallel_type=LOGICAL_CLOCK, slave_parallel_workers=24, buffer pool 30G",
  galera: "gcs.fc_limit=1000K, wsrep_slave_threads=24, buffer pool 30G",
} as const;

const mean = (values: readonly number[]) => values.reduce((a, b) => a + b, 0) / values.length;

export const replicationStudy: PublishedSet[] = (["gr", "galera"] as const).map((name) => {
  const intervals: PublishedInterval[] = lines[name].map(([tps, reads, writes, p95], i) => ({
    t: (i + 1) * 10,
    tps,
    reads,
    writes,
    p95,
    errors: 0,
    reconnects: 0,
  }));
  const tps = mean(intervals.map((i) => i.tps));
  const p95s = intervals.map((i) => i.p95);
  const read = mean(intervals.map((i) => i.reads)) / tps;
  const write = mean(intervals.map((i) => i.writes)) / tps;
  return {
    id: `003/${name}`,
    title: `${names[name]}, three nodes, one writer`,
    source: 'hcymysql, "MySQL 5.7 GR vs MariaDB 10.1.19 Galera Cluster", 51CTO blog, article 1889706',
    hardware:
      "three Dell R720, 64 GB RAM, RAID-10 of 15,000 rpm SAS disks; each host ran both servers on different ports",
    versions: `${names[name]}, sysbench 0.5`,
    howMeasured:
      "sysbench 0.5, 128 threads, 10 tables of 1,000,000 rows, load on the primary only, one line per 10 s, ten lines",
    unit: { tables: 10, "rows per table": 1_000_000, "table options": null, reconnect: "never" },
    method: {
      "load generator": "sysbench 0.5",
      "client protocol": "mysql",
      "window (s)": "100",
      "warm-up (s)": "0",
      repeats: "1",
      "thread counts": "128",
      "prepared statements": null,
      routing: "one endpoint",
      "TLS to the database": null,
    },
    environment: {
      database: names[name],
      "server version": null,
      "database options": options[name],
      proxy: null,
      "database nodes": 3,
      sites: "one network (3)",
      "driver host": null,
      "stand-ins": null,
    },
    points: [
      {
        workload: "oltp_read_write",
        threads: 128,
        tps,
        mix: { read, write, other: null },
        notes: [
          `tps is the mean of ten intervals; p95 of the intervals lies between ${Math.min(...p95s)} and ${Math.max(...p95s)} ms (percentiles cannot be averaged)`,
          "other statements per transaction not stated",
        ],
      },
    ],
    given: [],
    intervals,
    notStated: [
      "mean latency",
      "RTT between the hosts",
      "where sysbench ran",
      "whether the other server on the same hosts was idle",
      "innodb_flush_log_at_trx_commit and sync_binlog",
    ],
    conditions: [
      "flow control was switched off or set out of reach on both: replicas may fall behind, so the throughput need not be sustainable",
      "the load went to 192.168.143.244 for Group Replication and to 192.168.143.245 for Galera: two machines of the same model, not the same one",
      "14 reads and 3 writes per transaction: sysbench 1.0's oltp_read_write has 14 and 4, so the unit of work is not the same",
    ],
  };
});
