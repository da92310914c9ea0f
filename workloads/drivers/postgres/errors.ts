/** What each PostgreSQL / CockroachDB / client error means for the event that met it; the classes are in dialects/errors.ts. */
import { POSTGRES_ERRORS } from "../../dialects/errors.ts";
import type { ErrorAction } from "../driver.ts";
import { DriverError } from "../driver.ts";
import { messageOf } from "../messages.ts";

/** A name that another session of the pooler has taken, or one that another server session knows. */
const POOLED = new Set(["42P05", "26000"]);
export const POOLED_ADVICE =
  "a pooler that gives each transaction another server session (pgbouncer's pool_mode = transaction) keeps no prepared statements: use --db-ps-mode disable (target.preparedStatements)";

/** @param fatal severity FATAL or PANIC: the session ends with it */
export function stateError(code: string, message: string, inTransaction: boolean, fatal = false): DriverError {
  const action: ErrorAction =
    fatal || POSTGRES_ERRORS.reconnect.has(code) || code.startsWith("08")
      ? "reconnect"
      : POSTGRES_ERRORS.restart.has(code)
        ? "restart"
        : "retry";
  const pooled = POOLED.has(code) ? `; ${POOLED_ADVICE}` : "";
  return new DriverError(code, `${message} (${code})${pooled}`, action, action !== "reconnect" && inTransaction);
}

/** An error of the client library or of the system. */
export function clientError(error: unknown, inTransaction = false): DriverError {
  if (error instanceof DriverError) return error;
  const { code, severity } = error as { code?: string; severity?: string };
  const message = messageOf(error);
  if (code !== undefined && severity !== undefined)
    return stateError(code, message || "server error", inTransaction, severity === "FATAL" || severity === "PANIC");
  return new DriverError(code ?? "connection-lost", message || (code ?? "connection lost"), "reconnect");
}
