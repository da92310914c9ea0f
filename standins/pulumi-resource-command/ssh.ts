import { once } from "node:events";
import { connect as connectTcp, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { Client, type ConnectConfig } from "ssh2";
import type { Log } from "./log.ts";

/** The connection, complete with the defaults that `check` fills in. */
export interface Endpoint {
  host: string;
  port: number;
  user: string;
  password?: string;
  privateKey?: string;
  privateKeyPassword?: string;
  agentSocketPath?: string;
  hostKey?: string;
  /** How many failed dials to forgive; -1: no limit. */
  dialErrorLimit: number;
  /** Seconds one dial may take; 0: no limit. */
  perDialTimeout: number;
}

export interface Connection extends Endpoint {
  proxy?: Endpoint;
}

// The back-off of the vendor's plugin: retry.Until of Pulumi's Go SDK with its defaults.
const firstDelayMs = 100;
const backoff = 1.5;
const maxDelayMs = 5000;

async function retry<T>(
  what: string,
  limit: number,
  log: Log,
  signal: AbortSignal,
  attempt: () => Promise<T>,
): Promise<T> {
  let delay = firstDelayMs;
  for (let failed = 0; ; ) {
    signal.throwIfAborted();
    try {
      return await attempt();
    } catch (error) {
      signal.throwIfAborted();
      if (limit > -1 && failed + 1 > limit) {
        throw new Error(`after ${failed} failed attempts: ${(error as Error).message}`);
      }
      failed++;
      log.status(`${what} ${failed}/${limit === -1 ? "inf" : limit} failed: retrying`);
    }
    await sleep(Math.min(delay, maxDelayMs), undefined, { signal });
    delay *= backoff;
  }
}

/** `host key` as in authorized_keys: type, base64, comment. */
function parseHostKey(line: string): { type: string; key: Buffer } {
  const [type, base64] = line.trim().split(/\s+/);
  if (!type || !base64 || !/^[A-Za-z0-9+/]+=*$/.test(base64))
    throw new Error("failed to parse host key: ssh: no key found");
  return { type, key: Buffer.from(base64, "base64") };
}

function configOf(endpoint: Endpoint): ConnectConfig {
  const agent = endpoint.agentSocketPath ?? (process.env["SSH_AUTH_SOCK"] || undefined);
  const pinned = endpoint.hostKey === undefined ? undefined : parseHostKey(endpoint.hostKey);
  return {
    username: endpoint.user,
    readyTimeout: endpoint.perDialTimeout * 1000,
    ...(endpoint.privateKey !== undefined && { privateKey: endpoint.privateKey }),
    ...(endpoint.privateKeyPassword !== undefined && { passphrase: endpoint.privateKeyPassword }),
    ...(endpoint.password !== undefined && { password: endpoint.password, tryKeyboard: true }),
    ...(agent !== undefined && { agent }),
    ...(pinned && {
      hostVerifier: (key: Buffer) => key.equals(pinned.key),
      algorithms: { serverHostKey: [pinned.type] } as ConnectConfig["algorithms"] & object,
    }),
  };
}

async function dialTcp(host: string, port: number, timeoutSeconds: number): Promise<Socket> {
  const address = `${host.includes(":") ? `[${host}]` : host}:${port}`;
  // As Go's dialer does for the vendor's plugin: a host that vanishes without a word must not hang a command for ever.
  const socket = connectTcp({ host, port, noDelay: true, keepAlive: true, keepAliveInitialDelay: 15_000 });
  const timeout =
    timeoutSeconds > 0 ? setTimeout(() => socket.destroy(new Error("i/o timeout")), timeoutSeconds * 1000) : undefined;
  try {
    await once(socket, "connect");
    return socket;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const reason = code === "ECONNREFUSED" ? "connect: connection refused" : message;
    throw new Error(`dial tcp ${address}: ${reason}`);
  } finally {
    clearTimeout(timeout);
  }
}

function handshakeReason(error: Error & { level?: string }): string {
  if (error.message.startsWith("Host denied")) return "ssh: host key mismatch";
  if (error.level === "client-authentication") return "ssh: unable to authenticate, no supported methods remain";
  return error.message;
}

/** Speaks SSH over an open stream. Keyboard-interactive questions are answered with the password. */
function handshake(stream: Duplex, endpoint: Endpoint, signal: AbortSignal): Promise<Client> {
  return new Promise((resolve, reject) => {
    const client = new Client();
    const fail = (error: Error) => {
      signal.removeEventListener("abort", abort);
      client.end();
      stream.destroy();
      reject(new Error(`ssh: handshake failed: ${handshakeReason(error)} (${endpoint.host}:${endpoint.port})`));
    };
    const abort = () => fail(new Error("context canceled"));
    signal.addEventListener("abort", abort, { once: true });
    // For good: after the time-out the end of the socket is an error too, and one without a listener ends the process.
    client.on("error", fail);
    client.once("close", () => fail(new Error("EOF")));
    client.on("keyboard-interactive", (_name, _instructions, _language, questions, answer) =>
      answer(questions.map(() => endpoint.password ?? "")),
    );
    client.once("ready", () => {
      signal.removeEventListener("abort", abort);
      client.removeListener("error", fail);
      // From here on a broken connection shows as a channel that ends without an exit status.
      client.on("error", () => {});
      resolve(client);
    });
    try {
      client.connect({ ...configOf(endpoint), sock: stream });
    } catch (error) {
      fail(error as Error);
    }
  });
}

function forward(proxy: Client, { host, port }: Endpoint): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    proxy.forwardOut("127.0.0.1", 0, host, port, (error, stream) =>
      error ? reject(new Error(`ssh: rejected: connect failed (${error.message})`)) : resolve(stream),
    );
  });
}

/**
 * Opens a connection, through the proxy where there is one, with the vendor's retries. What is the
 * caller's mistake (a host key or private key that can't be read) fails at once.
 *
 * A difference from the vendor's plugin on purpose: perDialTimeout bounds the handshake as well as
 * the TCP connect, so that a port that accepts and then says nothing can't hang a run for ever.
 */
export async function dial(connection: Connection, log: Log, signal: AbortSignal): Promise<Client> {
  const { proxy } = connection;
  checkKeys(connection);
  if (proxy === undefined) {
    return retry("Dial", connection.dialErrorLimit, log, signal, async () =>
      handshake(await dialTcp(connection.host, connection.port, connection.perDialTimeout), connection, signal),
    );
  }
  try {
    checkKeys(proxy);
    const jump = await retry("Dial proxy", proxy.dialErrorLimit, log, signal, async () =>
      handshake(await dialTcp(proxy.host, proxy.port, proxy.perDialTimeout), proxy, signal),
    );
    try {
      const client = await retry("Dial from proxy", connection.dialErrorLimit, log, signal, async () =>
        handshake(await forward(jump, connection), connection, signal),
      );
      client.once("close", () => jump.end());
      return client;
    } catch (error) {
      jump.end();
      throw error;
    }
  } catch (error) {
    throw new Error(`proxy: ${(error as Error).message}`);
  }
}

function checkKeys(endpoint: Endpoint): void {
  if (endpoint.hostKey !== undefined) parseHostKey(endpoint.hostKey);
  if (endpoint.privateKey !== undefined && !endpoint.privateKey.includes("PRIVATE KEY"))
    throw new Error("ssh: no key found");
}
