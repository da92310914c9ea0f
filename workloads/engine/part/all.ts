/** What is asked of all sessions of a part, and their end. */
import type { Session } from "./session.ts";

const count = (sessions: readonly Session[], of: (session: Session) => number): number =>
  sessions.reduce((n, session) => n + of(session), 0);

/** With a usable connection. */
export const connectedOf = (sessions: readonly Session[]): number => count(sessions, ({ link }) => (link ? 1 : 0));
/** Events that have begun and not ended. */
export const inHandOf = (sessions: readonly Session[]): number => count(sessions, (s) => (s.start > 0 ? s.batch : 0));
/** Sessions whose event can still end by itself. */
export const busyOf = (sessions: readonly Session[]): number => count(sessions, (s) => (s.awaitsAnswer ? 1 : 0));

/** Ends a session for good, politely when its connections are at rest. */
export async function endSession(session: Session): Promise<void> {
  const stuck = session.awaitsAnswer;
  session.stop();
  const connections = session.link?.connections ?? [];
  if (stuck) connections.forEach((connection) => connection.destroy());
  else await Promise.all(connections.map((connection) => connection.close()));
}
