/** One PostgreSQL server on the database node. */
import { createHash } from "node:crypto";
import * as pulumi from "@pulumi/pulumi";
import { CONNECTION_HEADROOM, maxThreads } from "../config/counts.ts";
import type { DatabaseOf } from "../config/engines.ts";
import { password } from "../identity/identity.ts";
import { onNode } from "../node.ts";
import { DATABASE_NAME, DATABASE_USER, type Database, type DatabaseFacts } from "./database.ts";
import type { CreateDatabase } from "./engine.ts";
import { configureScript, postgresConf, readyScript, serverScript } from "./postgresql-conf.ts";

const START_TIMEOUT = 120;
/** PostgreSQL's own default, below which nothing is gained. */
const MIN_CONNECTIONS = 100;

type Args = Parameters<CreateDatabase<DatabaseOf<"postgresql/none">>>[0];

export const createPostgreSql: CreateDatabase<DatabaseOf<"postgresql/none">> = (args, opts) =>
  new PostgreSql(args, opts);

export class PostgreSql extends pulumi.ComponentResource implements Database {
  readonly engine: string;
  readonly endpoints: Database["endpoints"];
  readonly credentials: Database["credentials"];
  readonly ready: pulumi.Output<DatabaseFacts>;
  readonly dependencies: pulumi.Resource[];

  constructor({ nodes, endpoints, database, config, after }: Args, opts?: pulumi.ComponentResourceOptions) {
    super("meshbench:databases:PostgreSql", "database", {}, opts);
    const node = nodes[0]!;
    this.engine = database.engine;
    this.endpoints = endpoints;
    this.credentials = { user: DATABASE_USER, password: password("database-password", { parent: this }) };

    const maxConnections = Math.max(MIN_CONNECTIONS, maxThreads(config) + CONNECTION_HEADROOM);
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
    const ready = onNode(
      "database-ready",
      node,
      { script: readyScript(access), stdin: pulumi.interpolate`${this.credentials.password}\n` },
      { parent: this, dependsOn: [running] },
    );
    this.ready = ready.stdout.apply((text) => JSON.parse(text) as DatabaseFacts);
    this.dependencies = [ready];
    this.registerOutputs();
  }
}

const fingerprint = (conf: string): string => createHash("sha256").update(conf).digest("hex").slice(0, 16);
