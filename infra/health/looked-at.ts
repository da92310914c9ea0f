/** What a look knows of a node, and what it may do. */
import type { Role } from "../topology.ts";
import type { NodeState } from "./probe.ts";

/** What a script on a node came to. */
export interface Ran {
  code: number;
  stdout: string;
  stderr: string;
}

export interface LookedAt {
  name: string;
  roles: Role[];
  meshAddress: string;
  /** Where SSH goes, for sentences. */
  host: string;
  /** Runs a script as root. Rejects when the node does not answer. */
  run(script: string): Promise<Ran>;
  /** Starts a node that is down; absent where nobody here can. */
  bringBack?: (() => Promise<void>) | undefined;
  /** What to do with a node that does not come back. */
  advice: string;
}

/** What the look at all nodes lends to whoever brings a database back. */
export interface OnNodes {
  probe(nodes: LookedAt[]): Promise<Map<string, NodeState>>;
  /** Runs a script; its failure is the sentence. */
  repair(name: string, what: string, script: string): Promise<Ran>;
}

/** What nodes of one role say to nodes of another. */
export interface Route {
  from: Role;
  to: Role;
  port: number;
  /** "the database's port". */
  what: string;
}

export interface LookOptions {
  galera: boolean;
  /** MySQL Group Replication. */
  group?: boolean;
  /** Units of a database that is a server alone. */
  serverUnits: readonly string[];
  /** Brings a database node back into its role (`standing` of the engine). */
  standing?: string | undefined;
  /** As configured: a node that has others gets them by the steps to come. mtu undefined: found out by the nodes. */
  mesh: { port: number; mtu: number | undefined };
  /** Ports through which the load passes. */
  routes: readonly Route[];
  bootstrapFrom: string | undefined;
  /** How the operator calls `up` on this stack. */
  up: string;
  say(line: string): void;
  /** For tests; seconds. */
  patience?: typeof PATIENCE;
}

/** One sentence for the user. */
export class Hurt extends Error {}

/** How long things that come right by themselves are given for it, seconds. */
export const PATIENCE = { mesh: 15, settle: 20, gather: 300, apart: 45 };
