/** Asks the clouds, before anything is created, whether they could do what is configured. */
import * as pulumi from "@pulumi/pulumi";
import { ConfigError } from "../config/errors.ts";
import type { Config } from "../config/schema.ts";
import { kindsOf } from "../sites/kinds/index.ts";
import type { NodePlan } from "../topology.ts";
import type { Check } from "./check.ts";
import type { Owned } from "./owned.ts";

export type { Check } from "./check.ts";

/** Every question and its answer; for a program that shows them. */
export async function runPreflight(config: Config, plans: NodePlan[], owned: Owned): Promise<Check[]> {
  const checks = kindsOf(config).map(async ({ preflight: load }) => (await load?.())?.(config, plans, owned) ?? []);
  return (await Promise.all(checks)).flat();
}

/** What is known of the clouds from asking them. */
export interface Seen {
  /** AWS accounts by site. */
  accounts: Record<string, string>;
}

/** Ends the program with every failure named; says what could not be asked. */
export async function preflight(config: Config, plans: NodePlan[], owned: Owned): Promise<Seen> {
  if (!config.preflight) return { accounts: {} };
  const checks = await runPreflight(config, plans, owned);
  for (const { check, message } of checks.filter((c) => c.skipped))
    await pulumi.log.warn(`not checked beforehand: ${check}: ${message}`);
  const failures = checks.filter((c) => !c.ok).map((c) => c.message);
  const last = failures.pop();
  if (last !== undefined)
    throw new ConfigError([...failures, `${last} (meshbench:preflight false goes on without asking)`]);
  return { accounts: Object.fromEntries(checks.flatMap((c) => (c.account ? [[c.account.site, c.account.id]] : []))) };
}
