/**
 * The one thing that infra, workloads, cli and report share: a RunSpec goes to the driver node, a RunResult comes back.
 * Both are versioned; a reader accepts every version up to its own. Times are milliseconds unless the name says
 * otherwise.
 */
import { z } from "zod";

/** Raised when a field changes meaning or disappears; new optional fields do not raise it. */
export const SCHEMA_VERSION = 1;

const name = z.string().regex(/^[a-zA-Z0-9][a-zA-Z0-9_.-]{0,62}$/, "letters, digits, '_', '.', '-', at most 63");
const count = z.number().int().positive();
const seconds = z.number().nonnegative();

/** One address that speaks the database's protocol. `proxy` routes by itself; `any` takes reads and writes. */
export const endpointSchema = z.strictObject({
  name,
  host: z.string().min(1),
  port: z.number().int().min(1).max(65535),
  /** In place of host and port. MySQL: the socket's path; PostgreSQL: the directory that it lies in. */
  socket: z.string().startsWith("/").optional(),
  role: z.enum(["any", "primary", "replica", "proxy"]).default("any"),
});

export const targetSchema = z.strictObject({
  driver: z.enum(["mysql", "postgres"]),
  endpoints: z.array(endpointSchema).min(1),
  policy: z.enum(["round-robin", "random", "first-alive", "read-write-split"]).default("round-robin"),
  database: z.string().min(1).default("sbtest"),
  user: z.string().min(1),
  /**
   * Secrets never stand in a spec: the password is read from this file (mode 0600), or from MESHBENCH_DB_PASSWORD.
   */
  passwordFile: z.string().optional(),
  tls: z
    .strictObject({ mode: z.enum(["off", "require", "verify"]), caFile: z.string().optional() })
    .default({ mode: "off" }),
  /**
   * never; random: before an event with the chance that sysbench 0.5's reconnect-mode=random gives; N: every N
   * events.
   */
  reconnect: z.union([z.enum(["never", "random"]), count]).default("never"),
  /** New connections per second over all workers; 0 is no limit. */
  connectRate: z.number().nonnegative().default(0),
  connectTimeoutMs: count.default(10_000),
  /** Absent: 30 s, or as long as the server lets a statement wait for a row lock and 5 s more. */
  statementTimeoutMs: count.optional(),
  /** sysbench's --db-ps-mode. */
  preparedStatements: z.enum(["auto", "disable"]).default("auto"),
});

/** Options by name (underscored); which exist and their defaults: the workload's own description. */
export const optionsSchema = z.record(z.string(), z.union([z.number(), z.string(), z.boolean()]));

export const dataSchema = z.strictObject({
  tables: count.default(1),
  tableSize: z.number().int().nonnegative().default(10_000),
  /** Table options by sysbench's names: auto_inc, secondary, create_secondary, rand-type ... */
  options: optionsSchema.default({}),
  /** Connections that load at once. */
  threads: count.default(4),
  method: z.enum(["auto", "load-data", "copy", "insert"]).default("auto"),
  /** MySQL: whether the load may set local_infile=ON on the server for as long as it goes on. Absent: keep. */
  localInfile: z.enum(["keep", "set"]).optional(),
});

export const stepSchema = z.strictObject({
  workload: z.string().min(1),
  threads: count,
  warmupSeconds: seconds.default(5),
  durationSeconds: z.number().positive().default(60),
  repeats: count.default(1),
  intervalSeconds: z.number().positive().default(1),
  /** Open loop: events per second over all workers. Absent: closed loop. */
  rate: z
    .strictObject({
      /** A loop that only counts arrivals manages about ten times as many. */
      perSecond: z.number().positive().max(1_000_000),
      arrivals: z.enum(["constant", "poisson"]).default("poisson"),
      /** Events that may wait at most; what comes on top is dropped and counted. */
      maxBacklog: count.default(100_000),
    })
    .optional(),
  options: optionsSchema.default({}),
});

/** A node whose own state is sampled through SQL (server facts), not through the proxy. */
export const observedNodeSchema = z.strictObject({
  name,
  host: z.string(),
  port: z.number().int(),
  socket: z.string().startsWith("/").optional(),
  site: z.string().optional(),
});

