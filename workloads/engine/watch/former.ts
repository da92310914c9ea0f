/**
 * A former primary that hangs keeps its sessions waiting for an answer. One that is well gives it within the grace, and
 * the sessions move by themselves.
 */
import { DriverError } from "../../drivers/driver.ts";
import type { Link } from "../part/link.ts";
import type { Session } from "../part/session.ts";

/** What a former primary gets to answer what it was asked before. */
const GRACE_MS = 500;

/** To be called when roles have changed. @param misplaced another node has the role that the link was made for */
export function leaveFormer(sessions: readonly Session[], misplaced: (link: Link) => boolean): void {
  const waits = (session: Session): boolean => session.awaitsAnswer && session.link !== null && misplaced(session.link);
  const waiting = sessions.filter(waits).map((session) => ({ session, progress: session.progress }));
  if (waiting.length === 0) return;
  setTimeout(() => {
    for (const { session, progress } of waiting)
      if (session.progress === progress && waits(session))
        session.timedOut(
          new DriverError("primary-moved", "no answer from a node that is not the primary any more", "reconnect"),
        );
  }, GRACE_MS);
}
