/** How a connection to MySQL or MariaDB is opened, for the load and for what is not measured alike. */
import net from "node:net";
import type { AuthPlugin, ConnectionOptions } from "mysql2";
import type { Target } from "../../contract.ts";
import type { Address } from "../address.ts";
import { tlsSettings } from "../tls.ts";
import { signEd25519 } from "./ed25519.ts";

/**
 * Sent on every connection: with autocommit off (on the server, or by its init_connect) statements outside of a
 * transaction would never be committed, and DDL would wait for the session's own metadata locks.
 */
export const SESSION_SETUP = "SET autocommit=1";

export interface Login {
  user: string;
  password: string;
  tls: Target["tls"];
}

/** The address, the account, TLS and the ways of authentication. Throws one line on a certificate that can't be read. */
export function mysqlSettings(address: Address, { user, password, tls }: Login): ConnectionOptions {
  const { host, port, socket } = address;
  const verify = tls.mode === "verify";
  const ssl = tlsSettings(tls);
  return {
    ...(socket === undefined ? { host, port } : { socketPath: socket }),
    user,
    password,
    authPlugins: { client_ed25519: ed25519(password) },
    // Without verifyIdentity any certificate of the same authority passes.
    ...(ssl === undefined ? {} : { ssl: verify ? { ...ssl, verifyIdentity: true } : ssl }),
    ...(verify && socket === undefined && net.isIP(host) !== 0 ? { stream: () => named(host, port) } : {}),
  };
}

function ed25519(password: string): AuthPlugin {
  return () => (scramble) => signEd25519(password, scramble.subarray(0, 32));
}

/**
 * TLS compares the certificate with the name in the greeting, else with the name that the socket was opened for. An
 * address is allowed in neither place, and mysql2 hands over nothing else, so that "localhost" would be compared.
 */
function named(host: string, port: number): net.Socket {
  return Object.assign(net.connect({ host, port, noDelay: true, keepAlive: true }), { _host: host });
}
