/**
 * A kind of site's description: everything that the rest of the program asks about where nodes stand. Plain values and
 * pure functions; what needs a cloud's packages is loaded only when it is wanted.
 */
import type * as pulumi from "@pulumi/pulumi";
import type { Problem } from "../../config/problem.ts";
import type { Config } from "../../config/schema.ts";
import type { DebianRelease } from "../../config/sites/common.ts";
import type { Site } from "../../config/sites/index.ts";
import type { PriceList } from "../../cost/price-list.ts";
import type { Node } from "../../node.ts";
import type { Check } from "../../preflight/check.ts";
import type { Owned } from "../../preflight/owned.ts";
import type { NodePlan, Role } from "../../topology.ts";
import type { SiteContext } from "../context.ts";

export interface SiteKind<S extends Site = Site> {
  /** A machine that a local node may stand in for: "EC2 instance"; null where none does. */
  readonly machineName: string | null;
  /** All its nodes share the machine that the program runs on, whatever site they are in. */
  readonly sharesMachine: boolean;
  /** Links between two of its sites are emulated as `meshbench:links` says. */
  readonly emulatesLinks: boolean;
  /** Keys of the stack go into a site that has none of its own. */
  complete(site: S, stack: { debian: DebianRelease }): S;
  /** What is wrong or missing, before anything is created. `key`: meshbench:sites[0]. */
  check(site: S, key: string, config: Config): Problem[];
  /** The networks that the site's nodes stand in, as far as the configuration says. `slot`: of the site in the mesh. */
  networks(site: S, slot: number): SiteNetwork[];
  /** Whether two sites may have the same network, because one administration hands out its addresses. */
  shareNetwork(one: S, other: S): boolean;
  /** No other site can call the nodes. */
  behindNat(site: S): boolean;
  /** The site's key that says so. */
  readonly natKey: string;
  /**
   * What a node is made of, in a few words: part of a run's identity, since another machine is another measurement.
   * Null where the configuration says nothing about it.
   */
  machine(site: S, roles: Role[]): string | null;
  cpu(site: S, roles: Role[]): "x64" | "arm64";
  /** Null: nodes cost what `meshbench:cost.nodeHour` says. */
  readonly prices: PriceList<S> | null;
  /** Hardware, by name, that carries one leg of a study at a time: two would measure each other. */
  exclusive(site: S): string[];
  /** Until nodes and packages are there, for estimates. */
  readonly standUpSeconds: number;
  /** Questions before anything is created, whether what is configured can be had; null where nobody can be asked. */
  readonly preflight: (() => Promise<Preflight>) | null;
  /** Stands the nodes up. */
  load(): Promise<CreateNodes<S>>;
}

export interface SiteNetwork {
  /** "a.b.c.d/n" */
  text: string;
  /** The default of a key that was not given. */
  implied: boolean;
}

export type Preflight = (config: Config, plans: NodePlan[], owned: Owned) => Promise<Check[]>;

/** All sites of the kind, in the order of the configuration. */
export type CreateNodes<S extends Site> = (
  args: {
    /** `key`: meshbench:sites[0]. */
    sites: { site: S; key: string }[];
    /** The nodes of all of them. */
    plans: NodePlan[];
    config: Config;
    context: SiteContext;
    /** The cluster has no other database node, so that a stop hurts nobody else. */
    alone: boolean;
    /** What says that a database node serves, over all kinds; grows. With `rolling` each node waits for the one before. */
    before: pulumi.Resource[];
  },
  opts?: pulumi.ComponentResourceOptions,
) => Node[];

export const plansAt = (plans: NodePlan[], { name }: Pick<Site, "name">): NodePlan[] =>
  plans.filter((plan) => plan.site === name);

/** Of kinds whose nodes are made here. */
export const withRelease = <S extends { debian?: DebianRelease | undefined }>(
  site: S,
  { debian }: { debian: DebianRelease },
): S => ({ ...site, debian: site.debian ?? debian });
