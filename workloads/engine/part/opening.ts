/** Opens connections for the sessions of a part, and keeps what is learnt on the way. */
import type { Target } from "../../contract.ts";
import type { DriverError } from "../../drivers/driver.ts";
import type { Ask, Plan } from "../plan.ts";
import type { Link } from "./link.ts";
import type { Linker } from "./linker.ts";
import { isOwnLimit } from "./linker.ts";
import { STATEMENT_TIMEOUT_MS, statementTimeout } from "./patience.ts";
import type { Session } from "./session.ts";

export class Opening {
  path = "";
  serverVersion = "";
  /** The last error of a session that could not connect. */
  connectError: string | null = null;
  /** What this machine had no more of, by code: no error of the server. */
  readonly ownLimits: Record<string, number> = {};
  /** Milliseconds that a statement may take; the first connection asks the server how long locks wait. */
  patienceMs = STATEMENT_TIMEOUT_MS;
  #patienceAsked = false;
  readonly #linker: Linker;
  readonly #target: Target;
  readonly #plan: Plan;
  readonly #failed: (error: DriverError) => void;

  /** @param failed hears of every error that is the server's or the way's */
  constructor(linker: Linker, target: Target, plan: Plan, failed: (error: DriverError) => void) {
    this.#linker = linker;
    this.#target = target;
    this.#plan = plan;
    this.#failed = failed;
  }

  /** Null when the part is over. */
  async link(session: Session): Promise<Link | null> {
    const link = await this.#linker.openPersistently(
      session.random,
      (error) => this.#connectFailed(error),
      async (ask) => {
        await this.#askPatience(ask);
        await this.#plan.start?.(session, ask);
      },
    );
    if (link === null) return null;
    this.path ||= link.main.path;
    this.serverVersion ||= link.main.serverVersion;
    return link;
  }

  /** sysbench 0.4's reconnect-mode=random drew before each request of its simple mode, one in two. */
  mustReconnect(session: Session): boolean {
    const mode = this.#target.reconnect;
    if (session.link !== null && this.#linker.misplaced(session.link)) return true;
    if (mode === "never" || session.eventsOnLink === 0) return false;
    return mode === "random" ? session.random.double() < 0.5 : session.eventsOnLink >= mode;
  }

  async #askPatience(ask: Ask): Promise<void> {
    if (this.#patienceAsked) return;
    this.#patienceAsked = true;
    this.patienceMs = await statementTimeout(this.#target, ask);
  }

  #connectFailed(error: DriverError): void {
    this.connectError = error.message;
    if (isOwnLimit(error)) this.ownLimits[error.code] = (this.ownLimits[error.code] ?? 0) + 1;
    else this.#failed(error);
  }
}