/**
 * Which round trips between database nodes a commit waits for. none: it is the server's own business; farthest-member:
 * one to the farthest node of the group.
 */
export const commitRule = z.enum(["none", "farthest-member"]);
export type CommitRule = z.infer<typeof commitRule>;

/** What the infrastructure knows and the driver does not: copied into the result as it is. */
export const contextSchema = z.looseObject({
  project: z.string().optional(),
  stack: z.string().optional(),
  topology: z
    .looseObject({
      sites: z.array(z.looseObject({ name: z.string(), kind: z.string(), nodes: z.number().int() })),
      nodes: z.array(
        z.looseObject({ name: z.string(), site: z.string(), role: z.string(), meshAddress: z.string().optional() }),
      ),
      links: z
        .array(z.looseObject({ between: z.array(z.string()).length(2), rttMs: z.number().optional() }))
        .default([]),
    })
    .optional(),
  database: z
    .looseObject({
      engine: z.string(),
      /** How the nodes replicate: none, galera, ... */
      replication: z.string().optional(),
      /** Engine and replication for people. */
      title: z.string().optional(),
      commit: commitRule.optional(),
      version: z.string().optional(),
      options: z.record(z.string(), z.unknown()).optional(),
    })
    .optional(),
  proxy: z.looseObject({ kind: z.string(), version: z.string().optional(), node: z.string().optional() }).optional(),
  /** Measured before the run, one entry per ordered pair of nodes. */
  rttMatrix: z
    .array(
      z.looseObject({
        from: z.string(),
        to: z.string(),
        rttMs: z
          .strictObject({ min: z.number(), avg: z.number(), max: z.number(), mdev: z.number().optional() })
          .nullable(),
        lossPercent: z.number().optional(),
        pathMtu: z.number().nullable().optional(),
        mbitPerSecond: z.number().nullable().optional(),
      }),
    )
    .optional(),
  /** Stand-ins and emulations that served this run, each in words ("local node stands in for an EC2 instance"). */
  standIns: z.array(z.string()).default([]),
  cost: z.looseObject({}).optional(),
});

export const runSpecSchema = z.strictObject({
  schema: z.number().int().min(1).max(SCHEMA_VERSION).default(SCHEMA_VERSION),
  runId: name,
  seed: z.number().int().nonnegative().max(Number.MAX_SAFE_INTEGER).default(1),
  target: targetSchema,
  data: dataSchema.prefault({}),
  steps: z.array(stepSchema).min(1),
  /**
   * given: step by step, repeats together; interleaved: all steps once, then again; random: all shuffled by the seed.
   */
  order: z.enum(["given", "interleaved", "random"]).default("given"),
  /** Pause between two windows, seconds. */
  restSeconds: seconds.default(0),
  observe: z.array(observedNodeSchema).default([]),
  /** Event loops (threads) of each driver; absent: as many as its cores and the connections are worth. */
  workers: count.optional(),
  /**
   * Several driver nodes run one spec: threads and rates are totals, each node takes its share. They begin together: at
   * `startAt` by their own clocks, or window by window when all of them stand ready, with their clocks compared
   * (`meet`).
   */
  drivers: z
    .strictObject({
      index: z.number().int().nonnegative(),
      count,
      startAt: z.string().optional(),
      /** Where driver 0 listens and the others call; `key` names the run, and drivers of another one are sent away. */
      meet: z
        .strictObject({
          host: z.string().min(1),
          port: z.number().int().min(1).max(65535),
          key: z.string().min(1).max(100),
        })
        .optional(),
    })
    .optional(),
  context: contextSchema.prefault({}),
});

export type Endpoint = z.infer<typeof endpointSchema>;
export type Target = z.infer<typeof targetSchema>;
export type DataSpec = z.infer<typeof dataSchema>;
export type Step = z.infer<typeof stepSchema>;
export type RunContext = z.infer<typeof contextSchema>;
export type RunSpec = z.infer<typeof runSpecSchema>;
export type RunSpecInput = z.input<typeof runSpecSchema>;

