/**
 * Study 004: CockroachDB over Azure and AWS; the place of the leaseholders decides, and the order of the runs moves
 * them.
 */
import type { PublishedSet } from "./set.ts";

/** In the order in which they ran. Seconds and transactions per second, all "about". */
export const leaseRuns = [
  {
    run: "create-azure-1",
    api: "create_customer",
    cloud: "Azure",
    label: "Create Customer, run 1",
    avgSeconds: 2.3,
    tps: 0.4,
  },
  {
    run: "create-aws-1",
    api: "create_customer",
    cloud: "AWS",
    label: "Create Customer, run 1",
    avgSeconds: 10,
    tps: 0.1,
  },
  {
    run: "create-aws-2",
    api: "create_customer",
    cloud: "AWS",
    label: "Create Customer, rerun",
    avgSeconds: 1.3,
    tps: 0.75,
  },
  {
    run: "create-azure-2",
    api: "create_customer",
    cloud: "Azure",
    label: "Create Customer, rerun",
    avgSeconds: 13,
    tps: 0.08,
  },
  { run: "get-aws", api: "get_customer", cloud: "AWS", label: "Get Customer, next day", avgSeconds: 0.75, tps: 0.9 },
  {
    run: "get-azure",
    api: "get_customer",
    cloud: "Azure",
    label: "Get Customer, next day",
    avgSeconds: 4.6,
    tps: 0.14,
  },
] as const;

/** Further figures of the text. */
export const leaseFacts = {
  queriesPerSecond: 430,
  transactionsPerSecond: 0.43,
  statementsPerCall: 1000,
  localReadMs: 2,
  remoteReadMs: { low: 10, high: 13, inferred: true },
  leasesOfSwingingNode: { low: 27, high: 39 },
  statedChange: 10,
  runSeconds: 900,
  changeNoticedAtSeconds: 8 * 60,
  replicas: { azure: 2, aws: 1 },
} as const;

export const leaseholderStudy: PublishedSet[] = leaseRuns.map((r) => ({
  id: `004/${r.run}`,
  title: `${r.label}, from ${r.cloud}`,
  source: "techstaradmin.blogspot.com, post on leaseholders in a CockroachDB cluster over two clouds",
  hardware: "Kubernetes in Azure and in AWS, three database nodes (two in Azure, one in AWS); sizes not stated",
  versions: "CockroachDB and JMeter: versions not stated",
  howMeasured: "JMeter, one thread, 15 minutes per run, through an HTTP API; figures rounded in the text",
  unit: { tables: null, "rows per table": null, "table options": null, reconnect: null },
  method: {
    "load generator": "JMeter through an HTTP API",
    "client protocol": "http",
    "window (s)": "900",
    "warm-up (s)": null,
    repeats: "1",
    "thread counts": "1",
    "prepared statements": null,
    routing: `the database nodes of ${r.cloud}`,
    "TLS to the database": null,
  },
  environment: {
    database: "CockroachDB",
    "server version": null,
    "database options": "no multi-region locality: leases follow the workload",
    proxy: null,
    "database nodes": 3,
    sites: "Azure (2), AWS (1), VPN between them",
    "driver host": null,
    "stand-ins": null,
  },
  points: [
    {
      workload: r.api,
      threads: 1,
      tps: r.tps,
      avg: r.avgSeconds * 1000,
      ...(r.run === "create-azure-1"
        ? { qps: leaseFacts.queriesPerSecond, notes: ["430 queries per second against 0.43 transactions per second"] }
        : {}),
    },
  ],
  given: [],
  notStated: ["percentiles", "RTT between the clouds", "lease placement before each run", "data size"],
  conditions: [
    "each run inherits the lease placement that the run before it left: the order of the runs is part of the result",
    "rounded figures of one run each",
  ],
}));
