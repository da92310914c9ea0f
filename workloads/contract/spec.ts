/** RunSpec: what a driver is asked to do. */
import { z } from "zod";
import { contextSchema } from "./context.ts";

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
  site: z.string().min(1).optional(),
});

/** Protocols, each with the SQL dialects that are spoken over it, its own one first. */
export const DIALECTS = { mysql: ["mysql"], postgres: ["postgres"] } as const;

/**
 * How a node is asked whether it takes writes now. read-only: a node that is read-only, or in recovery, is a replica;
 * group: a member's role in a MySQL group. The questions are the dialects'.
 */
export const roleRule = z.enum(["read-only", "group"]);
export type RoleRule = z.infer<typeof roleRule>;

const targetShape = z.strictObject({
  /** The protocol. */
  driver: z.enum(["mysql", "postgres"]),
  /** The SQL that the servers understand. Absent: the protocol's own. */
  dialect: z.enum(["mysql", "postgres"]).optional(),
  endpoints: z.array(endpointSchema).min(1),
  policy: z.enum(["round-robin", "random", "first-alive", "read-write-split"]).default("round-robin"),
  /** read-write-split: where sessions that write nothing go. replicas: the primary is theirs when there is no replica. */
  reads: z.enum(["primary", "replicas", "any"]).default("replicas"),
  /** Of the endpoints that may serve, those of this site are taken, the others while none of those is in service. */
  preferSite: z.string().min(1).optional(),
  /**
   * Which node takes writes can change: these are asked all along. An endpoint of the same name has the role that its
   * node last answered with, in place of its own. Absent: roles do not change.
   */
  roles: z.strictObject({ rule: roleRule, nodes: z.array(endpointSchema).min(1) }).optional(),
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

export const targetSchema = targetShape.superRefine(({ driver, dialect }, context) => {
  const spoken: readonly string[] = DIALECTS[driver];
  if (dialect !== undefined && !spoken.includes(dialect))
    context.addIssue({
      code: "custom",
      path: ["dialect"],
      message: `expected ${spoken.join(" or ")} with driver ${driver}`,
    });
});

/** Which SQL a target's servers understand. */
export const dialectName = ({ driver, dialect }: Pick<Target, "driver" | "dialect">): DialectName =>
  dialect ?? DIALECTS[driver][0];
export type DialectName = NonNullable<Target["dialect"]>;

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
  /**
   * Replication lag between the observed nodes: a row that is counted up so often on the one that takes writes (with
   * several, on the first), and looked for on the others. Absent: not measured.
   */
  heartbeat: z.strictObject({ everyMs: z.number().int().min(10).max(60_000).default(100) }).optional(),
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
export type RunSpec = z.infer<typeof runSpecSchema>;
export type RunSpecInput = z.input<typeof runSpecSchema>;
