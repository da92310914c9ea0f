/** Checks that every engine makes of `meshbench:database.variables`. Pure. */
import { CONNECTION_HEADROOM, maxThreads } from "../config/counts.ts";
import type { Config } from "../config/schema.ts";

const KEY = "meshbench:database.variables";

/** @param owned names that the topology sets itself */
export function checkVariables(variables: Record<string, string>, owned: readonly string[], config: Config): string[] {
  const problems: string[] = [];
  for (const name of owned)
    if (Object.hasOwn(variables, name))
      problems.push(`${KEY}.${name}: given; expected no such key: the topology sets it`);
  for (const [name, value] of Object.entries(variables))
    if (/[\n\r]/.test(value))
      problems.push(`${KEY}.${name}: a value with a line break, which would begin another setting; expected one line`);
  const given = variables["max_connections"];
  const threads = maxThreads(config);
  const least = threads + CONNECTION_HEADROOM;
  if (given !== undefined && !(Number(given) >= least))
    problems.push(
      `${KEY}.max_connections: ${given}; expected at least ${least}: the ${threads} threads of meshbench:profile and ${CONNECTION_HEADROOM} for monitoring`,
    );
  return problems;
}

/** An engine without replication is one server. */
export function checkSingle(config: Config, nodes: number): string[] {
  const { engine } = config.database;
  return nodes > 1
    ? [
        `meshbench:database.replication: "none", one ${engine} server, with ${nodes} database nodes in meshbench:sites; expected 1`,
      ]
    : [];
}
