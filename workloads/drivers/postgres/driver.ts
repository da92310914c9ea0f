/**
 * PostgreSQL, and servers that speak its protocol. pg does handshake and authentication on a socket of ours; then the
 * fast path takes the socket over. TLS stays with pg's own queries; `path` says which one runs.
 */

import { join } from "node:path";
import pTimeout from "p-timeout";
import pg from "pg";
import type { Endpoint } from "../../contract.ts";
import { netAddress } from "../address.ts";
import type { Connection, ConnectOptions, Driver } from "../driver.ts";
import { DriverError } from "../driver.ts";
import { tlsSettings } from "../tls.ts";
import { version } from "../versions.ts";
import { clientError } from "./errors.ts";
import { PostgresFastConnection } from "./fast.ts";
import { PostgresLibraryConnection } from "./library.ts";
import { PostgresSocket } from "./socket.ts";

export const postgresDriver: Driver = {
  name: "postgres",
  library: { name: "pg", version: version("pg") },
  sessionSetup: [],
  exactWriteCounts: false,
  connect,
};

type ParameterStatus = { parameterName: string; parameterValue: string };

async function connect(endpoint: Endpoint, options: ConnectOptions): Promise<Connection> {
  const socket =
    options.tls.mode === "off" && options.forceLibrary !== true
      ? new PostgresSocket(netAddress(endpoint, (directory) => join(directory, `.s.PGSQL.${endpoint.port}`)))
      : null;
  const ssl = tlsSettings(options.tls);
  const client = new pg.Client({
    host: endpoint.socket ?? endpoint.host,
    port: endpoint.port,
    user: options.user,
    password: options.password,
    database: options.database,
    application_name: "meshbench",
    keepAlive: true,
    ...(socket ? { stream: () => socket as never } : {}),
    ...(ssl === undefined ? {} : { ssl }),
  });
  const inner = (client as unknown as { connection: NodeJS.EventEmitter & { stream: { destroy(): void } } }).connection;
  const reported = new Map<string, string>();
  inner.on("parameterStatus", ({ parameterName, parameterValue }: ParameterStatus) =>
    reported.set(parameterName, parameterValue),
  );
  client.on("error", () => {});
  const late = new DriverError("connect-timeout", `no session within ${options.connectTimeoutMs} ms`, "reconnect");
  try {
    await pTimeout(client.connect(), { milliseconds: options.connectTimeoutMs, message: late });
  } catch (error) {
    inner.stream.destroy();
    throw clientError(error);
  }
  const serverVersion = reported.get("crdb_version") ?? reported.get("server_version") ?? "unknown";
  if (socket === null) return new PostgresLibraryConnection(endpoint, client, serverVersion, options);
  return new PostgresFastConnection(endpoint, socket, serverVersion, options);
}
