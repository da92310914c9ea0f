/** Where a server is reached: over TCP, or over a socket of its own machine. */
export interface Address {
  host: string;
  port: number;
  /** In place of host and port. MySQL: the socket's path; PostgreSQL: the directory that it lies in. */
  socket?: string | undefined;
}

/** For `net.connect`. @param file the path of a socket, where it is more than what the address says */
export function netAddress(
  { host, port, socket }: Address,
  file: (socket: string) => string = (path) => path,
): { path: string } | { host: string; port: number } {
  return socket === undefined ? { host, port } : { path: file(socket) };
}

/** As messages name it: `db1:3306`, `[fd00::1]:3306`, `/run/mysqld/mysqld.sock`. */
export function shown({ host, port, socket }: Address): string {
  if (socket !== undefined) return socket;
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}
