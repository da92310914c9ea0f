/** What one window of a step gave. */
import { z } from "zod";

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
  /** See the window's. */
  roundTrips: z.number().int().optional(),
  restarts: z.number().int().optional(),
  mismatches: z.number().int().optional(),
  driverCpu: z.number().optional(),
  eventLoopDelayP99Ms: z.number().optional(),
  /** Nodes that took writes at its end, where they are asked (target.roles). */
  primary: z.array(z.string()).optional(),
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

/**
 * How long after its commit a heartbeat was not yet visible on a node, over the window's beats. Milliseconds by the
 * driver's clock, half a least round trip taken off each answer.
 */
export const lagSchema = z.looseObject({
  node: z.string(),
  /** Committed while this node was a replica. */
  beats: z.number().int(),
  /** Of them not visible a second after the close: they count with the time that they had been away by then. */
  unseen: z.number().int(),
  p50Ms: z.number().nullable(),
  p95Ms: z.number().nullable(),
  maxMs: z.number().nullable(),
  /** Median time between the look that showed a beat and the one before: a lag may be less by so much. */
  resolutionMs: z.number().nullable(),
  /** Looks that failed, by code. */
  errors: z.record(z.string(), z.number().int()),
  /** By the interval that a beat was committed in; t: its end, seconds since the opening. */
  intervals: z.array(
    z.looseObject({
      t: z.number(),
      p50Ms: z.number().nullable(),
      p95Ms: z.number().nullable(),
      maxMs: z.number().nullable(),
    }),
  ),
});

/** What measuring the lag took: none of it is in the window's other counts. */
export const heartbeatSchema = z.looseObject({
  everyMs: z.number(),
  /** Nodes that beats were written to. */
  writers: z.array(z.string()),
  committed: z.number().int(),
  /** Left out, since the one before was not committed yet. */
  skipped: z.number().int(),
  /** Beats that failed, by code. */
  errors: z.record(z.string(), z.number().int()),
  /** Sent to all nodes, beats and looks together. */
  statements: z.number().int(),
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
  /**
   * Answers that were waited for, failures and ROLLBACKs included: statements that are sent together (`pipeline` in
   * workloads/ops.ts) wait once. Divided by `transactions`: round trips of an event.
   */
  roundTrips: z.number().int().optional(),
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
  /**
   * Where nodes are asked for their roles (target.roles): which took writes from when on, in seconds since the opening;
   * the first entry is how it stood then. A change is seen up to 0.2 s late, or a second while the former primary
   * answers.
   */
  primaries: z.array(z.looseObject({ t: z.number(), nodes: z.array(z.string()) })).optional(),
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
  /** Replication lag of each node that was a replica (spec.heartbeat). */
  lag: z.array(lagSchema).optional(),
  heartbeat: heartbeatSchema.optional(),
  /** In one sentence: commits that did not wait as the design says. Absent: none, or not known. */
  degraded: z.string().optional(),
  /** Every node of the topology: database, proxy, driver. Absent where nobody sampled them. */
  hosts: z.array(hostLoadSchema).optional(),
});

export type Interval = z.infer<typeof intervalSchema>;
export type Start = z.infer<typeof startSchema>;
export type Latency = z.infer<typeof latencySchema>;
export type Lag = z.infer<typeof lagSchema>;
export type Heartbeat = z.infer<typeof heartbeatSchema>;
export type HostLoad = z.infer<typeof hostLoadSchema>;
export type StepResult = z.infer<typeof stepResultSchema>;
