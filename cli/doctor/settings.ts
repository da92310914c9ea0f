/** A stack's configuration as the program will see it, read without an engine as far as that goes. */

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { withEnvironment } from "../../infra/config/environment.ts";
import { configValue } from "../../infra/config/values.ts";
import { findEngine } from "../../tools/engine/engine.ts";
import { ToolError } from "../../tools/paths.ts";
import { openProject } from "../../tools/project.ts";
import { runPulumi } from "../../tools/run.ts";
import { isSecure, mergeSettings, type Settings } from "../../tools/start/stack-files.ts";

export interface StackSettings {
  /** checkConfig's input. A secret that nobody here can decrypt is a stand-in of its form. */
  raw: Record<string, unknown>;
  /** What stands under `aws:`. */
  aws: Record<string, unknown>;
  /** Keys of secrets that could not be decrypted. */
  sealed: string[];
}

const STACK_FILE = /^Pulumi\.(.+)\.ya?ml$/;

/** Stacks with a committed file, and those that only this machine has a file for. */
export function knownStacks(root: string): { committed: string[]; own: string[] } {
  const inside = (folder: string): string[] =>
    existsSync(folder)
      ? readdirSync(folder)
          .flatMap((name) => STACK_FILE.exec(name)?.[1] ?? [])
          .sort()
      : [];
  const committed = inside(root);
  return { committed, own: inside(workFolder(root)).filter((name) => !committed.includes(name)) };
}

/** As openProject has it, which would make the folder. */
const workFolder = (root: string): string => join(root, ".meshbench", "project");

function read(file: string): Settings {
  return existsSync(file) ? ((parse(readFileSync(file, "utf8"), { merge: true }) ?? {}) as Settings) : {};
}

/**
 * Committed file and what was set on this machine, laid over each other as they are for a run. Throws what the YAML
 * parser throws.
 */
export function stackFile(root: string, stack: string): Record<string, unknown> {
  const name = `Pulumi.${stack}.yaml`;
  const copy = join(workFolder(root), name);
  const committed = read(join(root, name));
  const settings = existsSync(copy)
    ? mergeSettings(committed, read(join(workFolder(root), ".committed", name)), read(copy))
    : committed;
  return (settings["config"] ?? {}) as Record<string, unknown>;
}

/** What Pulumi.yaml gives to every stack. */
function declared(root: string): { namespace: string; defaults: Record<string, unknown> } {
  const { name, config = {} } = read(join(root, "Pulumi.yaml")) as {
    name: string;
    config?: Record<string, { default?: unknown }>;
  };
  return {
    namespace: `${name}:`,
    defaults: Object.fromEntries(Object.entries(config).map(([key, value]) => [key, value.default])),
  };
}

/** Of the form that the checks ask for, so that they go on to what can be checked. */
const SEALED: Record<string, string> = { proxmoxToken: "sealed@sealed!sealed=sealed" };

/** Each encrypted part of a value by a stand-in of its form; the rest of an object as it is. */
function unsealed(key: string, value: unknown): unknown {
  if (!isSecure(value)) return value;
  if (Object.keys(value as object).join() === "secure") return SEALED[key] ?? "sealed";
  const parts = Object.entries(value as object).map(([name, part]): [string, unknown] => [name, unsealed(key, part)]);
  return Array.isArray(value) ? parts.map(([, part]) => part) : Object.fromEntries(parts);
}

export async function readSettings(root: string, stack: string): Promise<StackSettings> {
  const { namespace, defaults } = declared(root);
  let config = stackFile(root, stack);
  const secret = Object.keys(config).filter((key) => isSecure(config[key]));
  const decrypted = secret.length > 0 ? await decrypt(root, stack) : undefined;
  if (decrypted) config = { ...config, ...Object.fromEntries(secret.map((key) => [key, decrypted[key]])) };
  const own = Object.entries(config)
    .filter(([key]) => key.startsWith(namespace))
    .map(([key, value]): [string, unknown] => [key.slice(namespace.length), value]);
  const merged = Object.entries({ ...defaults, ...Object.fromEntries(own) });
  const sealed = decrypted ? [] : secret.map((key) => (key.startsWith(namespace) ? key.slice(namespace.length) : key));
  const aws = Object.entries(config)
    .filter(([key]) => key.startsWith("aws:") && !sealed.includes(key))
    .map(([key, value]): [string, unknown] => [key.slice(4), configValue(key.slice(4), value)])
    .filter(([, value]) => value !== undefined);
  const raw = merged.map(([key, value]): [string, unknown] => [
    key,
    sealed.includes(key) ? unsealed(key, value) : configValue(key, value),
  ]);
  return {
    raw: withEnvironment(Object.fromEntries(raw.filter(([, value]) => value !== undefined)), process.env),
    aws: Object.fromEntries(aws),
    sealed,
  };
}

/** Through the engine, which alone knows how; undefined when it is not here or cannot. */
async function decrypt(root: string, stack: string): Promise<Record<string, unknown> | undefined> {
  if ((await findEngine()).engine === undefined) return undefined;
  // Another stack's file that cannot be read stops the engine too: what is encrypted then stays unread.
  const { code, stdout } = await runPulumi(["config", "--json", "--show-secrets", "--stack", stack], {
    project: openProject(root),
    stdio: ["ignore", "pipe", "pipe"],
    say: () => {},
  }).catch((error: unknown) => {
    if (!(error instanceof ToolError)) throw error;
    return { code: 1, stdout: "" };
  });
  if (code !== 0) return undefined;
  const values = JSON.parse(stdout) as Record<string, { value?: unknown; objectValue?: unknown }>;
  return Object.fromEntries(Object.entries(values).map(([key, { value, objectValue }]) => [key, objectValue ?? value]));
}
