/** One MySQL server on the database node. */
import { createHash } from "node:crypto";
import * as pulumi from "@pulumi/pulumi";
import { CONNECTION_HEADROOM, maxThreads } from "../../config/counts.ts";
import type { DatabaseOf } from "../../config/engines.ts";
import type { Config } from "../../config/schema.ts";
import { password } from "../../identity/identity.ts";
import { onNode } from "../../node.ts";
import { DATABASE_NAME, DATABASE_USER, type Database, type DatabaseFacts } from "../database.ts";
import type { CreateDatabase } from "../engine.ts";
import { mysqlConf } from "./conf.ts";
import { configureScript } from "./install.ts";
import { type Account, readyScript, serverScript } from "./scripts.ts";

const START_TIMEOUT = 120;
/** MySQL's own default, below which nothing is gained. */
const MIN_CONNECTIONS = 151;

type Args = Parameters<CreateDatabase<DatabaseOf<"mysql/none">>>[0];

export const createMysql: CreateDatabase<DatabaseOf<"mysql/none">> = (args, opts) => new Mysql(args, opts);

export const connectionsOf = (config: Config): number =>
  Math.max(MIN_CONNECTIONS, maxThreads(config) + CONNECTION_HEADROOM);

/** Who the load logs in as, from anywhere in the mesh. */
export const accountOf = (config: Config): Account => ({
  user: DATABASE_USER,
  database: DATABASE_NAME,
  network: config.mesh.network.replace(/\.0\/24$/, ".%"),
});

/** Names a configuration, so that another one runs a step again. */
export const fingerprint = (conf: string): string => createHash("sha256").update(conf).digest("hex").slice(0, 16);

export class Mysql extends pulumi.ComponentResource implements Database {
  readonly engine: string;
  readonly endpoints: Database["endpoints"];
  readonly credentials: Database["credentials"];
  readonly ready: pulumi.Output<DatabaseFacts>;
  readonly dependencies: pulumi.Resource[];

  constructor({ nodes, endpoints, database, config, after }: Args, opts?: pulumi.ComponentResourceOptions) {
    super("meshbench:databases:Mysql", "database", {}, opts);
    const node = nodes[0]!;
    this.engine = database.engine;
    this.endpoints = endpoints;
    this.credentials = { user: DATABASE_USER, password: password("database-password", { parent: this }) };

    const conf = mysqlConf(
      { meshAddress: node.meshAddress, maxConnections: connectionsOf(config) },
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
    const ready = onNode(
      "database-ready",
      node,
      { script: readyScript(accountOf(config)), stdin: pulumi.interpolate`${this.credentials.password}\n` },
      { parent: this, dependsOn: [running] },
    );
    this.ready = ready.stdout.apply((text) => JSON.parse(text) as DatabaseFacts);
    this.dependencies = [ready];
    this.registerOutputs();
  }
}
