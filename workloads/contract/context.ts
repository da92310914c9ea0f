/** What the infrastructure knows of a run and the driver does not: topology, database, proxy, round-trip times. */
import { z } from "zod";

/**
 * What a commit waits for on the network between the database nodes. none: nothing; nearest-member: one round trip to
 * the nearest node, whose acknowledgement is enough; majority: until the writer and as many
 * others as make a majority have it; farthest-member: one round trip to the farthest node of the group; safe-delivery: until every node is known to have what every other node has received. docs/floors.md has what each
 * rests on.
 */
export const commitRule = z.enum(["none", "nearest-member", "majority", "farthest-member", "safe-delivery"]);
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

export type RunContext = z.infer<typeof contextSchema>;