const latencySchema = z.strictObject({
  min: z.number(),
  avg: z.number(),
  p50: z.number(),
  p90: z.number(),
  p95: z.number(),
  p99: z.number(),
  p999: z.number(),
  max: z.number(),
});

export const intervalSchema = z.looseObject({
  /** End of the interval, seconds since the window opened. */
  t: z.number(),
  tps: z.number(),
  qps: z.number(),
  reads: z.number(),
  writes: z.number(),
  others: z.number(),
  p95: z.number().nullable(),
  errors: z.number(),
  reconnects: z.number(),
  /** Its length, and the counts behind the rates: their sums over the window are the window's own counts. */
  seconds: z.number().optional(),
  transactions: z.number().int().optional(),
  queries: z.strictObject({ read: z.number().int(), write: z.number().int(), other: z.number().int() }).optional(),
  restarts: z.number().int().optional(),
  mismatches: z.number().int().optional(),
  driverCpu: z.number().optional(),
  eventLoopDelayP99Ms: z.number().optional(),
});

/** Per cent; min and max of one-second samples. */
const spreadSchema = z.strictObject({ min: z.number(), avg: z.number(), max: z.number() });

/**
 * What a node's system did in one window, sampled on the node once a second. A part that could not be had is absent,
 * and `gap` says why.
 */
export const hostLoadSchema = z.looseObject({
  node: z.string(),
  /** Whose CPU time `cpu` is: the machine's, or, of a node that is a container, the container's own. */
  source: z.enum(["machine", "container"]).optional(),
  /** What 100 % of `cpu` is: processors, or the container's limit where its own control group tells one. */
  cores: z.number().optional(),
  cpu: spreadSchema.optional(),
  /**
   * As /proc shows it: on a container's node the machine that it shares, unless something like lxcfs shows it its own.
   */
  machine: z
    .looseObject({
      cpu: spreadSchema,
      steal: spreadSchema,
      iowait: spreadSchema,
      memoryAvailableMinMb: z.number().optional(),
      diskReadBytes: z.number().optional(),
      diskWrittenBytes: z.number().optional(),
    })
    .optional(),
  /** Through the node's mesh interface. */
  mesh: z.looseObject({ receivedBytes: z.number(), sentBytes: z.number() }).optional(),
  /** Samples taken inside the window. */
  samples: z.number().int().optional(),
  /**
   * The node's clock less the driver's, when the samples were fetched. Windows are found by time since boot, so it
   * moves no figure.
   */
  clockOffsetMs: z.number().optional(),
  gap: z.string().optional(),
});

/** The begin that drivers agreed on. Milliseconds. */
const startSchema = z.looseObject({
  /**
   * Clock of driver 0 minus this driver's, and the half round trip that bounds its error; null when clocks were not
   * compared.
   */
  clockOffsetMs: z.number().nullable(),
  clockUncertaintyMs: z.number().nullable(),
  /** How much later than agreed this driver was ready. */
  lateMs: z.number(),
});

const hostSchema = z.looseObject({
  hostname: z.string(),
  cpus: z.number(),
  cpuModel: z.string().optional(),
  memoryMb: z.number().optional(),
  kernel: z.string().optional(),
});

const driverShareSchema = z.looseObject({
  index: z.number().int(),
  host: z.string(),
  transactions: z.number().int(),
  tps: z.number(),
  cpuPercent: z.number(),
  eventLoopDelayP99Ms: z.number(),
  saturated: z.boolean(),
  reasons: z.array(z.string()),
  start: startSchema.optional(),
});

const outsideSchema = z.looseObject({
  transactions: z.number().int(),
  queries: z.number().int(),
  errors: z.number().int(),
  byCode: z.record(z.string(), z.number().int()),
});

