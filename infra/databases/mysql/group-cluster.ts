/** MySQL Group Replication on the database nodes: configure all, found on the first, let in the others one by one. */
import * as pulumi from "@pulumi/pulumi";
import type { DatabaseOf } from "../../config/engines.ts";
import { password } from "../../identity/identity.ts";
import { type Node, onNode } from "../../node.ts";
import { DatabaseComponent } from "../component.ts";
import type { DatabaseFacts } from "../database.ts";
import type { CreateDatabase } from "../engine.ts";
import { connectionsOf, fingerprint, MYSQL_CONNECTIONS } from "../values.ts";
import { groupConf, groupName, groupShape, seedOf } from "./group-conf.ts";
import { enterScript, groupReadyScript, leaveScript, settingsScript } from "./group-scripts.ts";
import { configureScript } from "./install.ts";
import { accountOf } from "./server.ts";

/** Seconds until a join counts as failed; a whole state of 12 GB over 100 Mbit/s takes 17 minutes. */
const JOIN_TIMEOUT = 1800;
const READY_TIMEOUT = 120;

type Args = Parameters<CreateDatabase<DatabaseOf<"mysql/group">>>[0];

export const createMysqlGroup: CreateDatabase<DatabaseOf<"mysql/group">> = (args, opts) => new MysqlGroup(args, opts);

export class MysqlGroup extends DatabaseComponent {
  readonly ready: pulumi.Output<DatabaseFacts>;
  readonly dependencies: pulumi.Resource[];

  constructor({ nodes, endpoints, database, config, owner, after }: Args, opts?: pulumi.ComponentResourceOptions) {
    super("MysqlGroup", { database, endpoints }, opts);
    const recovery = pulumi.interpolate`${password("group-password", { parent: this })}\n`;
    const account = accountOf(config);
    const maxConnections = connectionsOf(config, MYSQL_CONNECTIONS);
    const name = owner.id.apply(groupName);
    const addresses = nodes.map((node) => node.meshAddress);
    const confOf = (node: Node, members: string[]): pulumi.Output<string> =>
      name.apply((known) =>
        groupConf({ meshAddress: node.meshAddress, maxConnections, groupName: known, members }, database),
      );
    /** Of everything that a running server would have to be restarted for: the list of members is not part of it. */
    const settingsOf = (node: Node): pulumi.Output<string> => confOf(node, []).apply(fingerprint);

    const configured = nodes.map((node) =>
      onNode(
        `${node.name}-mysql-conf`,
        node,
        { script: confOf(node, addresses).apply((conf) => configureScript(conf, database.version)) },
        { parent: this, dependsOn: after },
      ),
    );
    // Settings of the group itself: all leave, the first node last, and come back to a new one.
    const shape = fingerprint(groupShape(database));
    const leave = (node: Node, dependsOn: pulumi.Resource[]): pulumi.Resource =>
      onNode(
        `${node.name}-regroup`,
        node,
        { script: leaveScript(node === nodes[0], shape, READY_TIMEOUT) },
        { parent: this, dependsOn },
      );
    const others = nodes.slice(1).map((node) => leave(node, configured));
    let before: pulumi.Resource[] = [...others, leave(nodes[0]!, [...configured, ...others])];
    for (const [i, node] of nodes.entries()) {
      const script = name.apply((known) =>
        enterScript({
          founder: i === 0,
          groupName: known,
          peers: addresses.filter((address) => address !== node.meshAddress),
          network: account.network,
          shape,
          timeoutSeconds: JOIN_TIMEOUT,
        }),
      );
      const step = { script, stdin: recovery, timeoutSeconds: 2 * JOIN_TIMEOUT };
      before = [onNode(`${node.name}-group`, node, step, { parent: this, dependsOn: before })];
    }
    // The first node is the primary where there is one: it comes last, and gives its part away meanwhile.
    for (const node of [...nodes.slice(1), nodes[0]!]) {
      const script = settingsOf(node).apply((known) => settingsScript(known, addresses.map(seedOf), JOIN_TIMEOUT));
      before = [
        onNode(
          `${node.name}-settings`,
          node,
          { script, timeoutSeconds: 2 * JOIN_TIMEOUT },
          { parent: this, dependsOn: before },
        ),
      ];
    }
    const ready = this.readyStep(
      nodes[0]!,
      settingsOf(nodes[0]!).apply((settings) =>
        groupReadyScript({
          account,
          members: addresses,
          single: database.primaries === "single",
          settings,
          timeoutSeconds: READY_TIMEOUT,
        }),
      ),
      before,
    );
    this.ready = ready.stdout.apply((text) => JSON.parse(text) as DatabaseFacts);
    this.dependencies = [ready];
    this.registerOutputs();
  }
}
