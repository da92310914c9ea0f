/** What a database is to everything above it. */
import type * as pulumi from "@pulumi/pulumi";
import type { Endpoint } from "../../workloads/contract.ts";

export const DATABASE_NAME = "sbtest";
export const DATABASE_USER = "meshbench";

export interface Database {
  engine: string;
  /** One per database node, by mesh address. */
  endpoints: Endpoint[];
  credentials: { user: string; password: pulumi.Output<string> };
  /** Resolves when every node has reported itself in service. */
  ready: pulumi.Output<DatabaseFacts>;
  /** What must have happened before anything uses the database. */
  dependencies: pulumi.Resource[];
}

export interface DatabaseFacts {
  version: string;
  /** Of the library that replicates, where it has a version of its own. */
  provider?: string;
  /** Made with the data; another one means other data. */
  clusterUuid?: string;
  size?: number;
}
