/** One MySQL server on the database node. */
import type * as pulumi from "@pulumi/pulumi";
import type { DatabaseOf } from "../../config/engines.ts";
import type { Config } from "../../config/schema.ts";
import { onNode } from "../../node.ts";
import { DatabaseComponent } from "../component.ts";
import { DATABASE_NAME, DATABASE_USER, type DatabaseFacts } from "../database.ts";
import type { CreateDatabase } from "../engine.ts";
import { accountNetwork, connectionsOf, fingerprint, MYSQL_CONNECTIONS } from "../values.ts";
import { mysqlConf } from "./conf.ts";
import { configureScript } from "./install.ts";
import { type Account, readyScript, serverScript } from "./scripts.ts";

const START_TIMEOUT = 120;

type Args = Parameters<CreateDatabase<DatabaseOf<"mysql/none">>>[0];

export const createMysql: CreateDatabase<DatabaseOf<"mysql/none">> = (args, opts) => new Mysql(args, opts);

/** Who the load logs in as, from anywhere in the mesh. */
export const accountOf = (config: Config): Account => ({
  user: DATABASE_USER,
  database: DATABASE_NAME,
  network: accountNetwork(config),
});

export class Mysql extends DatabaseComponent {
  readonly ready: pulumi.Output<DatabaseFacts>;
  readonly dependencies: pulumi.Resource[];

  constructor({ nodes, endpoints, database, config, after }: Args, opts?: pulumi.ComponentResourceOptions) {
    super("Mysql", { database, endpoints }, opts);
    const node = nodes[0]!;

    const conf = mysqlConf(
      { meshAddress: node.meshAddress, maxConnections: connectionsOf(config, MYSQL_CONNECTIONS) },
      [],
      database.variables,
    );
    const configured = onNode(
      `${node.name}-mysql-conf`,
      node,
      { script: configureScript(conf, database.version) },
      { parent: this, dependsOn: after },
    );
    const running = onNode(
      `${node.name}-mysql`,
      node,
      { script: serverScript(fingerprint(conf), START_TIMEOUT) },
      { parent: this, dependsOn: [configured] },
    );
    const ready = this.readyStep(node, readyScript(accountOf(config)), [running]);
    this.ready = ready.stdout.apply((text) => JSON.parse(text) as DatabaseFacts);
    this.dependencies = [ready];
    this.registerOutputs();
  }
}
