/**
 * MariaDB Galera on the database nodes: configure all, found on the first, join the others, then settings one by one.
 */
import type * as pulumi from "@pulumi/pulumi";
import type { DatabaseOf } from "../config/engines.ts";
import type { Config } from "../config/schema.ts";
import { type Node, onNode } from "../node.ts";
import { DatabaseComponent } from "./component.ts";
import { DATABASE_NAME, DATABASE_USER, type DatabaseFacts } from "./database.ts";
import type { CreateDatabase } from "./engine.ts";
import { clusterName, type MariaDbConfig, type ServerConf, serverConf } from "./galera-conf.ts";
import {
  configureScript,
  enterScript,
  memberScript,
  readyScript,
  SST_ACCOUNT_SCRIPT,
  settingsScript,
  standaloneScript,
} from "./galera-scripts.ts";
import { accountNetwork, connectionsOf, fingerprint, MYSQL_CONNECTIONS } from "./values.ts";

/** Seconds until a join counts as failed; a state transfer of 12 GB over 100 Mbit/s takes 17 minutes. */
const JOIN_TIMEOUT = 1800;
/** A node that has only to be let in, by a group that is there. */
const ENTER_TIMEOUT = 300;
const START_TIMEOUT = 120;

export const createMariaDb: CreateDatabase<MariaDbConfig> = (args, opts) => new MariaDb(args, opts);

/** One server, or a Galera cluster. */
export class MariaDb extends DatabaseComponent {
  readonly ready: pulumi.Output<DatabaseFacts>;
  readonly dependencies: pulumi.Resource[];

  constructor(
    { nodes, endpoints, database, config, owner, after }: Parameters<CreateDatabase<MariaDbConfig>>[0],
    opts?: pulumi.ComponentResourceOptions,
  ) {
    super("MariaDb", { database, endpoints }, opts);
    const galera = database.replication === "galera";
    const sstMethod = galera ? database.sstMethod : undefined;

    const confs = nodes.map((node) => confOf(node, nodes, config, clusterName(owner.project, owner.stack)));
    const configured = nodes.map((node, i) =>
      onNode(
        `${node.name}-mariadb-conf`,
        node,
        {
          script: configureScript(serverConf(confs[i]!, database), sstMethod),
        },
        { parent: this, dependsOn: after },
      ),
    );
    const running = galera
      ? this.cluster(nodes, confs, database, configured)
      : [this.standalone(nodes[0]!, settingsOf(confs[0]!, database), configured)];
    const ready = this.readyStep(
      nodes[0]!,
      readyScript({
        size: nodes.length,
        user: DATABASE_USER,
        database: DATABASE_NAME,
        network: accountNetwork(config),
        galera,
        timeoutSeconds: START_TIMEOUT,
      }),
      running,
    );
    this.ready = ready.stdout.apply((text) => parseFacts(text));
    this.dependencies = [ready];
    this.registerOutputs();
  }

  private standalone(node: Node, settings: string, configured: pulumi.Resource[]): pulumi.Resource {
    return onNode(
      `${node.name}-mariadb`,
      node,
      { script: standaloneScript(settings, START_TIMEOUT) },
      { parent: this, dependsOn: configured },
    );
  }

  /**
   * Nodes come in one by one, their state transfers overlap; a restart for changed settings goes from node to node, so
   * that a quorum stays up.
   */
  private cluster(
    nodes: Node[],
    confs: ServerConf[],
    database: DatabaseOf<"mariadb/galera">,
    configured: pulumi.Resource[],
  ): pulumi.Resource[] {
    const enter = (node: Node, founder: boolean, dependsOn: pulumi.Resource[]): pulumi.Resource =>
      onNode(
        `${node.name}-galera-enter`,
        node,
        {
          script: enterScript({
            founder,
            peers: nodes.filter((n) => n !== node).map((n) => n.meshAddress),
            timeoutSeconds: ENTER_TIMEOUT,
          }),
        },
        { parent: this, dependsOn },
      );
    const member = (node: Node, entered: pulumi.Resource): pulumi.Resource =>
      onNode(
        `${node.name}-galera`,
        node,
        { script: memberScript(JOIN_TIMEOUT), timeoutSeconds: 2 * JOIN_TIMEOUT },
        { parent: this, dependsOn: [entered] },
      );

    const [first, ...others] = nodes;
    const founder = member(first!, enter(first!, true, configured));
    const settled: pulumi.Resource[] = [founder];
    if (database.sstMethod === "mariabackup")
      settled.push(
        onNode("sst-account", first!, { script: SST_ACCOUNT_SCRIPT }, { parent: this, dependsOn: [founder] }),
      );
    let before = [...settled];
    for (const node of others) {
      const entered = enter(node, false, before);
      settled.push(member(node, entered));
      before = [entered];
    }
    for (const [i, node] of nodes.entries()) {
      settled.push(
        onNode(
          `${node.name}-settings`,
          node,
          {
            script: settingsScript(settingsOf(confs[i]!, database), JOIN_TIMEOUT),
            timeoutSeconds: 2 * JOIN_TIMEOUT,
          },
          { parent: this, dependsOn: i === 0 ? [...settled] : [...settled.slice(-1)] },
        ),
      );
    }
    return settled;
  }
}

function confOf(node: Node, nodes: Node[], config: Config, clusterName: string): ServerConf {
  return {
    nodeName: node.name,
    meshAddress: node.meshAddress,
    clusterName,
    segment: node.segment,
    members: nodes.map((n) => n.meshAddress),
    maxConnections: connectionsOf(config, MYSQL_CONNECTIONS),
  };
}

/** Of everything that a running server would have to be restarted for: the list of members is not part of it. */
const settingsOf = (conf: ServerConf, database: MariaDbConfig): string =>
  fingerprint(serverConf({ ...conf, members: [] }, database));

function parseFacts(text: string): DatabaseFacts {
  const facts = JSON.parse(text) as Required<DatabaseFacts>;
  return facts.provider === "" ? { version: facts.version } : facts;
}
