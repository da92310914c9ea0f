/** What the component of every engine has. */
import type { remote } from "@pulumi/command";
import * as pulumi from "@pulumi/pulumi";
import { password } from "../identity/identity.ts";
import { type Node, onNode } from "../node.ts";
import { DATABASE_USER, type Database, type DatabaseFacts } from "./database.ts";

export abstract class DatabaseComponent extends pulumi.ComponentResource implements Database {
  readonly engine: string;
  readonly endpoints: Database["endpoints"];
  readonly credentials: Database["credentials"];
  abstract readonly ready: pulumi.Output<DatabaseFacts>;
  abstract readonly dependencies: pulumi.Resource[];

  /** @param type its name among the resource types */
  constructor(
    type: string,
    { database, endpoints }: { database: { engine: string }; endpoints: Database["endpoints"] },
    opts?: pulumi.ComponentResourceOptions,
  ) {
    super(`meshbench:databases:${type}`, "database", {}, opts);
    this.engine = database.engine;
    this.endpoints = endpoints;
    this.credentials = { user: DATABASE_USER, password: password("database-password", { parent: this }) };
  }

  /** The last step: makes the load's account, whose password is on stdin, and prints the facts. */
  protected readyStep(node: Node, script: pulumi.Input<string>, dependsOn: pulumi.Resource[]): remote.Command {
    return onNode(
      "database-ready",
      node,
      { script, stdin: pulumi.interpolate`${this.credentials.password}\n` },
      { parent: this, dependsOn },
    );
  }
}
