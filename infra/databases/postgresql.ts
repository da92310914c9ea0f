/** One PostgreSQL server on the database node. */
import type * as pulumi from "@pulumi/pulumi";
import type { DatabaseOf } from "../config/engines.ts";
import { onNode } from "../node.ts";
import { DatabaseComponent } from "./component.ts";
import { DATABASE_NAME, DATABASE_USER, type DatabaseFacts } from "./database.ts";
import type { CreateDatabase } from "./engine.ts";
import { configureScript, postgresConf, readyScript, serverScript } from "./postgresql-conf.ts";
import { connectionsOf, fingerprint, POSTGRES_CONNECTIONS } from "./values.ts";

const START_TIMEOUT = 120;

type Args = Parameters<CreateDatabase<DatabaseOf<"postgresql/none">>>[0];

export const createPostgreSql: CreateDatabase<DatabaseOf<"postgresql/none">> = (args, opts) =>
  new PostgreSql(args, opts);

export class PostgreSql extends DatabaseComponent {
  readonly ready: pulumi.Output<DatabaseFacts>;
  readonly dependencies: pulumi.Resource[];

  constructor({ nodes, endpoints, database, config, after }: Args, opts?: pulumi.ComponentResourceOptions) {
    super("PostgreSql", { database, endpoints }, opts);
    const node = nodes[0]!;

    const maxConnections = connectionsOf(config, POSTGRES_CONNECTIONS);
    const conf = postgresConf({ meshAddress: node.meshAddress, maxConnections }, database.variables);
    const access = { user: DATABASE_USER, database: DATABASE_NAME, network: config.mesh.network };
    const configured = onNode(
      `${node.name}-postgresql-conf`,
      node,
      { script: configureScript(conf, access) },
      { parent: this, dependsOn: after },
    );
    const running = onNode(
      `${node.name}-postgresql`,
      node,
      { script: serverScript(fingerprint(conf), node.meshAddress, START_TIMEOUT) },
      { parent: this, dependsOn: [configured] },
    );
    const ready = this.readyStep(node, readyScript(access), [running]);
    this.ready = ready.stdout.apply((text) => JSON.parse(text) as DatabaseFacts);
    this.dependencies = [ready];
    this.registerOutputs();
  }
}
