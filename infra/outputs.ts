/** What the stack says when it is done. */
import type * as pulumi from "@pulumi/pulumi";
import type { Benchmark } from "./benchmark.ts";
import type { Config } from "./config/schema.ts";
import type { Cost } from "./cost/cost.ts";
import type { Database } from "./databases/database.ts";
import type { MeshMeasurement } from "./mesh/measure.ts";
import type { Node } from "./node.ts";
import type { Proxy } from "./proxies/proxy.ts";

export interface Parts {
  config: Config;
  nodes: Node[];
  database: Database;
  proxy: Proxy | undefined;
  measurement: MeshMeasurement;
  benchmark: Benchmark;
  lab: string;
  standIns: pulumi.Output<string[]>;
  cost: Cost | undefined;
}

export type Outputs = Record<string, unknown>;

export function outputs({
  config,
  nodes,
  database,
  proxy,
  measurement,
  benchmark,
  lab,
  standIns,
  cost,
}: Parts): Outputs {
  const { summary } = benchmark;
  return {
    nodes: nodes.map((n) => ({
      name: n.name,
      site: n.site,
      roles: n.roles,
      address: n.lanAddress,
      /** Where other sites, and the operator, reach it; null behind NAT. */
      publicAddress: n.behindNat ? null : n.publicAddress,
      meshAddress: n.meshAddress,
      facts: n.facts,
    })),
    rttMatrix: measurement.matrix,
    database: {
      engine: database.engine,
      endpoints: database.endpoints,
      user: database.credentials.user,
      facts: database.ready,
    },
    proxy: proxy
      ? { kind: proxy.kind, node: proxy.node, endpoints: proxy.endpoints, facts: proxy.facts }
      : { kind: "none" },
    profile: config.profileName,
    results: summary.results,
    resultFile: summary.resultFile,
    runId: summary.runId,
    lab,
    standIns,
    ...(cost === undefined ? {} : { cost: { perHour: cost.perHour, currency: cost.currency, date: cost.date } }),
  };
}
