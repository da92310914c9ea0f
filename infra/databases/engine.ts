/**
 * An engine's description: everything that the rest of the program asks about a database design. Plain values and pure
 * functions; the component that stands it up is loaded only when it is wanted.
 */
import type * as pulumi from "@pulumi/pulumi";
import type { CommitRule, DialectName, Endpoint, RoleRule, Target } from "../../workloads/contract.ts";
import type { DatabaseConfig } from "../config/engines.ts";
import type { Config } from "../config/schema.ts";
import type { Installed } from "../installed.ts";
import type { Node } from "../node.ts";
import type { Database } from "./database.ts";

export interface Engine<D extends DatabaseConfig = DatabaseConfig> {
  /** For people: "MariaDB Galera". */
  readonly title: string;
  readonly protocol: Target["driver"];
  /** Absent: the protocol's own. */
  readonly dialect?: DialectName;
  readonly port: number;
  /** Role of the database node at this place of the node list. */
  roleOf(index: number): Endpoint["role"];
  /** How drivers ask the nodes which of them takes writes now; null where that does not change. */
  readonly roles: RoleRule | null;
  /** Which round trips a commit pays; travels in the result, for the floor. */
  readonly commit: CommitRule;
  /** Whether a group of nodes decides by majority. */
  readonly quorum: boolean;
  /** A row of sbtest on disk with its share of both trees and the engine's free space, bytes. */
  readonly bytesPerRow: number;
  /** The image of nodes on this machine that has the server, since images carry all; absent: that of the site's own release. */
  readonly localRelease?: "sid" | "patroni";
  /** What comes with the server, and where its data lie. */
  readonly host: DatabaseHost;
  /**
   * A program that answers an HTTP health check with 200 when the node is in service; null where a port that answers says
   * as much. Where roles change it answers for `/primary` whether the node takes writes now, and for `/replica` whether
   * it is a replica that follows.
   */
  readonly inService: string | HttpCheck | null;
  /** What is otherwise with this configuration. */
  by?(database: D): Partial<Pick<Engine<D>, "title" | "roleOf" | "roles" | "commit">>;
  /**
   * A script that brings a standing node back into the role that it had, a line for what it did; its failure is one
   * sentence. Absent: nothing beside the units has to run.
   */
  readonly standing?: string;
  /**
   * Bash that prints nothing and goes on when a restarted node is a member that serves, or never was one; otherwise leaves
   * with 11 and says on stderr in which state it is. Absent: a node that has booted is back.
   */
  readonly rejoined?: string;
  /** How a cluster that is down as a whole is brought back (health/); absent: `standing` and the units do all. */
  readonly repair?: "galera" | "group";
  /** Spells out what the configuration names as a set, before it is checked; absent: nothing is. */
  complete?(database: D, config: Config): Config;
  /** What the result and the run key carry of the settings. */
  settings(database: D): Record<string, string>;
  /** Sentences in the project's form, before anything is created. */
  check(database: D, config: Config): { problems: string[]; warnings: string[] };
  /** Stands it up on the nodes. */
  load(): Promise<CreateDatabase<D>>;
}

export interface DatabaseHost extends Installed {
  readonly dataDirectory: string;
  /** Bash that prints each directory in which a server of a host keeps its data, or would at its next start. */
  readonly keepsDataIn: string;
  /** Bash, under nullglob, that prints what in `dataDirectory` a new installation has not: somebody's databases. */
  readonly foreign: string;
  /** Bash that takes back what was written into files of the package, which stay where it was there before. */
  readonly undo?: string;
}

/** Where a program that the nodes have anyway answers health checks, and by which path for which role. */
export interface HttpCheck {
  readonly port: number;
  readonly primary: string;
  readonly replica: string;
  /** Either of them. */
  readonly any: string;
}

/** What a spec's target says of the servers. */
export const protocolOf = ({
  protocol,
  dialect,
}: Pick<Engine, "protocol" | "dialect">): Pick<Target, "driver" | "dialect"> => ({
  driver: protocol,
  ...(dialect === undefined ? {} : { dialect }),
});

/** One per database node, by mesh address. */
export const endpointsOf = (
  engine: Pick<Engine, "port" | "roleOf">,
  nodes: { name: string; meshAddress: string }[],
): Endpoint[] =>
  nodes.map((n, i) => ({ name: n.name, host: n.meshAddress, port: engine.port, role: engine.roleOf(i) }));

/** What drivers are told where no proxy stands between: the nodes themselves. */
export const directly = (
  { roles }: Pick<Engine, "roles">,
  { endpoints }: Pick<Database, "endpoints">,
): { endpoints: Endpoint[]; policy: Target["policy"] } => ({
  endpoints,
  policy: roles === null ? "round-robin" : "read-write-split",
});

export type CreateDatabase<D extends DatabaseConfig> = (
  args: {
    nodes: Node[];
    endpoints: Endpoint[];
    database: D;
    config: Config;
    /** "project-stack": what a cluster is called. */
    owner: {
      project: string;
      stack: string;
      /** Kept in the stack's state. */
      id: pulumi.Output<string>;
    };
    after: pulumi.Resource[];
  },
  opts?: pulumi.ComponentResourceOptions,
) => Database;
