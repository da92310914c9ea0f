/** Which endpoint data goes through. */
import type { Endpoint, Target } from "../contract.ts";
import { describe, openSession } from "./session.ts";
import type { Session } from "./session.ts";

const ORDER: Record<Endpoint["role"], number> = { primary: 0, any: 1, proxy: 2, replica: 3 };

/** Best first. One node takes the whole load: writers on several Galera nodes would meet in certification. */
export function loadOrder(endpoints: Endpoint[]): Endpoint[] {
  return endpoints.toSorted((a, b) => ORDER[a.role] - ORDER[b.role]);
}

/** A session to the first endpoint in load order that takes one. Throws one line per endpoint when none does. */
export async function openFirst(target: Target): Promise<Session> {
  const failures: string[] = [];
  for (const endpoint of loadOrder(target.endpoints)) {
    try {
      return await openSession(target, endpoint);
    } catch (error) {
      failures.push(describe(error, endpoint, target));
    }
  }
  throw new Error(failures.join("\n"));
}
