/** Study 001: MariaDB Galera at growing distance between its nodes (one data centre to three), complete tables. */
import type { PublishedSet } from "./set.ts";

export const distanceThreads = [1, 2, 4, 8, 16, 32, 64] as const;

/** Transactions per second by column; minutes and seconds of `prepare` with 8 threads. */
export const distanceTable = {
  "1xFra": {
    prepare: 7 * 60 + 13.109,
    ro: [431.91, 823.8, 1456.73, 1964.09, 1671.03, 1584.25, 1605.12],
    rw: [435.76, 818.18, 1462.6, 1967.4, 1677.83, 1569.35, 1596.89],
  },
  "3xFra": {
    prepare: 18 * 60 + 20.911,
    ro: [428.18, 797.25, 1289.39, 1319.78, 1320.83, 1307.16, 1331.82],
    rw: [393.46, 742.99, 1230.78, 1305.09, 1321.16, 1321.29, 1328.96],
  },
  "1xHel-2xFra": {
    prepare: 51 * 60 + 19.007,
    ro: [28.23, 44.45, 64.45, 127.07, 241.63, 466.3, 784.52],
    rw: [27.2, 43.41, 64.21, 119.53, 219.1, 469.44, 782.56],
  },
  "1xHel-1xFra-1xLon": {
    prepare: 70 * 60 + 30.954,
    ro: [20.12, 38.72, 62.86, 122.77, 218.91, 399.04, 581.57],
    rw: [20.31, 38.59, 61.87, 118.12, 221.3, 374.98, 548.7],
  },
} as const;

export type DistanceColumn = keyof typeof distanceTable;

const titles: Record<DistanceColumn, { title: string; nodes: number; sites: string }> = {
  "1xFra": { title: "single node", nodes: 1, sites: "Frankfurt (1)" },
  "3xFra": { title: "three nodes in one data centre", nodes: 3, sites: "Frankfurt (3)" },
  "1xHel-2xFra": { title: "three nodes, one in another data centre", nodes: 3, sites: "Helsinki (1), Frankfurt (2)" },
  "1xHel-1xFra-1xLon": {
    title: "three nodes in three data centres of one continent",
    nodes: 3,
    sites: "Helsinki (1), Frankfurt (1), London (1)",
  },
};

export const distanceStudy: PublishedSet[] = (Object.keys(distanceTable) as DistanceColumn[]).map((column) => {
  const { prepare, ro, rw } = distanceTable[column];
  const { title, nodes, sites } = titles[column];
  return {
    id: `001/${column}`,
    title,
    source: "blog post of 3 February 2016 on MariaDB 10.1 Galera at UpCloud",
    hardware: "UpCloud VPS, 10 vCPUs, 32 GB RAM, 50 GB MAXIOPS disk",
    versions: "MariaDB 10.1.11 (Debian 8 package), sysbench 0.5 from Percona's repository",
    howMeasured:
      "sysbench oltp.lua, 24 tables of 2,000,000 rows (about 12 GB), 300 s per thread count, --oltp-reconnect-mode=random, 10 s pause, single run",
    unit: { tables: 24, "rows per table": 2_000_000, "table options": null, reconnect: "random" },
    method: {
      "load generator": "sysbench 0.5",
      "client protocol": "mysql",
      "window (s)": "300",
      "warm-up (s)": "0",
      repeats: "1",
      "thread counts": distanceThreads.join(", "),
      "prepared statements": null,
      routing: null,
      "TLS to the database": null,
    },
    environment: {
      database: nodes === 1 ? "MariaDB 10.1.11" : "MariaDB Galera 10.1.11",
      "server version": "10.1.11-MariaDB",
      "database options":
        "innodb_buffer_pool_size=16G, innodb_buffer_pool_instances=16, innodb_log_buffer_size=4G, innodb_io_capacity=10000, innodb_flush_neighbors=0",
      proxy: null,
      "database nodes": nodes,
      sites: sites,
      "driver host": null,
      "stand-ins": null,
    },
    points: [
      ...distanceThreads.map((threads, i) => ({ workload: "oltp_read_only", threads, tps: ro[i]! })),
      ...distanceThreads.map((threads, i) => ({ workload: "oltp_read_write", threads, tps: rw[i]! })),
    ],
    given: [],
    prepareSeconds: prepare,
    notStated: [
      "latencies",
      "RTT between the data centres",
      "where sysbench ran and which node it used",
      "encryption between the sites",
      "Galera options",
    ],
    conditions: [
      "sysbench reconnected at random between transactions: connection set-up is part of the figures, and over a WAN it costs several round trips each",
      "single run, as the source says itself: no uncertainty can be given",
      "read-only throughput falls with distance as much as read-write, although reading on Galera crosses no WAN: the load itself seems to have crossed it",
    ],
  };
});
