/**
 * PostgreSQL under Patroni: configure all, etcd's members one by one, the first server, the others beside each other, then what
 * they share.
 */
import * as pulumi from "@pulumi/pulumi";
import { password } from "../../identity/identity.ts";
import { type Node, onNode } from "../../node.ts";
import { DatabaseComponent } from "../component.ts";
import { DATABASE_NAME, DATABASE_USER, type DatabaseFacts } from "../database.ts";
import type { CreateDatabase } from "../engine.ts";
import { connectionsOf, POSTGRES_CONNECTIONS } from "../values.ts";
import { dynamicConf, type PatroniConfig, patroniConf } from "./conf.ts";
import { etcdTimes, membersOf } from "./etcd-conf.ts";
import { distanceScript, memberScript, membersScript, NO_MEMBER } from "./etcd-scripts.ts";
import {
  accountScript,
  configureScript,
  factsScript,
  PACKAGES_SCRIPT,
  settingsScript,
  startScript,
} from "./scripts.ts";

const ETCD_TIMEOUT = 120;
const READY_TIMEOUT = 120;
/** A copy of 12 GB over 100 Mbit/s takes 17 minutes. */
const COPY_TIMEOUT = 1800;

type Args = Parameters<CreateDatabase<PatroniConfig>>[0];

export const createPatroni: CreateDatabase<PatroniConfig> = (args, opts) => new Patroni(args, opts);

export class Patroni extends DatabaseComponent {
  readonly ready: pulumi.Output<DatabaseFacts>;
  readonly dependencies: pulumi.Resource[];

  constructor({ nodes, endpoints, database, config, after }: Args, opts?: pulumi.ComponentResourceOptions) {
    super("Patroni", { database, endpoints }, opts);
    const secret = (name: string): pulumi.Output<string> => password(`${name}-password`, { parent: this });
    const root = secret("etcd-root");
    const patroni = secret("etcd-patroni");
    const rest = secret("patroni-rest");
    const replication = secret("replication");
    const rewind = secret("rewind");
    const step = (
      name: string,
      node: Node,
      script: pulumi.Input<string>,
      dependsOn: pulumi.Resource[],
      stdin?: pulumi.Output<string>,
    ) =>
      onNode(
        name,
        node,
        { script, timeoutSeconds: 2 * COPY_TIMEOUT, ...(stdin === undefined ? {} : { stdin }) },
        { parent: this, dependsOn },
      );

    const installed = nodes.map((node) => step(`${node.name}-packages`, node, PACKAGES_SCRIPT, after));
    const members = membersOf(nodes);
    const peersOf = (node: Node): Node[] => members.filter((other) => other !== node);
    const distances = members.map((node) =>
      step(`${node.name}-distance`, node, distanceScript(peersOf(node), database.etcd), installed),
    );
    const times = pulumi
      .all(distances.map(({ stdout }) => stdout))
      .apply((printed) => etcdTimes(Math.max(0, ...printed.map(Number)), database.etcd));
    let before: pulumi.Resource[] = installed;
    for (const [i, node] of members.entries()) {
      const script = times.apply((known) =>
        memberScript(
          {
            name: node.name,
            meshAddress: node.meshAddress,
            peers: peersOf(node).map((peer) => peer.meshAddress),
            times: known,
            timeoutSeconds: ETCD_TIMEOUT,
          },
          i === 0,
        ),
      );
      before = [step(`${node.name}-etcd`, node, script, before, pulumi.interpolate`${root}\n${patroni}\n`)];
    }
    const addresses = members.map((node) => node.meshAddress);
    const kept = step(
      "etcd-members",
      members[0]!,
      membersScript(addresses[0]!, addresses, ETCD_TIMEOUT),
      before,
      pulumi.interpolate`${root}\n`,
    );

    const dynamic = dynamicConf(database, connectionsOf(config, POSTGRES_CONNECTIONS));
    const { standbys = undefined } = database.replication === "sync" ? database : {};
    const configured = nodes.map((node) => {
      const conf = patroniConf(
        {
          name: node.name,
          meshAddress: node.meshAddress,
          nosync: standbys !== undefined && !standbys.includes(node.name),
        },
        { members: addresses, network: config.mesh.network, dynamic },
      );
      const script = `${configureScript(conf)}${members.includes(node) ? "" : `\n${NO_MEMBER}`}`;
      const secrets = pulumi.interpolate`${patroni}\n${rest}\n${replication}\n${rewind}\n`;
      return step(`${node.name}-patroni-conf`, node, script, [kept], secrets);
    });
    const start = (node: Node, dependsOn: pulumi.Resource[]): pulumi.Resource =>
      step(`${node.name}-patroni`, node, startScript(node.meshAddress, COPY_TIMEOUT), dependsOn);
    const [first, ...others] = nodes as [Node, ...Node[]];
    const begun = start(first, configured);
    const started = others.map((node) => start(node, [begun]));
    const synchronous = database.replication === "sync" ? Number(dynamic["synchronous_node_count"] ?? 1) : 0;
    const set = step(
      "patroni-settings",
      first,
      settingsScript(
        nodes.map((node) => node.meshAddress),
        { dynamic, standbys: synchronous, timeoutSeconds: COPY_TIMEOUT },
      ),
      [begun, ...started],
      pulumi.interpolate`${rest}\n`,
    );
    // Who is the primary is known to the nodes alone.
    const accounts = nodes.map((node) =>
      step(
        `${node.name}-account`,
        node,
        accountScript({ user: DATABASE_USER, database: DATABASE_NAME }),
        [set],
        pulumi.interpolate`${this.credentials.password}\n`,
      ),
    );
    const ready = step("database-ready", first, factsScript(DATABASE_NAME, nodes.length, READY_TIMEOUT), accounts);
    this.ready = ready.stdout.apply((text) => JSON.parse(text) as DatabaseFacts);
    this.dependencies = [ready];
    this.registerOutputs();
  }
}
