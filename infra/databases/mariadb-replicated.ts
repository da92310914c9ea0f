/** A MariaDB primary and its replicas: configure all, the primary, the replicas beside each other, then settings. */
import * as pulumi from "@pulumi/pulumi";
import { password } from "../identity/identity.ts";
import { type Node, onNode } from "../node.ts";
import { DatabaseComponent } from "./component.ts";
import { DATABASE_NAME, DATABASE_USER, type DatabaseFacts } from "./database.ts";
import type { CreateDatabase } from "./engine.ts";
import { configureScript, readyScript } from "./galera-scripts.ts";
import {
  ON_PRIMARY,
  primaryScript,
  type ReplicatedConfig,
  replicaScript,
  replicatedConf,
  replicatedSettingsScript,
} from "./mariadb-replication-conf.ts";
import { accountNetwork, connectionsOf, fingerprint, MYSQL_CONNECTIONS } from "./values.ts";

const START_TIMEOUT = 120;
/** A replica that was added late applies all that the primary has ever written. */
const CATCH_UP_TIMEOUT = 1800;

type Args = Parameters<CreateDatabase<ReplicatedConfig>>[0];

export const createReplicated: CreateDatabase<ReplicatedConfig> = (args, opts) => new ReplicatedMariaDb(args, opts);

export class ReplicatedMariaDb extends DatabaseComponent {
  readonly ready: pulumi.Output<DatabaseFacts>;
  readonly dependencies: pulumi.Resource[];

  constructor({ nodes, endpoints, database, config, after }: Args, opts?: pulumi.ComponentResourceOptions) {
    super("ReplicatedMariaDb", { database, endpoints }, opts);
    const replication = password("replication-password", { parent: this });
    const network = accountNetwork(config);
    const maxConnections = connectionsOf(config, MYSQL_CONNECTIONS);
    const confs = new Map(
      nodes.map((node) => [node, replicatedConf({ meshAddress: node.meshAddress, maxConnections }, database)]),
    );
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
    const secret = pulumi.interpolate`${replication}\n`;
    const configured = nodes.map((node) =>
      step(`${node.name}-mariadb-conf`, node, configureScript(confs.get(node)!), after),
    );
    const [primary, ...others] = nodes as [Node, ...Node[]];
    const begun = step(`${primary.name}-primary`, primary, primaryScript(network, START_TIMEOUT), configured, secret);
    const replicas = others.map((node) =>
      step(`${node.name}-replica`, node, replicaScript(primary.meshAddress, CATCH_UP_TIMEOUT), [begun], secret),
    );
    // Replicas first: the primary's restart, which stops all writes, comes when they have shown that the settings hold.
    let before: pulumi.Resource[] = [begun, ...replicas];
    for (const node of [...others, primary])
      before = [
        step(
          `${node.name}-settings`,
          node,
          replicatedSettingsScript(fingerprint(confs.get(node)!), CATCH_UP_TIMEOUT),
          before,
        ),
      ];
    const ready = this.readyStep(
      primary,
      `${ON_PRIMARY}\n${readyScript({
        size: nodes.length,
        user: DATABASE_USER,
        database: DATABASE_NAME,
        network,
        galera: false,
        timeoutSeconds: START_TIMEOUT,
      })}`,
      before,
    );
    this.ready = ready.stdout.apply((text) => ({
      version: (JSON.parse(text) as DatabaseFacts).version,
      size: nodes.length,
    }));
    this.dependencies = [ready];
    this.registerOutputs();
  }
}
