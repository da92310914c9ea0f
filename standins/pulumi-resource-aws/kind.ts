/**
 * What the stand-in knows of a resource type: which inputs it takes, what a change of one does, and how it lives in
 * moto.
 */
import type { EC2Client } from "@aws-sdk/client-ec2";
import type { Log } from "../pulumi-resource-command/log.ts";
import { isObject, plain, unknown, type Value, type Values } from "../pulumi-resource-command/values.ts";

export interface Call {
  ec2: EC2Client;
  region: string;
  name: string;
  log: Log;
}

export interface Made {
  id: string;
  outputs: Values;
}

export interface Kind {
  required: string[];
  optional: string[];
  /** Rules on given values beyond their presence; the sentence that the provider would give, or undefined. */
  rules?: Record<string, (value: Value, inputs: Values) => string | undefined>;
  /** Property paths of which a change makes the resource anew; everything else changes in place. */
  replaced: string[];
  /** Outputs that are not inputs: unknown in a preview of a create. */
  computed: string[];
  create(inputs: Values, call: Call): Promise<Made>;
  /** What is there now over what was known; undefined: gone. */
  read(id: string, state: Values, call: Call): Promise<Values | undefined>;
  update?(id: string, inputs: Values, state: Values, call: Call): Promise<Values>;
  remove(id: string, state: Values, call: Call): Promise<void>;
}

export interface Failure {
  property: string;
  reason: string;
}

export function check(type: string, kind: Kind, inputs: Values): Failure[] {
  const failures: Failure[] = [];
  const known = [...kind.required, ...kind.optional];
  for (const key of kind.required)
    if (inputs[key] === undefined || inputs[key] === null)
      failures.push({
        property: key,
        reason: `Missing required argument. The argument "${key}" is required, but no definition was found.`,
      });
  for (const [key, value] of Object.entries(inputs)) {
    if (key === "version" || key.startsWith("__") || value === null || value === undefined) continue;
    if (!known.includes(key)) {
      failures.push({ property: key, reason: `"${key}" is no argument that this stand-in knows for ${type}` });
      continue;
    }
    const given = plain(value);
    const reason = holdsUnknown(given) ? undefined : kind.rules?.[key]?.(given, inputs);
    if (reason !== undefined) failures.push({ property: key, reason });
  }
  return failures;
}

export function holdsUnknown(value: Value): boolean {
  if (Array.isArray(value)) return value.some(holdsUnknown);
  return isObject(value) ? Object.values(value).some(holdsUnknown) : value === unknown;
}

export const oneOf =
  (...allowed: (string | number | boolean)[]) =>
  (value: Value): string | undefined =>
    allowed.includes(value as string)
      ? undefined
      : `expected to be one of ${JSON.stringify(allowed)}, got ${JSON.stringify(value)}`;

export const between =
  (low: number, high: number) =>
  (value: Value): string | undefined =>
    typeof value === "number" && value >= low && value <= high
      ? undefined
      : `expected to be in the range (${low} - ${high}), got ${JSON.stringify(value)}`;

export function isCidr(value: Value): string | undefined {
  const m = /^(\d+)\.(\d+)\.(\d+)\.(\d+)\/(\d+)$/.exec(String(value));
  const [a = 0, b = 0, c = 0, d = 0, bits = 0] = m?.slice(1).map(Number) ?? [];
  const address = ((a << 24) | (b << 16) | (c << 8) | d) >>> 0;
  const fits = m !== null && [a, b, c, d].every((o) => o < 256) && bits <= 32 && address % 2 ** (32 - bits) === 0;
  return fits ? undefined : `"${String(value)}" is not a valid IPv4 CIDR block`;
}

/** Inputs with secrets opened, as code wants them. */
export const open = <T>(values: Values): T => plain(values) as unknown as T;

export const tagList = (tags: Value | undefined): { Key: string; Value: string }[] =>
  isObject(tags) ? Object.entries(tags).map(([Key, value]) => ({ Key, Value: String(value) })) : [];
