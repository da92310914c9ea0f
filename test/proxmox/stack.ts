/** The shipped Pulumi.proxmox-only.yaml with what a user has to set, and a smaller workload. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import type { ConfigInput } from "../../infra/config/schema.ts";
import { checkout } from "../../tools/paths.ts";

export type Site = Record<string, unknown>;

export function shippedConfig(): ConfigInput {
  const { config } = parse(readFileSync(join(checkout, "Pulumi.proxmox-only.yaml"), "utf8")) as {
    config: Record<string, unknown>;
  };
  return Object.fromEntries(
    Object.entries(config).map(([k, v]) => [k.replace(/^meshbench:/, ""), v]),
  ) as unknown as ConfigInput;
}

/** `site`: joins the one site of the shipped file. */
export function proxmoxOnly(site: Site, more: Partial<Record<keyof ConfigInput, unknown>>): ConfigInput {
  const shipped = shippedConfig();
  return { ...shipped, sites: [{ ...shipped.sites[0]!, ...site }], ...more } as ConfigInput;
}
