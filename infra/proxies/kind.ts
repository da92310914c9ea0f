/** A proxy's description: what the rest of the program asks about it. The component is loaded only when it is wanted. */
import type * as pulumi from "@pulumi/pulumi";
import type { EngineKey } from "../config/engines.ts";
import type { Config, ProxyConfig, ProxyKindName } from "../config/schema.ts";
import type { Database } from "../databases/database.ts";
import type { Engine } from "../databases/engine.ts";
import type { Installed } from "../installed.ts";
import type { Node } from "../node.ts";
import type { Proxy } from "./proxy.ts";

/** Keys of `meshbench:proxy` that only some kinds take. */
export type OwnKey = Exclude<keyof ProxyConfig, "kind" | "placement" | "site" | "version" | "routing">;

export interface ProxyKind {
  /** For people: "MaxScale". */
  readonly title: string;
  /** Units that hold its ports: stopped where a proxy of another kind takes its place. */
  readonly units: readonly string[];
  readonly host: Installed;
  readonly ownKeys: readonly OwnKey[];
  /** The databases before which it can stand; all: it needs no more of them than a port, and `inService` where they have it. */
  readonly engines: readonly EngineKey[] | "all";
  /** It asks the database nodes' in-service check. */
  readonly asksInService: boolean;
  /** Sentences in the project's form, before anything is created. */
  check(proxy: ProxyConfig, engine: Engine): { problems: string[]; warnings: string[] };
  /** Null: there is no proxy, and drivers go to the database nodes themselves. */
  readonly load: (() => Promise<CreateProxy>) | null;
}

export interface ProxyArgs {
  node: Node;
  databaseNodes: Node[];
  database: Database;
  config: Config;
  /** What must have happened before the nodes can be reached over the mesh. */
  after: pulumi.Resource[];
  /** Units of the other kinds. */
  displaced: string[];
}

export type CreateProxy = (args: ProxyArgs, opts?: pulumi.ComponentResourceOptions) => Proxy;
export type ProxyKinds = { readonly [K in ProxyKindName]: ProxyKind };

/** A proxy of another kind that served before would hold the port. */
export const displace = (units: string[]): string =>
  `systemctl disable --quiet --now ${units.join(" ")} 2>/dev/null || true`;
