/**
 * A run's name: the same work on the same topology with the same engine has the same one, and everything that can move a
 * figure is part of it. What is not is listed here, with the reason; a key that nobody thought of is in. Pure.
 */
import { createHash } from "node:crypto";
import type { RunSpecInput } from "../../workloads/contract.ts";
import type { Config } from "../config/schema.ts";

const ACCESS = "how the operator gets in, over SSH; the load does not go there";
const CHANGE = "how a change is carried out; a node that was made anew is another one in the key";
const WAIT = "how long is waited";

/** By path, list indices left out; a path stands for all below it. */
export const HARMLESS: Record<string, string> = {
  owner: "a label",
  expiresHours: "a label",
  lab: "a name; another lab has other nodes, which are in the key",
  preflight: "asks before anything is made",
  cost: "prices, which the measured hours are multiplied by",
  proxmoxToken: "a login",
  proxmoxPassword: "a login",
  operatorCidr: ACCESS,
  aws: "how AWS is asked: logins, tags, endpoints; the region stands in the site",
  profileName: "a name; what it stands for is in the key",
  "proxy.archive.path": "where the file lies; its checksum is in the key",
  "sites.operatorCidr": ACCESS,
  "sites.peerCidrs": "who may call the mesh; peers that may not make no mesh at all",
  "sites.replaceNodes": CHANGE,
  "sites.rolling": CHANGE,
  "sites.readyTimeoutSeconds": WAIT,
  "sites.profile": "a login",
  "sites.insecure": "how the API's certificate is taken",
  "sites.imageDatastore": "where the image waits to be copied",
  "sites.pool": "a group of rights",
  "sites.user": ACCESS,
  "sites.port": ACCESS,
  "sites.privateKeyFile": ACCESS,
  "sites.hostKeys": ACCESS,
  "sites.scanHostKeys": ACCESS,
  "sites.snippets": ACCESS,
  "sites.jump": ACCESS,
};

/** A configuration's part in the key: without what is harmless, keys sorted, so that their order in a file is none. */
export function movesFigures(value: unknown, path = ""): unknown {
  if (Array.isArray(value)) return value.map((one) => movesFigures(one, path));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .map(([key, inner]): [string, string, unknown] => [key, path === "" ? key : `${path}.${key}`, inner])
      .filter(([, at]) => !Object.hasOwn(HARMLESS, at))
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, at, inner]) => [key, movesFigures(inner, at)]),
  );
}

const KEY_DIGITS = 12;
const digits = (known: unknown): string =>
  createHash("sha256").update(JSON.stringify(known)).digest("hex").slice(0, KEY_DIGITS);

/** What is known before anything exists. 12 hexadecimal digits. */
export const plannedKey = (spec: RunSpecInput, shipped: { sha256: string }[], config: Partial<Config>): string =>
  digits([spec, shipped.map((s) => s.sha256), movesFigures(config)]);

/** What the run meets: which nodes and which cluster. Figures of others that stood here before are none of theirs. */
export const runKey = (planned: string, nodes: string[], clusterUuid: string | undefined): string =>
  digits([planned, nodes, clusterUuid ?? ""]);
