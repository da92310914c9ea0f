/** What the commands read on stdin, and what is kept of it on disk. */
import { z } from "zod";
import { LabError } from "./run.ts";

const name = (what: string) =>
  z
    .string()
    .regex(
      /^[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?$/,
      `${what}: 1 to 40 lower-case letters, digits and hyphens, no hyphen at either end`,
    );

export const labName = name("lab name");
export const siteName = name("site name");
export const nodeName = name("node name");

export const linkSettings = z.strictObject({
  /** Round-trip time that the link adds, ms; half of it each way. */
  rttMs: z.number().min(0).max(4_000),
  /** One-way delay varies uniformly by plus or minus this, ms. */
  jitterMs: z.number().min(0).max(2_000).default(0),
  /** Share of packets lost, each way, per cent. */
  lossPct: z.number().min(0).max(100).default(0),
  /** Rate each way, Mbit/s; absent: unlimited. */
  rateMbit: z.number().min(0.01).max(100_000).optional(),
});
export type LinkSettings = z.infer<typeof linkSettings>;

const linkRequest = linkSettings.extend({ between: z.tuple([siteName, siteName]) });

export const networkRequest = z
  .strictObject({
    lab: labName,
    /** Whose lab it is: an apply with another one is refused. Absent: anybody's. */
    stackId: z.string().min(1).max(64).optional(),
    sites: z
      .array(z.strictObject({ name: siteName, nat: z.boolean().default(false) }))
      .min(1)
      .max(15),
    links: z.array(linkRequest).default([]),
  })
  .superRefine(({ sites, links }, context) => {
    const known = sites.map((site) => site.name);
    const issue = (path: (string | number)[], message: string) => context.addIssue({ code: "custom", path, message });
    known.forEach((site, i) => {
      if (known.indexOf(site) !== i) issue(["sites", i, "name"], `site "${site}" is there twice`);
    });
    const pairs = new Set<string>();
    links.forEach(({ between }, i) => {
      for (const end of between)
        if (!known.includes(end)) issue(["links", i, "between"], `no site "${end}"; sites are ${known.join(", ")}`);
      if (between[0] === between[1]) issue(["links", i, "between"], `a link joins two different sites`);
      const pair = [...between].sort().join(" and ");
      if (pairs.has(pair)) issue(["links", i, "between"], `the link between ${pair} is there twice`);
      pairs.add(pair);
    });
  });
/** What `network delete` needs of a network; the rest of its description may come along. */
export const networkName = z.looseObject({ lab: labName });

export type NetworkRequest = z.infer<typeof networkRequest>;

const publicKey = z
  .string()
  .regex(/^(ssh|ecdsa|sk-ssh|sk-ecdsa)-\S+ [A-Za-z0-9+/=]+( .*)?$/, "an OpenSSH public key, as in a .pub file");

export const labels = z
  .partialRecord(z.enum(["project", "stack", "stack-id", "run", "owner", "expires"]), z.string().max(200))
  .default({});

const limits = {
  /** Processor time, in processors. */
  cpus: z.number().min(0.05).max(1024).optional(),
  memoryMb: z.number().int().min(64).optional(),
};

const bareNode = z.strictObject({
  /** The image's own user, whom cloud-init makes where user data names none. */
  user: z.string().regex(/^[a-z_][a-z0-9_-]{0,31}$/, "a Linux user name"),
});

export const nodeRequest = z
  .strictObject({
    lab: labName,
    site: siteName,
    name: nodeName,
    /** Keys that may log in as root. */
    authorizedKeys: z.array(publicKey).default([]),
    /** cloud-init user data; given, cloud-init runs in the node and the create waits for it. */
    userData: z.string().max(1_000_000).optional(),
    /** An ed25519 host key in OpenSSH's private key format; absent: one is made. */
    hostKeyPrivate: z.string().optional(),
    labels,
    ...limits,
    /**
     * The release that the node runs; the image of another one than 12 is built when it is first asked for. sid, the unstable
     * suite, has MySQL in MariaDB's place; patroni is 12 with Patroni and etcd in it.
     */
    debian: z.union([z.literal(12), z.literal(13), z.literal("sid"), z.literal("patroni")]).default(12),
    /**
     * As a cloud's image comes: nothing installed that a stack needs, host keys of three types from the first boot, and the
     * distribution's own package work at boot. Packages come from an archive beside the image. Needs user data.
     */
    bare: bareNode.optional(),
    /** How long to wait for sshd (and cloud-init), s. */
    timeoutSeconds: z.number().min(1).max(1_800).default(60),
  })
  .refine((request) => request.bare === undefined || request.userData !== undefined, {
    path: ["bare"],
    message: "a bare node needs userData: without it nobody makes its host keys and lets anybody in",
  })
  .refine((request) => request.bare === undefined || (request.debian !== "sid" && request.debian !== "patroni"), {
    path: ["debian"],
    message: "no cloud has an image of sid or patroni: a bare node runs 12 or 13",
  });
export const labelRequest = z.strictObject({ lab: labName, labels });
/** Absent: no limit. */
export const limitRequest = z.strictObject({ lab: labName, nodes: z.record(nodeName, z.strictObject(limits)) });

export type NodeRequest = z.infer<typeof nodeRequest>;

/** @throws LabError that names the key, and what is wrong with it. */
export function parse<T extends z.ZodType>(schema: T, value: unknown, what: string): z.output<T> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  const at = issue?.path.length ? `${what}: ${issue.path.join(".")}` : what;
  const given = issue?.path.reduce<unknown>(
    (part, key) => (part as Record<PropertyKey, unknown> | undefined)?.[key],
    value,
  );
  // A host key or user data is not to be shown, and a long value helps nobody.
  const secret = issue?.path.some((key) => key === "hostKeyPrivate" || key === "userData");
  const shown =
    typeof given === "string" || typeof given === "number" ? ` (given: ${JSON.stringify(given).slice(0, 60)})` : "";
  throw new LabError(`${at}: ${issue?.message ?? "not valid"}${secret ? "" : shown}`);
}

export interface Site {
  name: string;
  index: number;
  nat: boolean;
  /** Not asked for any more; it stays until its last node is gone. */
  leaving?: true;
}

export interface Link extends LinkSettings {
  between: [string, string];
  cut: boolean;
}

/** lab.json */
export interface Lab {
  version: 1;
  lab: string;
  block: string;
  createdAt: string;
  /** The id of the stack that it was made for. */
  stackId?: string;
  sites: Site[];
  links: Link[];
}

/** node.json */
export interface NodeRecord {
  version: 1;
  lab: string;
  site: string;
  name: string;
  /** Host part of the address in the site's LAN. */
  host: number;
  address: string;
  /** "creating" until sshd has answered once: what a killed create left is never taken for a node. */
  state: "creating" | "ready";
  hostKey: string;
  image: string;
  labels: z.infer<typeof labels>;
  cpus?: number;
  memoryMb?: number;
  /** "none", "applied", or what could not be set and why, at the last boot. */
  limits: string;
  userData: boolean;
  /** The operator does not reach it by itself. */
  closed?: true;
  createdAt: string;
}
