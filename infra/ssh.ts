/** SSH from the operator's machine for what outlasts one command: pinned host key, retries, jump host. */
import pTimeout from "p-timeout";
import ssh2, { type Client, type ClientChannel, type ConnectConfig } from "ssh2";
import { asRoot } from "./shell.ts";

/** The connection of a Node, as the command provider has it. */
export interface Connection {
  host: string;
  port?: number;
  user: string;
  privateKey: string;
  /** "ssh-ed25519 AAAA..."; anything else on the other side is refused. */
  hostKey: string;
  proxy?: Omit<Connection, "proxy">;
}

/** The other side is not the one that is pinned: no wait makes it better. */
export class HostKeyError extends Error {}

/** The other side speaks SSH and does not take the key. On a machine that boots for the first time, not yet. */
export class LoginError extends Error {}

const READY_TIMEOUT_MS = 15_000;

/** The one type that is made, pinned and asked for: with several, client and server would have to agree on one. */
export const HOST_KEY_TYPE = "ssh-ed25519";

/** The pinned key as it comes over the wire. @throws HostKeyError */
export function parseHostKey(host: string, text: string): Buffer {
  const parsed = ssh2.utils.parseKey(text);
  if (parsed instanceof Error)
    throw new HostKeyError(`the pinned host key of ${host} cannot be read: ${parsed.message}`);
  return (Array.isArray(parsed) ? parsed[0]! : parsed).getPublicSSH();
}

/** As in authorized_keys: "ssh-ed25519 AAAA...". */
export const keyText = (key: Buffer): string =>
  `${key.subarray(4, 4 + key.readUInt32BE(0)).toString()} ${key.toString("base64")}`;

function settings(c: Omit<Connection, "proxy">): ConnectConfig {
  const pinned = parseHostKey(c.host, c.hostKey);
  return {
    host: c.host,
    port: c.port ?? 22,
    username: c.user,
    privateKey: c.privateKey,
    hostVerifier: (key: Buffer) => key.equals(pinned),
  };
}

/**
 * Speaks SSH with `config.host`, or with it at the other end of `config.sock`. Every error names host and port, and says
 * by its class whether a wait can help.
 */
export function dial(config: ConnectConfig): Promise<Client> {
  const at = `${config.host}:${config.port ?? 22}`;
  return new Promise((resolve, reject) => {
    const client = new ssh2.Client();
    let connected = config.sock !== undefined;
    client.once("connect", () => (connected = true));
    client.once("ready", () => resolve(client));
    // For good, not once: after the time-out the end of the socket is an error too, and one without a listener would
    // end the process.
    client.on("error", (error: Error & { level?: string }) => {
      client.destroy();
      reject(failure(at, config.username ?? "", error, connected));
    });
    // A server that is full drops a connection in the middle of the handshake, which is no error to the library.
    client.once("close", () => reject(new Error(`${at}: the connection was closed during the handshake`)));
    try {
      client.connect({
        readyTimeout: READY_TIMEOUT_MS,
        keepaliveInterval: 10_000,
        keepaliveCountMax: 3,
        algorithms: { serverHostKey: [HOST_KEY_TYPE] },
        ...config,
      });
    } catch (error) {
      reject(new LoginError(`${at}: ${(error as Error).message}`));
    }
  });
}

function failure(at: string, user: string, error: Error & { level?: string }, connected: boolean): Error {
  if (error.message.startsWith("Host denied"))
    return new HostKeyError(`${at} shows another host key than the pinned one`);
  if (/no matching host key format/i.test(error.message))
    return new HostKeyError(`${at} has no ed25519 host key (\`ssh-keygen -A\` makes one there)`);
  if (error.level === "client-authentication") return new LoginError(`${at} does not let ${user} in with this key`);
  if (error.level === "client-timeout")
    return new Error(
      connected
        ? `${at} takes the connection, but does not speak SSH within ${READY_TIMEOUT_MS / 1000} s`
        : `${at} does not answer`,
    );
  return new Error(error.message.includes(at) ? error.message : `${at}: ${error.message}`);
}

/** A stream to `host` from behind the jump host. Ends the jump host's connection when there is none. */
export function forward(jump: Client, host: string, port: number): Promise<ClientChannel> {
  return new Promise((resolve, reject) =>
    jump.forwardOut("127.0.0.1", 0, host, port, (error, channel) => {
      if (!error) {
        resolve(channel);
        return;
      }
      jump.end();
      reject(new Error(`${host}:${port} cannot be reached from the jump host: ${error.message}`));
    }),
  );
}

/** The caller decides about retries. @throws HostKeyError, LoginError, Error */
export async function connect(c: Connection): Promise<Client> {
  if (!c.proxy) return dial(settings(c));
  const jump = await dial(settings(c.proxy));
  const sock = await forward(jump, c.host, c.port ?? 22);
  try {
    const client = await dial({ ...settings(c), sock });
    client.once("close", () => jump.end());
    return client;
  } catch (error) {
    jump.end();
    throw error;
  }
}

export interface Ran {
  code: number;
  stdout: Buffer;
  stderr: string;
}

/** Runs a script as root; stdin may be a stream of any length. Rejects when the connection breaks on the way. */
export function run(client: Client, script: string, sudo: boolean, stdin?: NodeJS.ReadableStream): Promise<Ran> {
  return new Promise((resolve, reject) => {
    const broken = (): void => reject(new Error("the SSH connection broke"));
    client.once("close", broken);
    const { command, stdin: text } = asRoot("meshbench", script, sudo);
    client.exec(command, (error, channel) => {
      if (error) {
        reject(error);
        return;
      }
      const out: Buffer[] = [],
        err: Buffer[] = [];
      channel.on("data", (chunk: Buffer) => out.push(chunk));
      channel.stderr.on("data", (chunk: Buffer) => err.push(chunk));
      channel.on("close", (code: number | null) => {
        client.removeListener("close", broken);
        resolve({ code: code ?? 255, stdout: Buffer.concat(out), stderr: Buffer.concat(err).toString() });
      });
      channel.write(text);
      if (stdin) stdin.pipe(channel);
      else channel.end();
    });
  });
}

/** Reads the JSON document that a program of this folder gets on stdin: secrets stand there, not in arguments. */
export async function readInput<T>(): Promise<T> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString()) as T;
}

/** The work, or the error "no answer" after so many milliseconds: an attempt must not outlast its bound, a dial may. */
export const answered = <T>(work: Promise<T>, ms: number): Promise<T> =>
  pTimeout(work, { milliseconds: Math.max(ms, 1), message: "no answer" });

export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
