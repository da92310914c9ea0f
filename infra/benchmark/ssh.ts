/** SSH from the operator's machine for what outlasts one command: pinned host key, retries, jump host. */
import ssh2, { type Client, type ConnectConfig } from "ssh2";
import { asRoot } from "../shell.ts";

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

export class HostKeyError extends Error {}

function settings(c: Omit<Connection, "proxy">): ConnectConfig {
  const parsed = ssh2.utils.parseKey(c.hostKey);
  if (parsed instanceof Error)
    throw new HostKeyError(`the pinned host key of ${c.host} cannot be read: ${parsed.message}`);
  const pinned = (Array.isArray(parsed) ? parsed[0]! : parsed).getPublicSSH();
  return {
    host: c.host,
    port: c.port ?? 22,
    username: c.user,
    privateKey: c.privateKey,
    hostVerifier: (key: Buffer) => key.equals(pinned),
    readyTimeout: 15_000,
    keepaliveInterval: 10_000,
    keepaliveCountMax: 3,
  };
}

function dial(config: ConnectConfig): Promise<Client> {
  return new Promise((resolve, reject) => {
    const client = new ssh2.Client();
    client.once("ready", () => resolve(client));
    client.once("error", (error) => {
      client.end();
      reject(error);
    });
    // A server that is full drops a connection in the middle of the handshake, which is no error to the library.
    client.once("close", () => reject(new Error("the connection was closed during the handshake")));
    client.connect(config);
  });
}

/** Fails at once on a wrong host key; otherwise when the host does not answer. The caller decides about retries. */
export async function connect(c: Connection): Promise<Client> {
  if (!c.proxy) return dial(settings(c));
  const jump = await dial(settings(c.proxy));
  const sock = await new Promise<import("ssh2").ClientChannel>((resolve, reject) =>
    jump.forwardOut("127.0.0.1", 0, c.host, c.port ?? 22, (error, channel) =>
      error ? reject(error) : resolve(channel),
    ),
  );
  const client = await dial({ ...settings(c), sock });
  client.once("close", () => jump.end());
  return client;
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

export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
