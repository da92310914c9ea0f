/** What each MySQL / MariaDB / client error means for the event that met it; the classes are in dialects/errors.ts. */
import { MYSQL_ERRORS, MYSQL_ROLLED_BACK } from "../../dialects/errors.ts";
import type { ErrorAction } from "../driver.ts";
import { DriverError } from "../driver.ts";
import { messageOf } from "../messages.ts";

/**
 * ER_UNSUPPORTED_PS: MySQL can't prepare BEGIN, for one. sysbench sends such a statement as text, whatever
 * --db-ps-mode says.
 */
export const UNPREPARABLE = 1295;

export function serverError(code: number, message: string): DriverError {
  const name = String(code);
  const action: ErrorAction = MYSQL_ERRORS.restart.has(name)
    ? "restart"
    : MYSQL_ERRORS.reconnect.has(name)
      ? "reconnect"
      : "retry";
  return new DriverError(name, `${message} (${name})`, action, action !== "reconnect" && !MYSQL_ROLLED_BACK.has(name));
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
