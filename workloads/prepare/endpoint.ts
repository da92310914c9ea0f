/** Which endpoint data goes through. */
import type { Endpoint, Target } from "../contract.ts";
import type { Session } from "./session.ts";
import { describe, errorCode, openSession } from "./session.ts";

const ORDER: Record<Endpoint["role"], number> = { primary: 0, any: 1, proxy: 2, replica: 3 };

/** Best first. One node takes the whole load: writers on several Galera nodes would meet in certification. */
export function loadOrder(endpoints: Endpoint[]): Endpoint[] {
  return endpoints.toSorted((a, b) => ORDER[a.role] - ORDER[b.role]);
}

/**
 * A session to the first endpoint in load order that takes one; with `createDatabase`, a missing database is made.
 * Throws one line per endpoint when none does.
 */
export async function openFirst(target: Target, createDatabase = false): Promise<Session> {
  const failures: string[] = [];
  for (const endpoint of loadOrder(target.endpoints)) {
    try {
      if (createDatabase) return await openOrCreate(target, endpoint);
      return await openSession(target, endpoint);
    } catch (error) {
      failures.push(describe(error, endpoint, target));
    }
  }
  throw new Error(failures.join("\n"));
}

async function openOrCreate(target: Target, endpoint: Endpoint): Promise<Session> {
  try {
    return await openSession(target, endpoint);
  } catch (error) {
    if (!["1049", "3D000"].includes(errorCode(error))) throw error;
  }
  // PostgreSQL has no session without a database; this one is there on every server unless somebody dropped it.
  const outside = await openSession(
    { ...target, database: target.driver === "postgres" ? "postgres" : target.database },
    endpoint,
    { noDatabase: true },
  );
  try {
    const name =
      target.driver === "mysql"
        ? `\`${target.database.replaceAll("`", "``")}\``
        : `"${target.database.replaceAll('"', '""')}"`;
    await outside.query(
      target.driver === "mysql" ? `CREATE DATABASE IF NOT EXISTS ${name}` : `CREATE DATABASE ${name}`,
      60_000,
    );
  } finally {
    outside.close();
  }
  return openSession(target, endpoint);
}
