/**
 * A program: waits until a new node lets the operator in, and prints the host key that it showed. From then on that key
 * is pinned. stdin: Contact. With `verify`, the key is compared with the one that the hypervisor reads out of the guest
 * over its own TLS connection: then nobody between here and the node could have shown another.
 */
import ssh2 from "ssh2";
import { readInput, sleep } from "../benchmark/ssh.ts";
import { callProxmox, type ProxmoxApi } from "./proxmox-api.ts";

export interface Contact {
  node: string;
  host: string;
  port: number;
  user: string;
  privateKey: string;
  proxy?: { host: string; port: number; user: string; privateKey: string; hostKey: string };
  timeoutSeconds: number;
  verify?: ProxmoxApi & { hypervisor: string; vmId: number };
}

const { Client, utils } = ssh2;
const HOST_KEY_FILE = "/etc/ssh/ssh_host_ed25519_key.pub";

interface Seen {
  key?: Buffer;
}

/** Logs in once. The key that was shown stays in `seen` even when the login fails. */
function login(contact: Contact, seen: Seen, sock?: import("ssh2").ClientChannel): Promise<void> {
  return new Promise((resolve, reject) => {
    const client = new Client();
    client.once("ready", () => {
      client.end();
      resolve();
    });
    client.once("error", (error) => {
      client.end();
      reject(error);
    });
    client.once("close", () => reject(new Error("the connection was closed during the handshake")));
    client.connect({
      host: contact.host,
      port: contact.port,
      username: contact.user,
      privateKey: contact.privateKey,
      readyTimeout: 15_000,
      algorithms: { serverHostKey: ["ssh-ed25519"] },
      hostVerifier: (key: Buffer) => {
        seen.key = key;
        return true;
      },
      ...(sock === undefined ? {} : { sock }),
    });
  });
}

/** Through the jump host, whose own key is given, when there is one. */
async function contactOnce(contact: Contact, seen: Seen): Promise<void> {
  const { proxy } = contact;
  if (proxy === undefined) return login(contact, seen);
  const parsed = utils.parseKey(proxy.hostKey);
  if (parsed instanceof Error)
    throw new Error(`the host key of the jump host ${proxy.host} cannot be read: ${parsed.message}`);
  const pinned = (Array.isArray(parsed) ? parsed[0]! : parsed).getPublicSSH();
  const jump = new Client();
  try {
    await new Promise<void>((resolve, reject) => {
      jump.once("ready", resolve);
      jump.once("error", (error) => reject(new Error(`jump host ${proxy.host}: ${error.message}`)));
      jump.once("close", () =>
        reject(new Error(`jump host ${proxy.host}: the connection was closed during the handshake`)),
      );
      jump.connect({
        host: proxy.host,
        port: proxy.port,
        username: proxy.user,
        privateKey: proxy.privateKey,
        readyTimeout: 15_000,
        hostVerifier: (key: Buffer) => key.equals(pinned),
      });
    });
    const sock = await new Promise<import("ssh2").ClientChannel>((resolve, reject) =>
      jump.forwardOut("127.0.0.1", 0, contact.host, contact.port, (error, channel) =>
        error ? reject(error) : resolve(channel),
      ),
    );
    await login(contact, seen, sock);
  } finally {
    jump.end();
  }
}

const asText = (key: Buffer): string =>
  `${key.subarray(4, 4 + key.readUInt32BE(0)).toString()} ${key.toString("base64")}`;

async function main(): Promise<string> {
  const contact = await readInput<Contact>();
  const deadline = Date.now() + contact.timeoutSeconds * 1000;
  const seen: Seen = {};
  for (let told = 0; ; await sleep(1000)) {
    try {
      await contactOnce(contact, seen);
      break;
    } catch (error) {
      const why = (error as Error).message;
      if (Date.now() > deadline)
        throw new Error(
          `${contact.node}: no login as ${contact.user} at ${contact.host}:${contact.port} within ${contact.timeoutSeconds} s (${why}); ` +
            (seen.key
              ? "SSH answers, but does not take the stack's key: is another machine at that address?"
              : "is the address right and free, the gateway and bridge too, and does the image start?"),
        );
      if (Date.now() - told > 30_000) {
        told = Date.now();
        console.error(`${contact.node}: waiting for SSH at ${contact.host} (${why})`);
      }
    }
  }
  const shown = asText(seen.key!);
  if (contact.verify) await verify(contact, contact.verify, shown);
  return shown;
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
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 1;
}
