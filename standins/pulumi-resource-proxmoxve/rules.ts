/** What the vendor's provider refuses before it calls the API, as RULES.md lists it. Pure. */
import { isObject, unknown, type Value, type Values } from "../pulumi-resource-command/values.ts";

export interface Failure {
  property: string;
  reason: string;
}

type Shape = { required?: string[]; keys: string[]; nested?: Record<string, Shape>; lists?: Record<string, Shape> };

const speed: Shape = {
  keys: [
    "iopsRead",
    "iopsReadBurstable",
    "iopsWrite",
    "iopsWriteBurstable",
    "read",
    "readBurstable",
    "write",
    "writeBurstable",
  ],
};
const ipConfig: Shape = {
  keys: ["ipv4", "ipv6"],
  nested: { ipv4: { keys: ["address", "gateway"] }, ipv6: { keys: ["address", "gateway"] } },
};
const dns: Shape = { keys: ["domain", "servers"] };

/** Only what this project can send is listed; a key of the provider that is not here is refused too, loudly. */
const SHAPES: Record<string, Shape> = {
  "proxmoxve:download/file:File": {
    required: ["contentType", "datastoreId", "nodeName", "url"],
    keys: [
      "checksum",
      "checksumAlgorithm",
      "decompressionAlgorithm",
      "fileName",
      "overwrite",
      "overwriteUnmanaged",
      "uploadTimeout",
      "verify",
    ],
  },
  "proxmoxve:index/vmLegacy:VmLegacy": {
    required: ["nodeName"],
    keys: [
      "agent",
      "cpu",
      "description",
      "disks",
      "initialization",
      "memory",
      "name",
      "networkDevices",
      "onBoot",
      "operatingSystem",
      "poolId",
      "scsiHardware",
      "serialDevices",
      "started",
      "stopOnDestroy",
      "tags",
      "timeoutCreate",
      "timeoutStartVm",
      "timeoutStopVm",
      "timeoutShutdownVm",
      "timeoutReboot",
      "vmId",
    ],
    nested: {
      agent: { keys: ["enabled", "timeout", "trim", "type", "waitForIp"] },
      cpu: { keys: ["cores", "type", "sockets", "units", "limit", "numa", "flags", "affinity", "architecture"] },
      memory: { keys: ["dedicated", "floating", "shared", "hugepages"] },
      operatingSystem: { keys: ["type"] },
      initialization: {
        keys: ["datastoreId", "dns", "interface", "ipConfigs", "userAccount", "userDataFileId", "upgrade", "type"],
        nested: { dns, userAccount: { keys: ["keys", "password", "username"] } },
        lists: { ipConfigs: ipConfig },
      },
    },
    lists: {
      disks: {
        required: ["interface"],
        keys: [
          "aio",
          "backup",
          "cache",
          "datastoreId",
          "discard",
          "fileFormat",
          "fileId",
          "importFrom",
          "iothread",
          "queues",
          "replicate",
          "serial",
          "size",
          "speed",
          "ssd",
        ],
        nested: { speed },
      },
      networkDevices: {
        keys: [
          "bridge",
          "disconnected",
          "enabled",
          "firewall",
          "macAddress",
          "model",
          "mtu",
          "queues",
          "rateLimit",
          "trunks",
          "vlanId",
        ],
      },
      serialDevices: { keys: ["device"] },
    },
  },
  "proxmoxve:index/containerLegacy:ContainerLegacy": {
    required: ["nodeName"],
    keys: [
      "cpu",
      "description",
      "devicePassthroughs",
      "disk",
      "features",
      "initialization",
      "memory",
      "mountPoints",
      "networkInterfaces",
      "operatingSystem",
      "poolId",
      "started",
      "startOnBoot",
      "tags",
      "timeoutCreate",
      "timeoutStart",
      "timeoutDelete",
      "unprivileged",
      "vmId",
      "waitForIp",
    ],
    nested: {
      cpu: { keys: ["architecture", "cores", "limit", "units"] },
      memory: { keys: ["dedicated", "swap"] },
      disk: { keys: ["acl", "datastoreId", "mountOptions", "quota", "replicate", "size"] },
      operatingSystem: { required: ["templateFileId"], keys: ["type"] },
      features: { keys: ["fuse", "keyctl", "mknod", "mounts", "nesting"] },
      initialization: {
        keys: ["dns", "hostname", "ipConfigs", "userAccount"],
        nested: { dns, userAccount: { keys: ["keys", "password"] } },
        lists: { ipConfigs: ipConfig },
      },
    },
    lists: {
      networkInterfaces: {
        required: ["name"],
        keys: ["bridge", "enabled", "firewall", "macAddress", "mtu", "rateLimit", "vlanId"],
      },
      devicePassthroughs: { required: ["path"], keys: ["denyWrite", "gid", "mode", "uid"] },
      mountPoints: {
        required: ["path", "volume"],
        keys: ["acl", "backup", "mountOptions", "quota", "readOnly", "replicate", "shared", "size"],
      },
    },
  },
};

export const isKnownType = (type: string): boolean => Object.hasOwn(SHAPES, type);

const IP = /^(\d{1,3}\.){3}\d{1,3}$/;
const DNS_NAME = /^[a-zA-Z0-9]([a-zA-Z0-9-]*[a-zA-Z0-9])?(\.[a-zA-Z0-9]([a-zA-Z0-9-]*[a-zA-Z0-9])?)*$/;