export const stepResultSchema = z.looseObject({
  /** Index of the step in the spec, and which repeat of it this is (0-based). */
  step: z.number().int(),
  repeat: z.number().int(),
  workload: z.string(),
  threads: z.number().int(),
  startedAt: z.string(),
  windowSeconds: z.number(),
  complete: z.boolean(),
  incompleteReason: z.string().optional(),
  transactions: z.number().int(),
  queries: z.strictObject({
    read: z.number().int(),
    write: z.number().int(),
    other: z.number().int(),
    total: z.number().int(),
  }),
  tps: z.number(),
  qps: z.number(),
  /**
   * Closed loop: of the event, restarts included. Open loop: from the intended start. Of the events that ended in the
   * window, and of those that were in hand or in the backlog when it closed, which end in the drain or have waited at
   * least as long as they are recorded with. Null when nothing succeeded.
   */
  latency: latencySchema.nullable(),
  /** Open loop only: from the actual start. */
  serviceLatency: latencySchema.nullable().optional(),
  /** HDR histogram of `latency` in microseconds, V2 compressed, base64. */
  histogram: z.string().optional(),
  /** Open loop only: the same of `serviceLatency`. */
  serviceHistogram: z.string().optional(),
  errors: z.strictObject({
    total: z.number().int(),
    /** By the server's or system's code: "1213", "40001", "ECONNRESET". */
    byCode: z.record(z.string(), z.number().int()),
    /** Events restarted after an ignorable error. */
    restarts: z.number().int(),
    /** First message of each code. */
    messages: z.record(z.string(), z.string()).optional(),
  }),
  reconnects: z.number().int(),
  /**
   * The longest stretch without a success: less what the driver itself stood still for, and in an open loop less the
   * time in which nothing was due. One that lasts at the close goes on into the drain.
   */
  outage: z
    .looseObject({
      longestGapSeconds: z.number(),
      gapStartedAt: z.number().nullable(),
      firstSuccessAfter: z.number().nullable(),
    })
    .optional(),
  /** Rows that a statement returned or changed against what the data must give; and answers that were decoded. */
  checks: z
    .looseObject({ mismatches: z.number().int(), sampled: z.number().int(), sampledWrong: z.number().int() })
    .optional(),
  /** Events in hand at the close: those that ended afterwards, and those that were given up. In no other count. */
  drain: z.looseObject({ drained: z.number().int(), abandoned: z.number().int() }).optional(),
  /** What happened outside the window and is in none of its counts. */
  outside: z.looseObject({ connect: outsideSchema, warmup: outsideSchema, drain: outsideSchema }).optional(),
  intervals: z.array(intervalSchema),
  driver: z.looseObject({
    cpuSeconds: z.number(),
    cpuPercent: z.number(),
    eventLoopDelayP99Ms: z.number(),
    saturated: z.boolean(),
    reasons: z.array(z.string()),
    /** Event loops that stood still: the longest stretch, and all of them together in the worst loop. Seconds. */
    stalls: z.looseObject({ longestSeconds: z.number(), totalSeconds: z.number() }).optional(),
    /** fast: the project's packet codec; library: the client library's own execute. */
    path: z.string().optional(),
    /** One of several drivers: how its begin was agreed. */
    start: startSchema.optional(),
    /** A merged result: the share of each driver. */
    each: z.array(driverShareSchema).optional(),
    /** A merged result: from the first driver's begin to the last one's, and how far that may be off. Milliseconds. */
    startSkewMs: z.number().optional(),
    startSkewUncertaintyMs: z.number().nullable().optional(),
  }),
  openLoop: z
    .looseObject({
      requestedPerSecond: z.number(),
      achievedPerSecond: z.number(),
      maxBacklog: z.number(),
      dropped: z.number(),
      /** Due inside the window: done, in the drain, given up, dropped, or never begun; less those carried in. */
      offered: z.number().int().optional(),
      /** Under way when the window opened. */
      carriedIn: z.number().int().optional(),
      /** Never begun; `latency` has them with the time that they had waited at the close. */
      backlogAtEnd: z.number().int().optional(),
    })
    .optional(),
  /** Per observed node: counters at both ends of the window and their differences. */
  server: z
    .array(
      z.looseObject({
        node: z.string(),
        delta: z.record(z.string(), z.number()).optional(),
        end: z.record(z.string(), z.union([z.string(), z.number()])).optional(),
        error: z.string().optional(),
      }),
    )
    .default([]),
  /** Every node of the topology: database, proxy, driver. Absent where nobody sampled them. */
  hosts: z.array(hostLoadSchema).optional(),
});

