/** How long a statement may go without an answer before its connection is given up. */
import type { Target } from "../../contract.ts";
import { dialectOf } from "../../dialects/index.ts";
import type { Ask } from "../plan.ts";

export const STATEMENT_TIMEOUT_MS = 30_000;
export const DRAIN_CHECK_MS = 20;
/** An answer that takes longer is given up: a row that stays locked must not hold the window's end off for a minute. */
export const LONGEST_DRAIN_MS = 10_000;
/** After a lock wait that the server itself ends: its error has to arrive first. */
const BEYOND_LOCK_WAIT_MS = 5000;
/** Servers can be told to wait for years. */
const LONGEST_MS = 600_000;

/**
 * What the spec says, else long enough for the server to end a lock wait by itself (innodb_lock_wait_timeout, seconds:
 * 50 by default; PostgreSQL's lock_timeout, milliseconds, 0 without a limit). A server that does not tell is no error.
 */
export async function statementTimeout(target: Target, ask: Ask): Promise<number> {
  if (target.statementTimeoutMs !== undefined) return target.statementTimeoutMs;
  const { sql, milliseconds } = dialectOf(target).lockWait;
  try {
    const [row = []] = await ask(sql);
    const wait = milliseconds(row);
    if (wait > 0) return Math.min(LONGEST_MS, Math.max(STATEMENT_TIMEOUT_MS, wait + BEYOND_LOCK_WAIT_MS));
  } catch {
    // Such as a proxy that does not know the question.
  }
  return STATEMENT_TIMEOUT_MS;
}
