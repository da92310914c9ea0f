/** A MySQL primary and its replicas: configure all, the primary, the replicas beside each other, then settings. */
import * as pulumi from "@pulumi/pulumi";
import { password } from "../../identity/identity.ts";
import { type Node, onNode } from "../../node.ts";
import { DatabaseComponent } from "../component.ts";
import type { DatabaseFacts } from "../database.ts";
import type { CreateDatabase } from "../engine.ts";
import { connectionsOf, fingerprint, MYSQL_CONNECTIONS } from "../values.ts";
import { configureScript } from "./install.ts";
import { type ReplicatedConfig, replicatedConf } from "./replication-conf.ts";
import { onPrimary, primaryScript, replicaScript, settingsScript } from "./replication-scripts.ts";
import { readyScript } from "./scripts.ts";
import { accountOf } from "./server.ts";

const START_TIMEOUT = 120;
/** A replica that was added late applies all that the primary has ever written. */
const CATCH_UP_TIMEOUT = 1800;

type Args = Parameters<CreateDatabase<ReplicatedConfig>>[0];

export const createReplicated: CreateDatabase<ReplicatedConfig> = (args, opts) => new ReplicatedMysql(args, opts);

export class ReplicatedMysql extends DatabaseComponent {
  readonly ready: pulumi.Output<DatabaseFacts>;
  readonly dependencies: pulumi.Resource[];

  constructor({ nodes, endpoints, database, config, after }: Args, opts?: pulumi.ComponentResourceOptions) {
    super("ReplicatedMysql", { database, endpoints }, opts);
    const secret = pulumi.interpolate`${password("replication-password", { parent: this })}\n`;
    const account = accountOf(config);
    const maxConnections = connectionsOf(config, MYSQL_CONNECTIONS);
    const confOf = (node: Node): string => replicatedConf({ meshAddress: node.meshAddress, maxConnections }, database);
    const step = (
      name: string,
      node: Node,
      script: string,
      dependsOn: pulumi.Resource[],
      stdin?: pulumi.Output<string>,
    ): pulumi.Resource =>
      onNode(
        name,
        node,
        { script, timeoutSeconds: 2 * CATCH_UP_TIMEOUT, ...(stdin === undefined ? {} : { stdin }) },
        { parent: this, dependsOn },
      );
    const configured = nodes.map((node) =>
      step(`${node.name}-mysql-conf`, node, configureScript(confOf(node), database.version), after),
    );
    const [primary, ...others] = nodes as [Node, ...Node[]];
    const peers = others.map((node) => node.meshAddress);
    const begun = step(
      `${primary.name}-primary`,
      primary,
      primaryScript(account.network, peers, START_TIMEOUT),
      configured,
      secret,
    );
    const replicas = others.map((node) =>
      step(`${node.name}-replica`, node, replicaScript(primary.meshAddress, CATCH_UP_TIMEOUT), [begun], secret),
    );
    // Replicas first: the primary's restart, which stops all writes, comes when they have shown that the settings hold.
    let before: pulumi.Resource[] = [begun, ...replicas];
    for (const node of [...others, primary])
      before = [
        step(`${node.name}-settings`, node, settingsScript(fingerprint(confOf(node)), CATCH_UP_TIMEOUT), before),
      ];
    const guard = onPrimary(others.length, database.replication === "semi-sync", START_TIMEOUT);
    const ready = this.readyStep(primary, `${guard}\n${readyScript(account)}`, before);
    this.ready = ready.stdout.apply((text) => ({ ...(JSON.parse(text) as DatabaseFacts), size: nodes.length }));
    this.dependencies = [ready];
    this.registerOutputs();
  }
}
