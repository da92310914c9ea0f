/** Where a server is reached: over TCP, or over a socket of its own machine. */
import { join } from "node:path";

export interface Address {
  host: string;
  port: number;
  /** In place of host and port. MySQL: the socket's path; PostgreSQL: the directory that it lies in. */
  socket?: string | undefined;
}

/** For `net.connect`. */
export function netAddress(
  driver: "mysql" | "postgres",
  { host, port, socket }: Address,
): { path: string } | { host: string; port: number } {
  if (socket === undefined) return { host, port };
  return { path: driver === "mysql" ? socket : join(socket, `.s.PGSQL.${port}`) };
}

/** As messages name it: `db1:3306`, `[fd00::1]:3306`, `/run/mysqld/mysqld.sock`. */
export function shown({ host, port, socket }: Address): string {
  if (socket !== undefined) return socket;
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}