/**
 * Over the repeats of one step. ci95 is half the width of the 95 % confidence interval (Student t); null below two
 * repeats.
 */
export const statSchema = z.strictObject({
  n: z.number().int(),
  mean: z.number(),
  sd: z.number().nullable(),
  ci95: z.number().nullable(),
});

export const summarySchema = z.looseObject({
  step: z.number().int(),
  workload: z.string(),
  threads: z.number().int(),
  tps: statSchema,
  qps: statSchema,
  latencyAvg: statSchema.nullable(),
  p95: statSchema.nullable(),
  p99: statSchema.nullable(),
  errors: z.number().int(),
  saturated: z.boolean(),
  complete: z.boolean(),
  /** What has to be known beside the figures, in words. */
  notes: z.array(z.string()).optional(),
});

export const runResultSchema = z.looseObject({
  schema: z.number().int().min(1).max(SCHEMA_VERSION),
  kind: z.literal("meshbench-result"),
  runId: z.string(),
  complete: z.boolean(),
  incompleteReason: z.string().optional(),
  startedAt: z.string(),
  finishedAt: z.string().nullable(),
  spec: runSpecSchema,
  engine: z.looseObject({
    name: z.string(),
    version: z.string(),
    node: z.string(),
    driverVersion: z.string().optional(),
  }),
  /** Of several drivers the first one's. */
  host: hostSchema,
  server: z
    .looseObject({ version: z.string().optional(), variables: z.record(z.string(), z.string()).optional() })
    .optional(),
  prepare: z
    .looseObject({
      seconds: z.number(),
      rows: z.number().int(),
      rowsPerSecond: z.number(),
      method: z.string(),
      reused: z.boolean().default(false),
    })
    .optional(),
  verify: z
    .looseObject({
      ok: z.boolean(),
      tables: z.array(z.looseObject({ table: z.string(), rows: z.number().int() })),
      problems: z.array(z.string()),
      notes: z.array(z.string()).optional(),
    })
    .optional(),
  /** About the run as a whole, such as rows beyond the table size. */
  notes: z.array(z.string()).optional(),
  /** A merged result: how many drivers were to take part, and those whose results are in it. */
  driverCount: z.number().int().optional(),
  drivers: z.array(z.looseObject({ index: z.number().int(), host: hostSchema.optional() })).optional(),
  /** Every window that was measured, in the order in which they ran. */
  steps: z.array(stepResultSchema),
  /** One entry per step of the spec that has at least one window. */
  summary: z.array(summarySchema),
});

export type Interval = z.infer<typeof intervalSchema>;
export type Start = z.infer<typeof startSchema>;
export type Latency = z.infer<typeof latencySchema>;
export type HostLoad = z.infer<typeof hostLoadSchema>;
export type StepResult = z.infer<typeof stepResultSchema>;
export type Stat = z.infer<typeof statSchema>;
export type StepSummary = z.infer<typeof summarySchema>;
export type RunResult = z.infer<typeof runResultSchema>;

/** One line per broken key: `steps[0].threads: 0; expected number to be >0`. */
export function explain(error: z.ZodError, input: unknown): string {
  return error.issues
    .map((issue) => {
      const key = issue.path
        .map((p, i) => (typeof p === "number" ? `[${p}]` : i === 0 ? String(p) : `.${String(p)}`))
        .join("");
      if (issue.code === "unrecognized_keys")
        return `${key ? `${key}.` : ""}${issue.keys.join(", ")}: no such key here`;
      const given = issue.path.reduce<unknown>(
        (value, p) => (value as Record<PropertyKey, unknown> | undefined)?.[p],
        input,
      );
      const why = issue.message.replace(/^(Too small|Too big|Invalid (input|option|string)): /, "");
      return `${key || "(document)"}: ${JSON.stringify(given) ?? "missing"}; ${why}`;
    })
    .join("\n");
}
