/** The program: configuration -> sites -> mesh -> database -> proxy -> benchmark -> outputs. */
import * as pulumi from "@pulumi/pulumi";
import { bundleLoadEngine, nodeRuntime } from "./benchmark/bundle.ts";
import { plannedKey, runKey } from "./benchmark/run-key.ts";
import { planSpec } from "./benchmark/spec.ts";
import { Benchmark } from "./benchmark.ts";
import { readConfig } from "./config.ts";
import { costOf } from "./cost/cost.ts";
import { directly, endpointsOf } from "./databases/engine.ts";
import { engineOf } from "./databases/index.ts";
import { lookAt } from "./health/index.ts";
import { expiry, operatorKey } from "./identity/identity.ts";
import { stackIdentity } from "./identity/stack-identity.ts";
import { MeshMeasurement } from "./mesh/measure.ts";
import { Mesh } from "./mesh/wireguard.ts";
import { identityOf } from "./node.ts";
import { type Outputs, outputs } from "./outputs.ts";
import { checkout } from "./paths.ts";
import { preflight } from "./preflight/index.ts";
import { createProxy } from "./proxies/index.ts";
import { createSites } from "./sites/index.ts";
import { cpuOfDrivers } from "./sites/machine.ts";
import { standInNodes } from "./sites/stand-in-nodes.ts";
import { namedStandIns } from "./stand-ins.ts";
import { planNodes, withRole } from "./topology.ts";

export async function topology(): Promise<Outputs> {
  const config = await readConfig();
  const root = checkout,
    stack = pulumi.getStack(),
    project = pulumi.getProject();
  const plans = planNodes(config);
  const identity = await stackIdentity(stack, root);
  const owned = { id: identity.known?.id, name: identity.name };
  const { accounts } = await preflight(config, plans, owned);

  const key = operatorKey("operator-key", `${project}-${stack}`);
  const lab = config.lab ?? identity.lab;
  const nodes = await createSites(config, plans, {
    lab,
    key,
    accounts,
    owned,
    labels: { project, stack, "stack-id": identity.id, owner: config.owner, expires: expiry(config.expiresHours) },
  });
  // From here on: a node's connection is there once all that stands has been looked at.
  const { nodes: standing, look } = lookAt(nodes, config);
  const mesh = new Mesh(nodes, standing, config.mesh);
  const engine = engineOf(config.database);
  const databaseNodes = withRole(standing, "database");
  const createDatabase = await engine.load();
  const database = createDatabase({
    nodes: databaseNodes,
    endpoints: endpointsOf(engine, databaseNodes),
    database: config.database,
    config,
    owner: { project, stack: identity.name, id: identity.id },
    after: mesh.ready,
  });
  const proxy = await createProxy(standing, database, config, mesh.ready);

  const [runtime, bundle] = await Promise.all([nodeRuntime(cpuOfDrivers(config, plans)), bundleLoadEngine(root)]);
  const spec = planSpec(config, plans, proxy ?? directly(engine, database));
  const planned = plannedKey(spec, [bundle], config);
  const run = pulumi
    .all([pulumi.all(nodes.map(identityOf)), database.ready])
    .apply(([identities, { clusterUuid }]) => runKey(planned, identities, clusterUuid));
  const serving = [
    ...database.dependencies,
    ...(proxy?.dependencies ?? []),
    ...new Set(nodes.flatMap((node) => node.settled ?? [])),
  ];
  const measurement = new MeshMeasurement(standing, config.mesh.mtu, run, { dependsOn: serving });
  const nodeFacts = pulumi
    .all(nodes.map((n) => n.facts))
    .apply((all) => all.map((facts, i) => ({ name: nodes[i]!.name, site: nodes[i]!.site, facts })));
  const standIns = nodeFacts.apply((seen) => [
    ...namedStandIns(config, process.env),
    ...standInNodes(config.sites, seen),
  ]);
  const cost = costOf(config, plans);
  const facts = pulumi.all([database.ready, proxy?.facts, measurement.matrix, standIns, nodeFacts]);
  const benchmark = new Benchmark({
    drivers: withRole(nodes, "driver"),
    nodes,
    spec,
    runKey: run,
    runtime,
    bundle,
    password: database.credentials.password,
    resultsDir: `${process.env["MESHBENCH_RESULTS"] ?? "results"}/${stack}`,
    after: [...serving, measurement],
    counters: proxy?.counters,
    measured: facts.apply(
      ([db, px, rttMatrix, named, seen]): Record<string, unknown> => ({
        project,
        stack,
        rttMatrix,
        standIns: named,
        nodes: seen,
        ...(cost === undefined ? {} : { cost }),
        database: { ...spec.context!.database!, ...db },
        proxy: proxy && px ? { kind: proxy.kind, node: proxy.node, ...px } : { kind: "none" },
      }),
    ),
  });
  await look();
  return outputs({ config, nodes, database, proxy, measurement, benchmark, lab, standIns, cost });
}
