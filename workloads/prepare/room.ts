/** One endpoint's limits, as it states them itself. */
import type { Endpoint, Target } from "../contract.ts";
import { shown } from "../drivers/address.ts";
import type { Session } from "./session.ts";
import { errorCode, openSession } from "./session.ts";

/** What one endpoint has room for; Infinity where nothing limits it or it could not be asked. */
export interface Room {
  where: string;
  sessions: Limit;
  statements: Limit;
}

export interface Limit {
  /** The server's or the account's own name for it. */
  key: string;
  /** As it is set. */
  set: number;
  /** Of it still free, over all servers that stand behind the endpoint. */
  free: number;
}

const ASK_MS = 10_000;
const NO_LIMIT: Limit = { key: "", set: Infinity, free: Infinity };

/**
 * @param alone what is in use now is in use by others
 * @param servers that stand behind the endpoint
 */
export async function roomOn(target: Target, endpoint: Endpoint, alone: boolean, servers: number): Promise<Room> {
  const where = shown(endpoint);
  let session: Session | undefined;
  try {
    session = await openSession(database(target), endpoint, { noDatabase: true });
    const room =
      target.driver === "mysql" ? await mysqlRoom(session, alone, servers) : await postgresRoom(session, alone);
    return { where, ...room };
  } catch {
    // Whether a server can be reached is not this check's question.
    return { where, sessions: NO_LIMIT, statements: NO_LIMIT };
  } finally {
    session?.close();
  }
}

/** The limits are the server's; its own database is there before the spec's is made. */
function database(target: Target): Target {
  return target.driver === "postgres" ? { ...target, database: "postgres" } : target;
}

async function mysqlRoom(
  session: Session,
  alone: boolean,
  servers: number,
): Promise<{ sessions: Limit; statements: Limit }> {
  const values = new Map<string, number>();
  for (const sql of [
    "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('max_connections', 'max_prepared_stmt_count')",
    // The account's own limit shows as the session's value.
    "SHOW SESSION VARIABLES WHERE Variable_name = 'max_user_connections'",
    "SHOW GLOBAL STATUS WHERE Variable_name IN ('Threads_connected', 'Prepared_stmt_count')",
  ])
    for (const row of await session.query(sql, ASK_MS)) values.set(String(row["Variable_name"]), Number(row["Value"]));
  const limit = (key: string, used: number): Limit => {
    const set = values.get(key) ?? Infinity;
    return { key, set, free: Math.max(0, set - (alone ? used : 0)) * servers };
  };
  // Less this very session.
  const connected = (values.get("Threads_connected") ?? 1) - 1;
  const server = limit("max_connections", connected);
  const account = limit("max_user_connections", 0);
  return {
    sessions: account.set > 0 && account.free < server.free ? account : server,
    statements: limit("max_prepared_stmt_count", values.get("Prepared_stmt_count") ?? 0),
  };
}

async function postgresRoom(session: Session, alone: boolean): Promise<{ sessions: Limit; statements: Limit }> {
  const none = { sessions: NO_LIMIT, statements: NO_LIMIT };
  const [row] = await session.query(
    `SELECT current_setting('max_connections')::int AS set, COALESCE(current_setting('superuser_reserved_connections', true), '0')::int
      + COALESCE(current_setting('reserved_connections', true), '0')::int AS reserved,
      (SELECT rolconnlimit FROM pg_roles WHERE rolname = current_user) AS account, pg_backend_pid() AS pid,
      (SELECT COUNT(*)::int FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()) AS used`,
    ASK_MS,
  );
  // Behind a pooler, which makes up the session's number, many clients share few sessions.
  if (row === undefined || (session.backend !== undefined && session.backend !== Number(row["pid"]))) return none;
  const set = Number(row["set"]);
  const used = alone ? Number(row["used"]) : 0;
  const server = { key: "max_connections", set, free: Math.max(0, set - Number(row["reserved"]) - used) };
  const own = Number(row["account"]);
  const account = { key: "the role's CONNECTION LIMIT", set: own, free: own };
  return { ...none, sessions: own >= 0 && own < server.free ? account : server };
}

/**
 * Whether two clients can get one and the same server session, as behind pgbouncer with pool_mode = transaction: a
 * statement that the first one prepared is there for the second one. (pgbouncer 1.21 and later may keep each client's
 * statements apart; then it isn't.)
 */
export async function sharesSessions(target: Target, endpoint: Endpoint): Promise<boolean> {
  const open: Session[] = [];
  try {
    const name = `meshbench_${process.pid}`;
    const first = await openSession(target, endpoint);
    open.push(first);
    await first.query(`PREPARE ${name} AS SELECT 1`, ASK_MS);
    const second = await openSession(target, endpoint);
    open.push(second);
    try {
      await second.query(`PREPARE ${name} AS SELECT 1`, ASK_MS);
    } catch (error) {
      if (errorCode(error) !== "42P05") return false;
      await second.query(`DEALLOCATE ${name}`, ASK_MS);
      return true;
    }
    await second.query(`DEALLOCATE ${name}`, ASK_MS);
    await first.query(`DEALLOCATE ${name}`, ASK_MS);
    return false;
  } catch {
    return false;
  } finally {
    for (const session of open) session.close();
  }
}
