/** A proxy wraps a database and is one more endpoint. */
import type * as pulumi from "@pulumi/pulumi";
import type { Endpoint, Target } from "../../workloads/contract.ts";

export interface Proxy {
  kind: string;
  node: string;
  endpoints: Endpoint[];
  policy: Target["policy"];
  /** Read back from the running proxy: version, what it sees, what is in force. Resolves when it serves. */
  facts: pulumi.Output<ProxyFacts>;
  dependencies: pulumi.Resource[];
  /** An HTTP GET here answers with the counters of what it has routed since its start, a flat JSON object. */
  counters?: { host: string; port: number };
}

export interface ProxyFacts {
  version: string;
  servers: { name: string; state: string }[];
  /** Parameters in force, where the proxy tells them. */
  inForce?: Record<string, unknown>;
  /** Where the program came from, when not from Debian. */
  source?: string;
}

/**
 * What a client with one login would use; neither is the database's own port, so a proxy can stand on a database node.
 */
export const WRITER_PORT = 4006;
export const READER_PORT = 4008;
/** Answers over HTTP whether the node is in service, on every database node. */
export const CHECK_PORT = 9200;
/** Routing counters of a proxy that has them, on its node's mesh address. */
export const COUNTERS_PORT = 4009;
