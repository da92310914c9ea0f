/** What each MySQL / MariaDB / client error means for the event that met it. Numbers are the servers' own. */

import type { ErrorAction } from "./driver.ts";
import { DriverError } from "./driver.ts";
import { messageOf } from "./messages.ts";

/**
 * Conflicts with other sessions, after which the same event can succeed at once. sysbench's --mysql-ignore-errors
 * default: deadlock (and Galera's certification failure), record changed, lock wait timeout. Beside them a duplicate key,
 * which two sessions that delete and insert one id meet without transactions (sysbench ends there, and restarts with
 * 1062 on that list), and 1317, which is what a brute-force abort in Galera can look like.
 */
const RESTART = new Set(["1213", "1020", "1205", "1062", "1317"]);
/**
 * The session or the server is at its end: shutdown, killed session, lost or aborted connection, server gone, malformed
 * packets, session timeout.
 */
const RECONNECT = new Set([
  "1053",
  "1152",
  "1158",
  "1159",
  "1160",
  "1161",
  "1927",
  "2003",
  "2006",
  "2013",
  "2055",
  "4031",
  "1835",
  "1243",
]);
/**
 * Errors after which no transaction is left open: 1213 rolls the whole transaction back. 1205 undoes one statement only
 * (innodb_rollback_on_timeout=OFF), so the half transaction has to be rolled back, or the restart's BEGIN would commit
 * it.
 */
const ROLLED_BACK = new Set(["1213"]);

/**
 * ER_UNSUPPORTED_PS: MySQL can't prepare BEGIN, for one. sysbench sends such a statement as text, whatever
 * --db-ps-mode says.
 */
export const UNPREPARABLE = 1295;

export function serverError(code: number, message: string): DriverError {
  const name = String(code);
  const action: ErrorAction = RESTART.has(name) ? "restart" : RECONNECT.has(name) ? "reconnect" : "retry";
  return new DriverError(name, `${message} (${name})`, action, action !== "reconnect" && !ROLLED_BACK.has(name));
}

/** An error of the client library or of the system: a numeric server code where it has one, else the system's. */
export function clientError(error: unknown): DriverError {
  if (error instanceof DriverError) return error;
  const { errno, code } = error as { errno?: number; code?: string };
  const message = messageOf(error);
  if (typeof errno === "number" && errno >= 1000) return serverError(errno, message || "server error");
  const name = code === "PROTOCOL_CONNECTION_LOST" ? "2013" : (code ?? "connection-lost");
  return new DriverError(name, message || name, "reconnect");
}
