/**
 * MySQL and MariaDB. mysql2 does handshake and authentication on a socket of ours; then the fast path takes the socket
 * over.
 * TLS, or a server without the protocol that the codec knows, stays with mysql2's own execute; `path` says which one
 * runs.
 */
import type { ConnectionOptions, Connection as LibraryConnection } from "mysql2";
import mysql from "mysql2";
import type { Endpoint } from "../../contract.ts";
import { netAddress } from "../address.ts";
import type { Connection, ConnectOptions, Driver } from "../driver.ts";
import { DriverError } from "../driver.ts";
import { version } from "../versions.ts";
import { clientError } from "./errors.ts";
import { MysqlFastConnection } from "./fast.ts";
import { MysqlLibraryConnection } from "./library.ts";
import { mysqlSettings, SESSION_SETUP } from "./settings.ts";
import { MysqlSocket } from "./socket.ts";

const PROTOCOL_41 = 0x200;
/**
 * Off: FOUND_ROWS would count matched instead of changed rows; session tracking and query attributes would change
 * packets that the codec writes and reads; IGNORE_SPACE changes the parser. sysbench's client sets none of them.
 */
const FLAGS = ["-FOUND_ROWS", "-SESSION_TRACK", "-CLIENT_QUERY_ATTRIBUTES", "-IGNORE_SPACE", "-LOCAL_FILES"];

interface Hello {
  serverVersion: string;
  capabilityFlags: number;
}

export const mysqlDriver: Driver = {
  name: "mysql",
  library: { name: "mysql2", version: version("mysql2") },
  sessionSetup: [SESSION_SETUP],
  exactWriteCounts: true,
  connect,
};

async function connect(endpoint: Endpoint, options: ConnectOptions): Promise<Connection> {
  const fast = options.tls.mode === "off" && options.forceLibrary !== true;
  const socket = fast ? new MysqlSocket(netAddress(endpoint)) : null;
  const settings: ConnectionOptions = {
    ...mysqlSettings(endpoint, options),
    database: options.database,
    connectTimeout: options.connectTimeoutMs,
    charset: "utf8mb4_general_ci",
    flags: FLAGS,
    rowsAsArray: true,
    supportBigNumbers: true,
    dateStrings: true,
    ...(socket ? { stream: () => socket } : {}),
  };
  let hello: Hello;
  let library: LibraryConnection | undefined;
  try {
    library = mysql.createConnection(settings);
    hello = await ready(library, options.connectTimeoutMs);
  } catch (error) {
    library?.destroy();
    socket?.destroy();
    const failure = error as NodeJS.ErrnoException;
    if (failure.code === "ETIMEDOUT" || failure.code === "PROTOCOL_SEQUENCE_TIMEOUT")
      throw new DriverError("connect-timeout", `no session within ${options.connectTimeoutMs} ms`, "reconnect");
    throw clientError(error);
  }
  if (socket === null || (hello.capabilityFlags & PROTOCOL_41) === 0)
    return new MysqlLibraryConnection(endpoint, library, hello.serverVersion, options);
  return new MysqlFastConnection(
    endpoint,
    socket,
    hello.serverVersion,
    { deprecateEof: false, cacheMetadata: socket.negotiation.cacheMetadata },
    options,
  );
}

/** The session is open and set up. */
function ready(library: LibraryConnection, timeout: number): Promise<Hello> {
  return new Promise((resolve, reject) => {
    library.on("error", reject);
    library.once("connect", (hello: unknown) => {
      library.query({ sql: SESSION_SETUP, timeout }, (error) => (error ? reject(error) : resolve(hello as Hello)));
    });
  });
}