/** [P] rules: what fails in a preview. `inputs` have no secrets left. */
export function failuresOf(type: string, inputs: Values): Failure[] {
  const shape = SHAPES[type]!;
  // The provider drops unknown top-level keys in silence; here they are named, since the program's types rule them out.
  const failures = walk(shape, inputs, "");
  const say = (property: string, reason: string): void => void failures.push({ property, reason });
  const known = (value: Value | undefined): value is Value =>
    value !== undefined && value !== null && value !== unknown;
  if (type.endsWith("VmLegacy")) {
    if (known(inputs["name"]) && !DNS_NAME.test(String(inputs["name"]))) say("name", "must be a valid DNS name");
    const servers = at(inputs, "initialization", "dns", "servers");
    for (const server of Array.isArray(servers) ? servers : [])
      if (known(server) && !IP.test(String(server)))
        say("initialization.dns.servers", `expected ${String(server)} to contain a valid IP address`);
    const initialization = inputs["initialization"];
    if (isObject(initialization) && initialization["userAccount"] && initialization["userDataFileId"])
      say("initialization.userAccount", "conflicts with initialization.userDataFileId");
  }
  if (type.endsWith("ContainerLegacy")) {
    const devices = inputs["devicePassthroughs"];
    for (const device of Array.isArray(devices) ? devices : [])
      if (isObject(device) && known(device["mode"]) && !/^0[0-7]{3}$/.test(String(device["mode"])))
        say("devicePassthroughs.mode", "must be four octal digits");
  }
  if (
    type.endsWith("File") &&
    known(inputs["checksumAlgorithm"]) &&
    !["md5", "sha1", "sha224", "sha256", "sha384", "sha512"].includes(String(inputs["checksumAlgorithm"]))
  )
    say("checksumAlgorithm", "value must be one of md5, sha1, sha224, sha256, sha384, sha512");
  return failures;
}

function walk(shape: Shape, values: Values, path: string): Failure[] {
  const failures: Failure[] = [];
  for (const key of shape.required ?? [])
    if (values[key] === undefined || values[key] === null)
      failures.push({ property: path + key, reason: `Missing required property '${path}${key}'` });
  const allowed = new Set([...(shape.required ?? []), ...shape.keys, "__defaults"]);
  for (const [key, value] of Object.entries(values)) {
    if (!allowed.has(key))
      failures.push({
        property: path + key,
        reason: `'${key}' is not a property this stand-in or the provider knows here`,
      });
    const nested = shape.nested?.[key],
      list = shape.lists?.[key];
    if (nested && isObject(value)) failures.push(...walk(nested, value, `${path}${key}.`));
    if (list && Array.isArray(value))
      for (const [i, item] of value.entries())
        if (isObject(item)) failures.push(...walk(list, item, `${path}${key}[${i}].`));
  }
  return failures;
}

export function at(value: Value | undefined, ...path: (string | number)[]): Value | undefined {
  return path.reduce<Value | undefined>(
    (v, key) =>
      Array.isArray(v) && typeof key === "number"
        ? v[key]
        : isObject(v) && typeof key === "string"
          ? v[key]
          : undefined,
    value,
  );
}

/** Keys of which any change makes the resource anew, the old one deleted first. */
const REPLACING: Record<string, string[]> = {
  "proxmoxve:download/file:File": ["url", "fileName", "datastoreId", "nodeName", "contentType", "checksum"],
  "proxmoxve:index/vmLegacy:VmLegacy": ["vmId", "nodeName"],
  "proxmoxve:index/containerLegacy:ContainerLegacy": [
    "vmId",
    "nodeName",
    "unprivileged",
    "operatingSystem",
    "devicePassthroughs",
  ],
};

export function replaces(type: string, key: string, olds: Values, news: Values): boolean {
  if (REPLACING[type]!.includes(key)) return true;
  if (type.endsWith("VmLegacy"))
    return key === "initialization" && at(olds[key], "userDataFileId") !== at(news[key], "userDataFileId");
  if (!type.endsWith("ContainerLegacy")) return false;
  const count = (v: Value | undefined): number => (Array.isArray(v) ? v.length : 0);
  return (
    (key === "initialization" &&
      JSON.stringify(at(olds[key], "userAccount")) !== JSON.stringify(at(news[key], "userAccount"))) ||
    (key === "mountPoints" && count(news[key]) > count(olds[key]))
  );
}

/** [P] rules of the provider's own configuration. */
export function configFailures(config: Values): Failure[] {
  const failures: Failure[] = [];
  if (!/^https:\/\/[^/]+/.test(String(config["endpoint"] ?? "")))
    failures.push({
      property: "endpoint",
      reason: "You must specify a secure endpoint for the Proxmox Virtual Environment API (valid: https://host:port)",
    });
  const token = config["apiToken"];
  if (typeof token === "string" && token !== "" && !/^\S+@\S+!\S+=\S+$/.test(token))
    failures.push({ property: "apiToken", reason: "must be a valid API token, e.g. 'USER@REALM!TOKENID=UUID'" });
  if (!token && !(config["username"] && config["password"]))
    failures.push({
      property: "apiToken",
      reason: "must provide either username and password, an API token, or a ticket",
    });
  return failures;
}
