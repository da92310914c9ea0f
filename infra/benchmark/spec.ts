/** Topology and profile -> RunSpec. Pure. */
import { createHash } from "node:crypto";
import type { Endpoint, RunSpecInput, Target } from "../../workloads/contract.ts";
import { expandSteps } from "../config/profiles.ts";
import type { Config } from "../config/schema.ts";
import { DATABASE_NAME, DATABASE_USER } from "../databases/database.ts";
import { endpointsOf, protocolOf } from "../databases/engine.ts";
import { engineOf } from "../databases/index.ts";
import { kindOf } from "../sites/kinds/index.ts";
import { driverSite, type NodePlan, withRole } from "../topology.ts";
import { PASSWORD_FILE, RUN_ID_PLACEHOLDER } from "./unit.ts";

export interface RunTarget {
  endpoints: Endpoint[];
  policy: Target["policy"];
}

/** Everything of a spec that is known before anything exists; what is measured later joins its context. */
export function planSpec(config: Config, nodes: NodePlan[], target: RunTarget): RunSpecInput {
  const { profile } = config;
  const engine = engineOf(config.database);
  return {
    schema: 1,
    runId: config.runId ?? RUN_ID_PLACEHOLDER,
    seed: runSeed(config),
    target: {
      ...protocolOf(engine),
      ...(config.driver.endpoints === "all"
        ? { endpoints: target.endpoints }
        : { endpoints: withSites(target.endpoints, nodes), preferSite: driverSite(config) }),
      policy: target.policy,
      ...(engine.roles === null
        ? {}
        : {
            reads: config.driver.reads ?? "replicas",
            roles: { rule: engine.roles, nodes: endpointsOf(engine, withRole(nodes, "database")) },
          }),
      database: DATABASE_NAME,
      user: DATABASE_USER,
      passwordFile: PASSWORD_FILE,
      reconnect: config.driver.reconnect,
      preparedStatements: config.driver.preparedStatements,
    },
    data: profile.data,
    steps: expandSteps(profile),
    order: profile.order,
    restSeconds: profile.restSeconds,
    observe: withRole(nodes, "database").map((n) => ({
      name: n.name,
      host: n.meshAddress,
      port: engine.port,
      site: n.site,
    })),
    ...(profile.heartbeat && withRole(nodes, "database").length > 1 ? { heartbeat: {} } : {}),
    context: {
      topology: {
        sites: config.sites.map(({ name, kind, nodes: count }) => ({ name, kind, nodes: count })),
        nodes: nodes.map(({ name, site, roles, meshAddress }) => {
          const where = config.sites.find((s) => s.name === site)!;
          const machine = kindOf(where).machine(where, roles);
          return { name, site, role: roles.join("+"), meshAddress, ...(machine === null ? {} : { machine }) };
        }),
        links: config.links,
      },
      database: {
        engine: config.database.engine,
        replication: config.database.replication,
        title: engine.title,
        commit: engine.commit,
        options: engine.settings(config.database),
      },
    },
  };
}

const withSites = (endpoints: readonly Endpoint[], nodes: readonly NodePlan[]): Endpoint[] =>
  endpoints.map((endpoint) => {
    const site = nodes.find(({ name }) => name === endpoint.name)?.site;
    return site === undefined ? endpoint : { ...endpoint, site };
  });

/** Where the first driver waits for the others, on its mesh address. */
export const MEET_PORT = 4010;

/** What one of the drivers is told. Of several, the first makes the tables and looks at the database nodes, for all. */
export function driverSpec(
  spec: RunSpecInput,
  runKey: string,
  drivers: Pick<NodePlan, "meshAddress">[],
  index: number,
): RunSpecInput {
  const [first] = drivers;
  if (first === undefined || drivers.length === 1) return spec;
  const meet = { host: first.meshAddress, port: MEET_PORT, key: runKey };
  const { heartbeat, ...shared } = spec;
  return {
    ...shared,
    drivers: { index, count: drivers.length, meet },
    ...(index > 0 ? { observe: [] } : heartbeat === undefined ? {} : { heartbeat }),
  };
}

/**
 * A run asked for by name works on tables that an earlier one has written to. With the same seed it would write the
 * same texts again, which a server leaves out: so the name is part of its seed.
 */
function runSeed({ seed, runId }: Pick<Config, "seed" | "runId">): number {
  return runId === undefined ? seed : createHash("sha256").update(`${seed}:${runId}`).digest().readUInt32BE(0);
}
