/** What each PostgreSQL / CockroachDB / client error means for the event that met it. Codes are SQLSTATEs. */

import type { ErrorAction } from "./driver.ts";
import { DriverError } from "./driver.ts";

/** sysbench's fixed list (serialization failure, deadlock, unique violation), and a lock timeout as on MySQL. */
const RESTART = new Set(["40001", "40P01", "23505", "55P03"]);
/**
 * Shutdown, crash, starting up, dropped database, idle session timeout, a prepared statement that the server does not
 * know.
 */
const RECONNECT = new Set(["57P01", "57P02", "57P03", "57P04", "57P05", "26000"]);

/** @param fatal severity FATAL or PANIC: the session ends with it */
export function stateError(code: string, message: string, inTransaction: boolean, fatal = false): DriverError {
  const action: ErrorAction =
    fatal || RECONNECT.has(code) || code.startsWith("08") ? "reconnect" : RESTART.has(code) ? "restart" : "retry";
  return new DriverError(code, `${message} (${code})`, action, action !== "reconnect" && inTransaction);
}

/** An error of the client library or of the system. */
export function clientError(error: unknown, inTransaction = false): DriverError {
  if (error instanceof DriverError) return error;
  const { code, message, severity } = error as { code?: string; message?: string; severity?: string };
  if (code !== undefined && severity !== undefined)
    return stateError(code, message ?? "server error", inTransaction, severity === "FATAL" || severity === "PANIC");
  return new DriverError(code ?? "connection-lost", message ?? code ?? "connection lost", "reconnect");
}
