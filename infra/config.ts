/** The only reader of pulumi.Config: hands on a checked configuration or ends the program with every problem named. */
import * as pulumi from "@pulumi/pulumi";
import { checkConfig } from "./config/check.ts";
import { withEnvironment } from "./config/environment.ts";
import { ConfigError } from "./config/errors.ts";
import type { Config } from "./config/schema.ts";
import { checkout } from "./paths.ts";
import { archiveProblem } from "./proxies/archive.ts";

export async function readConfig(): Promise<Config> {
  const checked = checkConfig(withEnvironment(rawConfig(pulumi.getProject()), process.env));
  if ("problems" in checked) throw new ConfigError(checked.problems);
  const { archive } = checked.config.proxy;
  const problem = archive && await archiveProblem(archive, checkout);
  if (problem) throw new ConfigError([problem]);
  for (const warning of checked.warnings) await pulumi.log.warn(warning);
  return checked.config;
}

/** All keys of the namespace, also those that nobody asks for: an unknown one is a mistake to be named. */
function rawConfig(namespace: string): Record<string, unknown> {
  const raw: Record<string, unknown> = {};
  for (const [key, text] of Object.entries(pulumi.runtime.allConfig() ?? {})) {
    // Pulumi.yaml declares every key, and a declared key must have a value: an empty text stands for none.
    if (key.startsWith(`${namespace}:`) && text !== "") raw[key.slice(namespace.length + 1)] = TEXT.has(key.slice(namespace.length + 1)) ? text : parse(text);
  }
  return raw;
}

/** Names that may look like a number and are none. */
const TEXT = new Set(["runId", "owner", "lab"]);

/** Pulumi hands objects, arrays, numbers and booleans over as JSON text and strings as they are. */
function parse(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    return text;
  }
}
