/**
 * MaxScale in front of a Galera cluster: galeramon watches the nodes, readwritesplit sends writes to one and reads to
 * all.
 */

import { local } from "@pulumi/command";
import * as pulumi from "@pulumi/pulumi";
import { accountNetwork } from "../databases/values.ts";
import { password } from "../identity/identity.ts";
import { type Node, onNode } from "../node.ts";
import { checkout } from "../paths.ts";
import { type Archive, archiveShipment, kindOf } from "./archive.ts";
import type { CreateProxy, ProxyArgs } from "./kind.ts";
import { accountsScript, maxscaleConf, monitorOf } from "./maxscale-conf.ts";
import { parseFacts } from "./maxscale-facts.ts";
import { installScript, type MaxscaleSource } from "./maxscale-install.ts";
import { serviceScript } from "./maxscale-scripts.ts";
import { COUNTERS_PORT, type Proxy, type ProxyFacts, WRITER_PORT } from "./proxy.ts";

export const createMaxScale: CreateProxy = (args, opts) => new MaxScale(args, opts);

/**
 * One endpoint takes everything, MaxScale tells reads from writes. A client has to send transaction control as text: a
 * START TRANSACTION READ ONLY that is sent prepared, or its COMMIT, leaves the replica inside the transaction.
 */
export class MaxScale extends pulumi.ComponentResource implements Proxy {
  readonly kind = "maxscale";
  readonly node: string;
  readonly endpoints: Proxy["endpoints"];
  readonly policy = "round-robin";
  readonly facts: pulumi.Output<ProxyFacts>;
  readonly dependencies: pulumi.Resource[];
  readonly counters: { host: string; port: number };

  constructor({ node, databaseNodes, database, config, displaced }: ProxyArgs, opts?: pulumi.ComponentResourceOptions) {
    super("meshbench:proxies:MaxScale", "proxy", {}, opts);
    const { proxy } = config;
    const monitor = monitorOf("sstMethod" in config.database ? config.database.sstMethod : undefined, proxy.monitor);
    const passwords = pulumi.interpolate`${password("maxscale-monitor-password", { parent: this })}\n${password("maxscale-service-password", { parent: this })}\n`;
    const installed = this.install(node, proxy.archive, proxy.version);
    const accounts = onNode(
      "maxscale-accounts",
      databaseNodes[0]!,
      {
        script: accountsScript(accountNetwork(config), proxy.monitor),
        stdin: passwords,
      },
      { parent: this, dependsOn: database.dependencies },
    );
    const servers = databaseNodes.map((n) => ({ name: n.name, address: n.meshAddress }));
    const running = onNode(
      "maxscale",
      node,
      {
        script: serviceScript({
          bind: node.meshAddress,
          servers: servers.length,
          displaced,
          conf: maxscaleConf({ bind: node.meshAddress, servers, monitor, service: proxy.service }),
        }),
        stdin: passwords,
        triggers: [proxy.archive?.sha256 ?? proxy.version],
      },
      { parent: this, dependsOn: [installed, accounts] },
    );

    this.node = node.name;
    this.endpoints = [{ name: "maxscale", host: node.meshAddress, port: WRITER_PORT, role: "proxy" }];
    const source = proxy.archive ? `archive ${proxy.archive.sha256}` : "the vendor's repository";
    this.facts = running.stdout.apply((text): ProxyFacts => ({ ...parseFacts(text), source }));
    this.counters = { host: node.meshAddress, port: COUNTERS_PORT };
    this.dependencies = [running];
    this.registerOutputs();
  }

  /** Depends on the node alone, and so runs beside the database's own start. */
  private install(node: Node, archive: Archive | undefined, version: string): pulumi.CustomResource {
    if (!archive)
      return onNode(
        "maxscale-installed",
        node,
        { script: installScript({ kind: "vendor", version }) },
        { parent: this },
      );
    const file = archiveShipment(archive, checkout);
    const input = node.connection.apply((connection) => JSON.stringify({ connection, sudo: node.sudo, files: [file] }));
    const shipped = new local.Command(
      "maxscale-archive",
      {
        create: "node infra/benchmark/ship.ts",
        stdin: pulumi.secret(input),
        triggers: [file.sha256],
        logging: "stderr",
        addPreviousOutputInEnv: false,
      },
      { parent: this, ...(node.resource === undefined ? {} : { deletedWith: node.resource }) },
    );
    const source: MaxscaleSource =
      kindOf(archive) === "deb"
        ? { kind: "deb", path: file.target, version }
        : { kind: "tree", path: file.target, sha256: file.sha256, version };
    return onNode(
      "maxscale-installed",
      node,
      { script: installScript(source) },
      { parent: this, dependsOn: [shipped] },
    );
  }
}
