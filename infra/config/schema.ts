/** What can stand under `meshbench:` in a stack's configuration, with its defaults. Pure: knows nothing of Pulumi. */
import { z } from "zod";
import { dataSchema, stepSchema } from "../../workloads/contract.ts";
import { costSchema } from "./cost.ts";
import { databaseSchema, scalar } from "./engines.ts";
import { cidrs } from "./sites/aws.ts";
import type { AwsSettings } from "./sites/aws-settings.ts";
import { debianRelease } from "./sites/common.ts";
import { siteName, siteSchema } from "./sites/index.ts";

/** An emulated WAN between two local sites; between sites of other kinds the network is what it is. */
export const linkSchema = z.strictObject({
  between: z.tuple([siteName, siteName]),
  rttMs: z.number().min(0).max(2000),
  jitterMs: z.number().min(0).max(500).default(0),
  lossPercent: z.number().min(0).max(100).default(0),
  rateMbit: z.number().positive().optional(),
});

export const meshSchema = z.strictObject({
  /** The mesh's own /24; must not be in use in any site. */
  network: z
    .string()
    .regex(/^(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}0\/24$/, "a /24 such as 10.99.0.0/24")
    .default("10.99.0.0/24"),
  port: z.number().int().min(1024).max(65535).default(51820),
  /**
   * WireGuard's usual 1420 fits a 1500-byte path with 80 bytes of outer IPv6, UDP and WireGuard headers; PPPoE needs
   * 1412. auto: 1420, or what the narrowest path between two nodes takes.
   */
  mtu: z.union([z.literal("auto"), z.number().int().min(1280).max(8921)]).default(1420),
  /** For nodes behind NAT; 25 s is below the shortest common UDP mapping lifetime of 30 s. */
  keepaliveSeconds: z.number().int().min(1).max(600).default(25),
});

export const proxySchema = z.strictObject({
  kind: z.enum(["maxscale", "haproxy", "none"]).default("haproxy"),
  /** own: a node of its own; driver: on the driver's node; database: on the first database node of the site. */
  placement: z.enum(["own", "driver", "database"]).default("driver"),
  /** Default: the first site that has database nodes. */
  site: siteName.optional(),
  version: z
    .string()
    .regex(/^\d+\.\d+\.\d+$/, "an exact version such as 24.02.5")
    .default("24.02.5"),
  /** MaxScale without the vendor's repository: a .deb, or a tree packed as .tar.zst, on the operator's machine. */
  archive: z
    .strictObject({ path: z.string().min(1), sha256: z.string().regex(/^[0-9a-f]{64}$/, "64 hexadecimal digits") })
    .optional(),
  /** MaxScale: parameters of galeramon and readwritesplit by their own names. */
  monitor: z.record(z.string(), scalar).default({}),
  service: z.record(z.string(), scalar).default({}),
  /**
   * HAProxy: writer sends all to one node; balanced spreads all; split sends read-only workloads to all, others to one.
   */
  routing: z.enum(["writer", "balanced", "split"]).default("split"),
});

export const driverSchema = z.strictObject({
  /** own: a node of its own; proxy: on the proxy's node, as the hybrid study had it. */
  placement: z.enum(["own", "proxy"]).default("own"),
  site: siteName.optional(),
  /**
   * Nodes that make the load together, each its share of a step's threads or rate: for a database that one node cannot
   * saturate.
   */
  nodes: z.number().int().min(1).max(8).default(1),
  /** Events before a reconnect, TLS and the like: passed on to the load engine. */
  reconnect: z.union([z.enum(["never", "random"]), z.number().int().positive()]).default("never"),
  preparedStatements: z.enum(["auto", "disable"]).default("auto"),
  /**
   * Where sessions that write nothing go, with an engine whose nodes are a primary and its replicas. Default: replicas,
   * and the primary when there is none.
   */
  reads: z.enum(["primary", "replicas", "any"]).optional(),
  /**
   * Without a proxy: all database nodes that may serve, in turn; or own-site: those of the driver's own site, the others
   * only while none of them is in service.
   */
  endpoints: z.enum(["all", "own-site"]).default("all"),
});

/** threads may be a list: one step each. */
export const profileStep = stepSchema.extend({
  threads: z.union([z.number().int().positive(), z.array(z.number().int().positive()).min(1)]),
});
export const profileSchema = z.strictObject({
  data: dataSchema.prefault({}),
  steps: z.array(profileStep).min(1),
  order: z.enum(["given", "interleaved", "random"]).default("given"),
  restSeconds: z.number().nonnegative().default(0),
  /** With several database nodes: replication lag by a row that is counted up 10 times a second. */
  heartbeat: z.boolean().default(true),
});

export const configSchema = z.strictObject({
  sites: z.array(siteSchema).min(1),
  links: z.array(linkSchema).default([]),
  /** Release of the nodes that are made; a site's own key of that name wins. Hosts that are there have theirs. */
  debian: debianRelease.default(12),
  mesh: meshSchema.prefault({}),
  database: databaseSchema,
  proxy: proxySchema.prefault({}),
  driver: driverSchema.prefault({}),
  /**
   * The network that the operator comes from: SSH to nodes in a cloud is open to it only. A site's own key of that name
   * wins.
   */
  operatorCidr: cidrs.optional(),
  /** Ask the clouds whether they could do what is configured, before anything is created. */
  preflight: z.boolean().default(true),
  /** What the run's cost is worked out from. */
  cost: costSchema.prefault({}),
  /** API token of the Proxmox sites: one for all, or by site name. Checked apart, so that no message ever shows it. */
  proxmoxToken: z.unknown().optional(),
  /** Of root@pam, where a site passes a device through to containers. */
  proxmoxPassword: z.unknown().optional(),
  profile: z.union([z.string(), profileSchema]).default("quick"),
  runId: z
    .string()
    .regex(/^[a-zA-Z0-9][a-zA-Z0-9_.-]{0,62}$/, "letters, digits, '_', '.', '-'")
    .optional(),
  seed: z.number().int().nonnegative().default(1),
  owner: z.string().default("unknown"),
  expiresHours: z.number().int().positive().default(24),
  lab: z
    .string()
    .regex(/^[a-z0-9][a-z0-9-]{0,39}$/, "lower-case letters, digits and '-'")
    .optional(),
});

export type Link = z.infer<typeof linkSchema>;
export type MeshConfig = z.infer<typeof meshSchema>;
export type { DatabaseConfig } from "./engines.ts";
export type ProxyConfig = z.infer<typeof proxySchema>;
export type ProxyKindName = ProxyConfig["kind"];
export type DriverConfig = z.infer<typeof driverSchema>;
export type Profile = z.infer<typeof profileSchema>;
/** Engine and replication may be left out: `withEngine` fills them in. */
export type ConfigInput = Omit<z.input<typeof configSchema>, "database"> & { database?: Record<string, unknown> };
export type Config = Omit<z.infer<typeof configSchema>, "profile"> & {
  profile: Profile;
  profileName: string;
  aws: AwsSettings;
};

/** The published shape, 2 + 1 nodes and 10 ms between them, small enough for one machine. */
export const DEFAULT_SITES: ConfigInput["sites"] = [
  { name: "east", kind: "local", nodes: 2 },
  { name: "west", kind: "local", nodes: 1 },
];
export const DEFAULT_LINKS: ConfigInput["links"] = [{ between: ["east", "west"], rttMs: 10 }];
