/**
 * Property values as the engine sends them: plain JSON in which a few kinds of value are objects
 * with a signature (`sdk/go/common/resource/sig` in Pulumi's SDK).
 */
export type Value = null | boolean | number | string | Value[] | { [key: string]: Value };
export type Values = { [key: string]: Value };

const signatureKey = "4dabf18193072939515e22adb298388d";
const secretSignature = "1b47061264138c4ac30d75fd1eb44270";
const assetSignature = "c44067f5952c0a294b673a41bacd8c17";
const archiveSignature = "0def7320c3a5731c473e5ecbe6d01bc7";

/** What stands for a value not known until something is created (previews only). */
export const unknown = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

export function isObject(value: Value | undefined): value is Values {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function hasSignature(value: Value | undefined, signature: string): value is Values {
  return isObject(value) && value[signatureKey] === signature;
}

export function isSecret(value: Value | undefined): value is Values {
  return hasSignature(value, secretSignature);
}

export function makeSecret(value: Value): Value {
  return isSecret(value) ? value : { [signatureKey]: secretSignature, value };
}

/** The value with every secret inside it opened. */
export function plain(value: Value): Value {
  if (isSecret(value)) return plain(value["value"] ?? null);
  if (Array.isArray(value)) return value.map(plain);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, plain(inner)]));
}

export function plainObject(values: Values): Values {
  return plain(values) as Values;
}

export type Source = { kind: "file"; path: string; hash: string } | { kind: "text"; text: string; hash: string };

/** An asset or archive, opened; undefined when it's neither a path nor text. */
export function assetSource(value: Value | undefined): Source | undefined {
  const isAsset = hasSignature(value, assetSignature);
  if (!isAsset && !hasSignature(value, archiveSignature)) return undefined;
  const { path, text, hash } = value;
  if (typeof path === "string" && path !== "") return { kind: "file", path, hash: String(hash) };
  if (isAsset && typeof text === "string") return { kind: "text", text, hash: String(hash) };
  return undefined;
}
