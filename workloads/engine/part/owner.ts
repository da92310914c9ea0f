/** What a session asks and tells. */
import type { Endpoint } from "../../contract.ts";
import type { DriverError } from "../../drivers/driver.ts";
import type { Plan } from "../plan.ts";
import type { Link } from "./link.ts";

/** @typeParam Session the session itself */
export interface SessionOwner<Session> {
  /** An event ended in success. Both times are of performance.now(). */
  eventDone(session: Session, start: number, end: number): void;
  /**
   * May the session go on with its next event now? When it may, `start` is set; when not, the owner calls `begin`
   * later, or never.
   */
  next(session: Session, now: number): boolean;
  failed(session: Session, error: DriverError): void;
  /** May an event that failed be tried once more? When not, it is given up; the owner is asked once per try. */
  mayBeginAgain(): boolean;
  /** The session needs a new connection. The owner answers with `relink` or, when it stops, not at all. */
  needsLink(session: Session): void;
  readonly plan: Plan;
  readonly exactWriteCounts: boolean;
  readonly links: {
    /** There is another endpoint to go to when this one keeps refusing. */
    readonly alternatives: boolean;
    /** New connections pass this endpoint over for a while. */
    avoid(endpoint: Endpoint): void;
    /** The node has another role now: the one that has this session's is elsewhere. */
    moved(error: DriverError, link: Link | null): boolean;
  };
}
