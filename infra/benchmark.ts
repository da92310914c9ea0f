/** The post-deploy component: ships the workloads to the driver, runs them there, brings the results back. */

import { local, type remote } from "@pulumi/command";
import * as pulumi from "@pulumi/pulumi";
import type { RunSpecInput } from "../workloads/contract.ts";
import type { Shipment } from "./benchmark/bundle.ts";
import { driverSpec } from "./benchmark/spec.ts";
import type { RunSummary } from "./benchmark/summary.ts";
import { installScript } from "./benchmark/unit.ts";
import { type Node, onNode } from "./node.ts";

export interface BenchmarkArgs {
  /** One or several; the first makes the tables. */
  drivers: Node[];
  /** All nodes, the drivers included: what their systems do during the run is part of the result. */
  nodes: Node[];
  spec: RunSpecInput;
  runKey: pulumi.Output<string>;
  runtime: Shipment;
  bundle: Shipment;
  password: pulumi.Output<string>;
  /** Joins the spec's context: what was measured or read back. */
  measured: pulumi.Output<Record<string, unknown>>;
  /** Where the proxy tells what it has routed. */
  counters?: { host: string; port: number } | undefined;
  /** Where results go, relative to the project's root. */
  resultsDir: string;
  /** What must be in service before the load begins. */
  after: pulumi.Resource[];
}

export class Benchmark extends pulumi.ComponentResource {
  readonly summary: pulumi.Output<RunSummary>;

  constructor(args: BenchmarkArgs, opts?: pulumi.ComponentResourceOptions) {
    super("meshbench:index:Benchmark", "benchmark", {}, opts);
    const shipped = args.drivers.map((driver) => this.ship(args, driver));
    const installed = args.drivers.map((driver, i) => this.install(args, driver, i));
    const collected = this.collect(args, [...shipped, ...installed]);
    this.summary = collected.stdout.apply((text) => JSON.parse(text) as RunSummary);
    this.registerOutputs();
  }

  /** Depends on the driver node alone, and so runs beside everything that is still being built. */
  private ship({ runtime, bundle }: BenchmarkArgs, driver: Node): pulumi.Resource {
    const input = driver.connection.apply((connection) =>
      JSON.stringify({ connection, sudo: driver.sudo, files: [runtime, bundle] }),
    );
    return this.program(
      `${driver.name}-runtime`,
      "infra/benchmark/ship.ts",
      input,
      [runtime.sha256, bundle.sha256],
      driver,
      [],
    );
  }

  /** Only the first driver asks the proxy what it has routed. */
  private install(
    { drivers, spec, runKey, runtime, bundle, password, measured, after, counters }: BenchmarkArgs,
    driver: Node,
    index: number,
  ): remote.Command {
    const text = pulumi
      .all([measured, runKey])
      .apply(([more, key]) =>
        JSON.stringify({ ...driverSpec(spec, key, drivers, index), context: { ...spec.context, ...more } }),
      );
    return onNode(
      index === 0 ? "run-spec" : `${driver.name}-run-spec`,
      driver,
      {
        script: runKey.apply((key) =>
          installScript(key, runtime.target, bundle.target, index === 0 ? counters : undefined),
        ),
        stdin: pulumi.interpolate`${password}\n${text}`,
        triggers: [runKey],
      },
      { parent: this, dependsOn: after },
    );
  }

  private collect({ drivers, nodes, runKey, resultsDir }: BenchmarkArgs, dependsOn: pulumi.Resource[]): local.Command {
    const reached = (all: Node[]) =>
      pulumi.all(
        all.map((node) =>
          node.connection.apply((connection) => ({ name: node.name, roles: node.roles, connection, sudo: node.sudo })),
        ),
      );
    const input = pulumi
      .all([reached(drivers), reached(nodes), runKey])
      .apply(([driving, all, key]) => JSON.stringify({ drivers: driving, runKey: key, resultsDir, nodes: all }));
    return this.program("run", "infra/benchmark/collect.ts", input, [runKey], drivers[0]!, dependsOn);
  }

  private program(
    name: string,
    path: string,
    stdin: pulumi.Output<string>,
    triggers: pulumi.Input<string>[],
    driver: Node,
    dependsOn: pulumi.Resource[],
  ): local.Command {
    return new local.Command(
      name,
      {
        create: `node ${path}`,
        stdin: pulumi.secret(stdin),
        triggers,
        logging: "stderr",
        addPreviousOutputInEnv: false,
      },
      { parent: this, dependsOn, ...(driver.resource === undefined ? {} : { deletedWith: driver.resource }) },
    );
  }
}
