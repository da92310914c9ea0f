/** The only reader of pulumi.Config: hands on a checked configuration or ends the program with every problem named. */
import * as pulumi from "@pulumi/pulumi";
import { checkConfig } from "./config/check.ts";
import { withEnvironment } from "./config/environment.ts";
import { ConfigError } from "./config/errors.ts";
import { ambiguousStackFile, stackFileFolders } from "./config/plain-scalars.ts";
import type { Config } from "./config/schema.ts";
import { configValue } from "./config/values.ts";
import { checkout } from "./paths.ts";
import { archiveProblem } from "./proxies/archive.ts";
import { proxyRelease } from "./proxies/glibc.ts";

export async function readConfig(): Promise<Config> {
  // The engine has read the file already; what it made of such a word cannot be told from what is right.
  const ambiguous = stackFileFolders(pulumi.runtime.getRootDirectory()).flatMap((folder) =>
    ambiguousStackFile(pulumi.getStack(), folder),
  );
  if (ambiguous.length > 0) throw new ConfigError([...new Set(ambiguous)]);
  const checked = checkConfig(withEnvironment(rawConfig(pulumi.getProject()), process.env), rawConfig("aws"));
  if ("problems" in checked) throw new ConfigError(checked.problems);
  const { archive } = checked.config.proxy;
  const problem = archive && (await archiveProblem(archive, checkout, proxyRelease(checked.config)));
  if (problem) throw new ConfigError([problem]);
  for (const warning of checked.warnings) await pulumi.log.warn(warning);
  return checked.config;
}

/** All keys of the namespace, also those that nobody asks for: an unknown one is a mistake to be named. */
function rawConfig(namespace: string): Record<string, unknown> {
  const raw: Record<string, unknown> = {};
  for (const [key, text] of Object.entries(pulumi.runtime.allConfig() ?? {})) {
    if (!key.startsWith(`${namespace}:`)) continue;
    const name = key.slice(namespace.length + 1),
      value = configValue(name, text);
    if (value !== undefined) raw[name] = value;
  }
  return raw;
}
