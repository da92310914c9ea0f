/** RunResult: what a driver answers with. */
import { z } from "zod";
import { runSpecSchema, SCHEMA_VERSION } from "./spec.ts";
import { stepResultSchema } from "./window.ts";

const hostSchema = z.looseObject({
  hostname: z.string(),
  cpus: z.number(),
  cpuModel: z.string().optional(),
  memoryMb: z.number().optional(),
  kernel: z.string().optional(),
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

export type Stat = z.infer<typeof statSchema>;
export type StepSummary = z.infer<typeof summarySchema>;
export type RunResult = z.infer<typeof runResultSchema>;
