import { isObject, isSecret, makeSecret, plain, type Value, type Values } from "./values.ts";

export type ResourceType = "command:local:Command" | "command:remote:Command" | "command:remote:CopyToRemote";
type Kind = "string" | "number" | "boolean" | "strings" | "map" | "any" | "list" | "connection";
type Shape = { required: Record<string, Kind>; optional: Record<string, Kind> };

const command: Record<string, Kind> = {
  create: "string",
  update: "string",
  delete: "string",
  triggers: "list",
  stdin: "string",
  logging: "string",
  environment: "map",
  addPreviousOutputInEnv: "boolean",
};

const shapes: Record<ResourceType, Shape> = {
  "command:local:Command": {
    required: {},
    optional: { ...command, interpreter: "strings", dir: "string", assetPaths: "strings", archivePaths: "strings" },
  },
  "command:remote:Command": { required: { connection: "connection" }, optional: command },
  "command:remote:CopyToRemote": {
    required: { connection: "connection", source: "any", remotePath: "string" },
    optional: { triggers: "list" },
  },
};

/** The defaults the vendor's provider fills in, and so what its state files hold. */
const connectionDefaults: Values = { user: "root", port: 22, dialErrorLimit: 10, perDialTimeout: 15 };
const connectionSecrets = ["password", "privateKey", "privateKeyPassword"];
const endpointProperties = [
  ...connectionSecrets,
  ...Object.keys(connectionDefaults),
  "host",
  "agentSocketPath",
  "hostKey",
];

export interface Failure {
  property: string;
  reason: string;
}

export function isResourceType(type: string): type is ResourceType {
  return Object.hasOwn(shapes, type);
}

function completeConnection(value: Value): Value {
  if (isSecret(value)) return makeSecret(completeConnection(value["value"] ?? null));
  if (!isObject(value)) return value;
  const complete: Values = { ...connectionDefaults, ...(value as Values) };
  for (const key of connectionSecrets) {
    if (complete[key]) complete[key] = makeSecret(complete[key]);
  }
  if (complete["proxy"]) complete["proxy"] = completeConnection(complete["proxy"]);
  return complete;
}

/** The properties a connection has that there are none of, as `proxy.nmae`. */
function unrecognized(connection: Value, known: string[], prefix = ""): string[] {
  if (!isObject(connection)) return [];
  return Object.entries(connection).flatMap(([key, value]) =>
    key === "proxy" && known.includes(key)
      ? unrecognized(value, endpointProperties, "proxy.")
      : known.includes(key)
        ? []
        : [prefix + key],
  );
}

/** Fills in defaults, marks secrets, and says which properties are missing, unknown or refused. */
export function check(type: ResourceType, inputs: Values): { inputs: Values; failures: Failure[] } {
  const { required, optional } = shapes[type];
  const failures: Failure[] = [];
  for (const key of Object.keys(required)) {
    if (inputs[key] === undefined || inputs[key] === null) {
      failures.push({ property: key, reason: `missing required property '${key}'` });
    }
  }
  for (const key of Object.keys(inputs)) {
    if (!Object.hasOwn(required, key) && !Object.hasOwn(optional, key) && key !== "version" && !key.startsWith("__")) {
      failures.push({ property: key, reason: `'${key}' is not a property of ${type}` });
    }
  }
  for (const key of ["assetPaths", "archivePaths"]) {
    const paths = plain(inputs[key] ?? null);
    if (Array.isArray(paths) && paths.length > 0) {
      failures.push({ property: key, reason: `'${key}' is not supported by this stand-in for the vendor's plugin` });
    }
  }
  const connection = inputs["connection"];
  for (const key of unrecognized(plain(connection ?? null), [...endpointProperties, "proxy"])) {
    failures.push({ property: "connection", reason: `${key}: Unrecognized field '${key.split(".").pop()}'` });
  }
  const complete = connection ? { ...inputs, connection: makeSecret(completeConnection(connection)) } : inputs;
  return { inputs: complete, failures };
}
