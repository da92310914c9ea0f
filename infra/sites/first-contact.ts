/**
 * A program: waits until a node lets the operator in, and prints the host key that it showed. From then on that key is
 * pinned. stdin: Contact. With `hostKey`, no other is taken. With `verify`, the key is compared with the one that the
 * hypervisor reads out of the guest over its own TLS connection: then nobody between here and the node could have shown
 * another.
 */
import type { Client, ConnectConfig } from "ssh2";
import {
  answered,
  connect,
  dial,
  forward,
  HostKeyError,
  keyText,
  LoginError,
  parseHostKey,
  readInput,
  sleep,
} from "../ssh.ts";
import { callProxmox, type ProxmoxApi } from "./proxmox/api.ts";

export interface Contact {
  node: string;
  host: string;
  port: number;
  user: string;
  privateKey: string;
  proxy?: { host: string; port: number; user: string; privateKey: string; hostKey: string };
  timeoutSeconds: number;
  /** The only key that is taken; absent: the first that is shown. */
  hostKey?: string;
  /**
   * The host was there before the stack: it does not boot, a login that is refused will be refused again, and its
   * owner's set-up is looked at. `sudo`: by its root or by a user who may become root.
   */
  existing?: { sudo: boolean };
  verify?: ProxmoxApi & { hypervisor: string; vmId: number };
}

const HOST_KEY_FILE = "/etc/ssh/ssh_host_ed25519_key.pub";

interface Seen {
  key?: Buffer;
}

/** What no wait makes better; its message is the whole sentence. */
class Hopeless extends Error {}

/** Logs in once, through the jump host where there is one. The key that was shown stays in `seen` even on failure. */
async function contactOnce(contact: Contact, seen: Seen): Promise<Client> {
  const { proxy, host, port } = contact;
  const pinned = contact.hostKey === undefined ? undefined : parseHostKey(host, contact.hostKey);
  const settings: ConnectConfig = {
    host,
    port,
    username: contact.user,
    privateKey: contact.privateKey,
    hostVerifier: (key: Buffer) => {
      seen.key = key;
      return pinned === undefined || key.equals(pinned);
    },
  };
  if (proxy === undefined) return dial(settings);
  const jump = await connect(proxy).catch((error: Error) => {
    const sentence = `the jump host ${error.message}`;
    throw error instanceof HostKeyError || error instanceof LoginError
      ? new Hopeless(`${contact.node}: ${sentence}; look at the site's jump.hostKey, jump.user and jump.privateKeyFile`)
      : new Error(sentence);
  });
  const sock = await forward(jump, host, port);
  try {
    const client = await dial({ ...settings, sock });
    client.once("close", () => jump.end());
    return client;
  } catch (error) {
    jump.end();
    throw error;
  }
}

/** Why a failed login of this kind of machine needs no second try; undefined: it may yet work. */
function hopeless(contact: Contact, seen: Seen, error: Error): string | undefined {
  const { node, host, port } = contact;
  if (error instanceof Hopeless) return error.message;
  if (error instanceof HostKeyError)
    return contact.hostKey !== undefined && seen.key !== undefined
      ? `${node}: ${host}:${port} shows the host key ${keyText(seen.key)}, and ${contact.hostKey} is pinned; was the host made anew (then its hostKey has to change), or does somebody else answer there?`
      : contact.existing && `${node}: ${error.message}`;
  if (!contact.existing) return undefined;
  if (error instanceof LoginError)
    return `${node}: ${error.message}; is the site's user right, and is the public half of its privateKeyFile in that user's authorized_keys?`;
  return /ENOTFOUND/.test(error.message) ? `${node}: no address is known for ${host}` : undefined;
}

const OK = "meshbench can log in";

