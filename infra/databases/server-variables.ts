/** Checks that every engine makes of `meshbench:database.variables`. Pure. */
import { CONNECTION_HEADROOM, maxThreads } from "../config/counts.ts";
import type { Config } from "../config/schema.ts";

const KEY = "meshbench:database.variables";

/** @param owned names that the topology sets itself */
export function checkVariables(variables: Record<string, string>, owned: readonly string[], config: Config): string[] {
  const problems: string[] = [];
  for (const name of owned)
    if (Object.hasOwn(variables, name)) problems.push(`${KEY}.${name} is set by the topology itself, leave it out`);
  for (const [name, value] of Object.entries(variables))
    if (/[\n\r]/.test(value)) problems.push(`${KEY}.${name} holds a line break, which would begin another setting`);
  const given = variables["max_connections"];
  const threads = maxThreads(config);
  const least = threads + CONNECTION_HEADROOM;
  if (given !== undefined && !(Number(given) >= least))
    problems.push(
      `${KEY}.max_connections is ${given}, but meshbench:profile runs ${threads} threads; allowed is at least ${least} (threads and ${CONNECTION_HEADROOM} for monitoring)`,
    );
  return problems;
}

/** An engine without replication is one server. */
export function checkSingle(config: Config, nodes: number): string[] {
  const { engine } = config.database;
  return nodes > 1
    ? [
        `meshbench:database.replication is "none", one ${engine} server, but the sites have ${nodes} database nodes; allowed is 1`,
      ]
    : [];
}
