import type { Client, ClientChannel } from "ssh2";
import type { CommandOutputs } from "./local.ts";
import { previousOutputEnvironment } from "./local.ts";
import type { Log } from "./log.ts";
import { type Logging, Output } from "./output.ts";
import { type Connection, dial } from "./ssh.ts";

export interface RemoteInputs {
  connection: Connection;
  stdin?: string;
  logging?: Logging;
  environment?: Record<string, string>;
  addPreviousOutputInEnv?: boolean;
}

/** What ssh2 keeps to itself, and what asking the server about each variable needs. */
interface Internals {
  _protocol: {
    env(channel: number, key: string, value: string, wantReply: boolean): void;
    exec(channel: number, command: string, wantReply: boolean): void;
  };
  _chanMgr: {
    _channels: Record<number, { outgoing: { id: number }; _callbacks: ((failed: unknown) => void)[] } | number>;
  };
}

/**
 * Starts a command with environment variables. ssh2 sends them without waiting for the server's
 * answer; the vendor's plugin waits, and doesn't run the command when one is refused.
 */
function execute(
  client: Client,
  command: string,
  environment: Record<string, string>,
  refused: (key: string) => Error | undefined,
): Promise<ClientChannel> {
  return new Promise((resolve, reject) => {
    const { _protocol: protocol, _chanMgr: manager } = client as unknown as Internals;
    let waiting = Object.keys(environment).length;
    let failure: Error | undefined;
    let start: (() => void) | undefined;
    const answered = () => {
      waiting--;
      if (waiting > 0) return;
      if (failure) reject(failure);
      else start?.();
    };
    if (waiting > 0) {
      const { env, exec } = { env: protocol.env.bind(protocol), exec: protocol.exec.bind(protocol) };
      protocol.env = (id, key, value) => {
        const channel = Object.values(manager._channels).find((c) => typeof c === "object" && c.outgoing.id === id);
        if (typeof channel !== "object") return reject(new Error("the SSH channel was closed"));
        channel._callbacks.push((failed) => {
          if (failed) failure ??= refused(key);
          answered();
        });
        env(id, key, value, true);
      };
      protocol.exec = (id, text) => {
        start = () => exec(id, text, true);
      };
    }
    client.exec(command, { env: environment }, (error, channel) => (error ? reject(error) : resolve(channel)));
    client.once("close", () => reject(new Error("EOF")));
  });
}

function refusedText(key: string): string {
  return (
    `Unable to set '${key}'. This only works if your SSH server is configured to accept ` +
    "these variables via AcceptEnv. Alternatively, if a Bash-like shell runs the command on the remote host, " +
    "you could prefix the command itself with the variables in the form 'VAR=value command'"
  );
}

/** Runs a command over SSH. An abort closes the connection, and with it the remote session. */
export async function runRemote(
  command: string,
  inputs: RemoteInputs,
  previous: CommandOutputs,
  log: Log,
  signal: AbortSignal,
): Promise<CommandOutputs> {
  const client = await dial(inputs.connection, log, signal);
  const abort = () => client.destroy();
  signal.addEventListener("abort", abort, { once: true });
  const output = new Output(inputs.logging, log);
  try {
    const asked = inputs.environment ?? {};
    const environment = { ...previousOutputEnvironment(inputs.addPreviousOutputInEnv, previous), ...asked };
    const channel = await execute(client, command, environment, (key) => {
      const fatal = Object.hasOwn(asked, key);
      log.message(fatal ? "error" : "warning", refusedText(key));
      return fatal
        ? new Error(`could not set environment variable ${JSON.stringify(key)}: ssh: setenv failed`)
        : undefined;
    });
    channel.on("data", (chunk: Buffer) => output.write("stdout", chunk));
    channel.stderr.on("data", (chunk: Buffer) => output.write("stderr", chunk));
    channel.on("error", () => {});
    channel.end(inputs.stdin ?? "");
    const failure = await ended(client, channel);
    await output.end();
    signal.throwIfAborted();
    if (failure !== undefined) throw output.failure(failure, command);
    return { stdout: output.stdout, stderr: output.stderr };
  } finally {
    signal.removeEventListener("abort", abort);
    await log.flushed();
    client.end();
  }
}

/** Waits for the end of a command; undefined: it ended well, otherwise the reason. */
function ended(client: Client, channel: ClientChannel): Promise<string | undefined> {
  return new Promise((resolve) => {
    let reason: string | undefined = "wait: remote command exited without exit status or exit signal";
    channel.on("exit", (code: number | null, name?: string) => {
      if (code === 0) reason = undefined;
      else if (code === null) reason = `Process exited with status 128 from signal ${(name ?? "").replace(/^SIG/, "")}`;
      else reason = `Process exited with status ${code}`;
    });
    channel.on("close", () => resolve(reason));
    client.once("close", () => resolve(reason));
  });
}
