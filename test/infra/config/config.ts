/** Configurations for tests, checked as a user's would be. */
import { checkConfig } from "../../../infra/config/check.ts";
import type { Config } from "../../../infra/config/schema.ts";

export function configOf(raw: Record<string, unknown> = {}): Config {
  const checked = checkConfig(raw);
  if ("problems" in checked) throw new Error(checked.problems.join("\n"));
  return checked.config;
}

export function problemsOf(raw: Record<string, unknown>): string[] {
  const checked = checkConfig(raw);
  return "problems" in checked ? checked.problems : [];
}

export function warningsOf(raw: Record<string, unknown>): string[] {
  const checked = checkConfig(raw);
  return "problems" in checked ? [] : checked.warnings;
}
