/** Which endpoint data goes through. */
import type { Endpoint, Target } from "../contract.ts";
import { isError } from "../dialects/errors.ts";
import { dialectOf } from "../dialects/index.ts";
import { shown } from "../drivers/address.ts";
import type { Session } from "../sql-session.ts";
import { describe, errorCode, openSession } from "../sql-session.ts";

const ASK_MS = 10_000;
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
      const session = await (createDatabase ? openOrCreate(target, endpoint) : openSession(target, endpoint));
      if (await takesWrites(session, target, endpoint)) return session;
      session.close();
      failures.push(`${shown(endpoint)}: takes no writes now`);
    } catch (error) {
      failures.push(
        (await wantsTls(target, endpoint, error))
          ? `${shown(endpoint)}: user "${target.user}" is let in over TLS only; expected --tls require or verify (target.tls.mode)`
          : describe(error, endpoint, target),
      );
    }
  }
  throw new Error(failures.join("\n"));
}

/** Endpoints that are nodes are asked, where roles can change; a proxy leads to the right one. */
async function takesWrites(session: Session, target: Target, endpoint: Endpoint): Promise<boolean> {
  const { roles } = target;
  if (roles === undefined || !roles.nodes.some(({ name }) => name === endpoint.name)) return true;
  const question = dialectOf(target).roles[roles.rule];
  if (question === undefined) return true;
  try {
    const [row] = await session.query(question.sql, ASK_MS);
    return question.role(Object.values(row ?? {})) === "primary";
  } catch (error) {
    session.close();
    throw error;
  }
}

/**
 * MySQL and MariaDB refuse an account that has to use TLS, and MariaDB every account where the server has to, as they
 * refuse a wrong password.
 */
async function wantsTls(target: Target, endpoint: Endpoint, error: unknown): Promise<boolean> {
  if (target.tls.mode !== "off" || !isError("loginRefused", errorCode(error))) return false;
  try {
    (await openSession({ ...target, tls: { mode: "require" } }, endpoint, { noDatabase: true })).close();
    return true;
  } catch {
    return false;
  }
}

async function openOrCreate(target: Target, endpoint: Endpoint): Promise<Session> {
  try {
    return await openSession(target, endpoint);
  } catch (error) {
    if (!isError("noDatabase", errorCode(error))) throw error;
  }
  const { outsideDatabase = target.database, createDatabase } = dialectOf(target);
  const outside = await openSession({ ...target, database: outsideDatabase }, endpoint, { noDatabase: true });
  try {
    await outside.query(createDatabase(target.database), 60_000);
  } finally {
    outside.close();
  }
  return openSession(target, endpoint);
}