/** Steps are a shell's command line, a script on stdin and JSON on stdout: what could come between is found here. */
async function checkLogin(contact: Contact, client: Client, sudo: boolean): Promise<void> {
  const { node, user, host } = contact;
  const told = await say(client, `echo '${OK}'`);
  if (told.stdout.trim() !== OK)
    throw new Hopeless(
      told.stdout.includes(OK)
        ? `${node}: a login of ${user} on ${host} prints "${told.stdout.replace(OK, "").trim().split("\n")[0]}" where only a command's output may be; its shell's start-up files must be silent without a terminal`
        : `${node}: ${user} on ${host} gets no shell that runs commands: ${`${told.stderr}${told.stdout}`.trim().split("\n")[0] || "nothing came"}`,
    );
  if (!sudo) return;
  const may = await say(client, "sudo -n true");
  if (may.code !== 0)
    throw new Hopeless(
      `${node}: ${user} on ${host} cannot become root by sudo without a password (${`${may.stderr}${may.stdout}`.trim().split("\n").at(-1)}); give it NOPASSWD in /etc/sudoers.d, or set the site's user to root`,
    );
}

/** One command through whatever shell the user has. */
function say(client: Client, command: string): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((resolve, reject) => {
    client.once("close", () => reject(new Error("the connection was closed")));
    client.exec(command, (error, channel) => {
      if (error) {
        reject(error);
        return;
      }
      const out = { stdout: "", stderr: "" };
      channel.on("data", (chunk: Buffer) => (out.stdout += chunk.toString()));
      channel.stderr.on("data", (chunk: Buffer) => (out.stderr += chunk.toString()));
      channel.on("close", (code: number | null) => resolve({ code: code ?? 255, ...out }));
      channel.end();
    });
  });
}

async function main(): Promise<string> {
  const contact = await readInput<Contact>();
  const deadline = performance.now() + contact.timeoutSeconds * 1000;
  const seen: Seen = {};
  let last = "no answer";
  for (let told = performance.now(); ; await sleep(1000)) {
    try {
      const client = await answered(contactOnce(contact, seen), deadline - performance.now());
      try {
        if (contact.existing)
          await answered(checkLogin(contact, client, contact.existing.sudo), deadline - performance.now());
      } finally {
        client.end();
      }
      break;
    } catch (error) {
      const why = hopeless(contact, seen, error as Error);
      if (why !== undefined) throw new Error(why);
      if ((error as Error).message !== "no answer") last = (error as Error).message;
      if (performance.now() >= deadline) throw new Error(late(contact, seen, last));
      if (performance.now() - told > 15_000) {
        told = performance.now();
        console.error(`${contact.node}: waiting for SSH at ${contact.host} (${last})`);
      }
    }
  }
  const shown = keyText(seen.key!);
  if (contact.verify) await verify(contact, contact.verify, shown);
  return shown;
}

function late(contact: Contact, seen: Seen, why: string): string {
  const check = seen.key
    ? "SSH answers, but does not take the stack's key: is another machine at that address?"
    : contact.existing
      ? "is the host up, are address and port right, and does a firewall let you in?"
      : "is the address right and free, the gateway and bridge too, and does the image start?";
  return `${contact.node}: no login as ${contact.user} at ${contact.host}:${contact.port} within ${contact.timeoutSeconds} s (${why}); ${check}`;
}

async function verify(contact: Contact, api: NonNullable<Contact["verify"]>, shown: string): Promise<void> {
  const path = `/nodes/${api.hypervisor}/qemu/${api.vmId}/agent/file-read?file=${encodeURIComponent(HOST_KEY_FILE)}`;
  const read = await callProxmox<{ content?: string }>(api, "GET", path).catch((error: unknown) => {
    throw new Error(
      `${contact.node}: the hypervisor could not read the host key out of the guest (${(error as Error).message}); does the guest agent run, and may the token use it?`,
    );
  });
  const real = (read.content ?? "").trim().split(" ").slice(0, 2).join(" ");
  if (real !== shown)
    throw new Error(
      `${contact.node}: the host key shown at ${contact.host} is not the guest's own (${real || "none"}): somebody else answers there`,
    );
}

try {
  process.stdout.write(await main());
  process.exit(0); // a dial that is still open must not hold the program
} catch (error) {
  console.error((error as Error).message);
  process.exit(1);
}
