/** One endpoint's limits, as it states them itself. */
import type { Endpoint, Target } from "../contract.ts";
import type { Room } from "../dialects/dialect.ts";
import { NO_LIMIT } from "../dialects/dialect.ts";
import { dialectOf } from "../dialects/index.ts";
import { shown } from "../drivers/address.ts";
import type { Session } from "../sql-session.ts";
import { openSession } from "../sql-session.ts";

/** What one endpoint has room for; Infinity where nothing limits it or it could not be asked. */
export interface EndpointRoom extends Room {
  readonly where: string;
}

/**
 * @param alone what is in use now is in use by others
 * @param servers that stand behind the endpoint
 */
export async function roomOn(
  target: Target,
  endpoint: Endpoint,
  alone: boolean,
  servers: number,
): Promise<EndpointRoom> {
  const where = shown(endpoint);
  const { outsideDatabase = target.database, room } = dialectOf(target);
  let session: Session | undefined;
  try {
    // The limits are the server's; its own database is there before the spec's is made.
    session = await openSession({ ...target, database: outsideDatabase }, endpoint, { noDatabase: true });
    return { where, ...(await room(session, alone, servers)) };
  } catch {
    // Whether a server can be reached is not this check's question.
    return { where, sessions: NO_LIMIT, statements: NO_LIMIT };
  } finally {
    session?.close();
  }
}
