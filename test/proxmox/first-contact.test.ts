/**
 * The first login on a new guest, and its host key compared with the one that the hypervisor reads out of the guest:
 * with a real SSH server, and an HTTPS server that answers as Proxmox's guest agent does. No guest agent is in it.
 */

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:https";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { after, before, type TestContext, test } from "node:test";
import type { Contact } from "../../infra/sites/first-contact.ts";
import { checkout, nodeBinary } from "../../tools/paths.ts";
import { freePort, type Sshd, sshdMissing, startSshd } from "../command/sshd.ts";
import { keyPair } from "./lab.ts";

const lacking = await sshdMissing();
if (lacking !== undefined) console.error(`\n*** ${lacking}: the first login on a guest was not tried ***\n`);
const options = { skip: lacking ?? false };

const TOKEN = "meshbench@pve!bench=11111111-2222-3333-4444-555555555555";
const stranger = keyPair();
const folder = mkdtempSync(join(tmpdir(), "meshbench-contact-"));
const withoutComment = (key: string): string => key.split(" ").slice(0, 2).join(" ");
let sshd: Sshd;
before(async () => {
  if (lacking === undefined) sshd = await startSshd();
});
after(async () => {
  await sshd?.stop();
  for (const made of [folder, stranger.directory]) rmSync(made, { recursive: true, force: true });
});

interface Answer {
  code: number;
  out: string;
  err: string;
}

async function contact(more: Partial<Contact> = {}): Promise<Answer> {
  const child = spawn(nodeBinary(), ["infra/sites/first-contact.ts"], {
    cwd: checkout,
    stdio: ["pipe", "pipe", "pipe"],
  });
  child.stdin.end(
    JSON.stringify({
      node: "home-1",
      host: "127.0.0.1",
      port: sshd.port,
      user: sshd.user,
      privateKey: sshd.privateKey,
      timeoutSeconds: 20,
      ...more,
    }),
  );
  const code = new Promise<number>((resolve) => child.once("close", (status) => resolve(status ?? 1)));
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { code: await code, out, err };
}

/**
 * A hypervisor whose guest 100 has this in its host key file, or whose agent answers with an error; and what it was
 * asked.
 */
async function hypervisor(
  t: TestContext,
  content: string | { error: string },
): Promise<{ verify: NonNullable<Contact["verify"]>; asked: string[] }> {
  const [key, cert] = ["key.pem", "cert.pem"].map((name) => join(folder, name)) as [string, string];
  execFileSync(
    "openssl",
    [
      "req",
      "-x509",
      "-newkey",
      "ec",
      "-pkeyopt",
      "ec_paramgen_curve:prime256v1",
      "-nodes",
      "-days",
      "2",
      "-subj",
      "/CN=pve",
      "-keyout",
      key,
      "-out",
      cert,
    ],
    { stdio: "ignore" },
  );
  const asked: string[] = [];
  const server: Server = createServer({ key: readFileSync(key), cert: readFileSync(cert) }, (request, response) => {
    asked.push(`${request.method} ${decodeURIComponent(request.url ?? "")} ${request.headers.authorization}`);
    if (typeof content === "string") response.end(JSON.stringify({ data: { content, "bytes-read": content.length } }));
    else response.writeHead(500).end(JSON.stringify({ data: null, message: content.error }));
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  t.after(() => new Promise((resolve) => server.close(resolve)));
  return {
    asked,
    verify: {
      endpoint: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
      login: { apiToken: TOKEN },
      insecure: true,
      hypervisor: "pve",
      vmId: 100,
    },
  };
}

test("the key that was shown is printed, to be pinned", options, async () => {
  assert.deepEqual(await contact(), { code: 0, out: withoutComment(sshd.hostKey), err: "" });
});

test("a banner of 24 KiB before the login, and one try for each login", options, async () => {
  const banner = join(folder, "banner");
  writeFileSync(banner, `${"Authorised use only. ".repeat(20)}\n`.repeat(58));
  const strict = await startSshd([`Banner ${banner}`, "MaxAuthTries 1"]);
  try {
    const shown = await contact({ port: strict.port, privateKey: strict.privateKey });
    assert.deepEqual(shown, { code: 0, out: withoutComment(strict.hostKey), err: "" });
  } finally {
    await strict.stop();
  }
});

test("the hypervisor reads the same key out of the guest: it is pinned", options, async (t) => {
  const { verify, asked } = await hypervisor(t, `${withoutComment(sshd.hostKey)} root@home-1\n`);
  assert.deepEqual(await contact({ verify }), { code: 0, out: withoutComment(sshd.hostKey), err: "" });
  assert.deepEqual(asked, [
    `GET /api2/json/nodes/pve/qemu/100/agent/file-read?file=/etc/ssh/ssh_host_ed25519_key.pub PVEAPIToken=${TOKEN}`,
  ]);
});

test("another key than the guest's own is refused, and none is printed", options, async (t) => {
  const { verify } = await hypervisor(t, `${stranger.publicKey}\n`);
  const { code, out, err } = await contact({ verify });
  assert.deepEqual([code, out], [1, ""]);
  assert.match(
    err,
    /^home-1: the host key shown at 127\.0\.0\.1 is not the guest's own \(ssh-ed25519 AAAA\S+\): somebody else answers there\n$/,
  );
});

test("a guest without the file has no key to compare with: refused", options, async (t) => {
  const { verify } = await hypervisor(t, "");
  assert.match((await contact({ verify })).err, /is not the guest's own \(none\)/);
});

test("an agent that does not run is a sentence, and no token is in it", options, async (t) => {
  const { verify } = await hypervisor(t, { error: "QEMU guest agent is not running" });
  const { code, out, err } = await contact({ verify });
  assert.deepEqual([code, out], [1, ""]);
  assert.equal(
    err,
    "home-1: the hypervisor could not read the host key out of the guest (QEMU guest agent is not running); does the guest agent run, and may the token use it?\n",
  );
});

test("a certificate that nobody vouches for is refused unless it is said to be accepted", options, async (t) => {
  const { verify, asked } = await hypervisor(t, sshd.hostKey);
  const { code, out, err } = await contact({ verify: { ...verify, insecure: false } });
  assert.deepEqual([code, out, asked], [1, "", []]);
  assert.match(err, /could not read the host key out of the guest \(.*self.signed certificate/);
});

test("another machine at the address, and nobody there: each a sentence within the bound", options, async () => {
  const foreign = await contact({ privateKey: readFileSync(stranger.privateKeyFile, "utf8"), timeoutSeconds: 1 });
  assert.equal(foreign.code, 1);
  assert.match(
    foreign.err,
    /home-1: no login as \S+ at 127\.0\.0\.1:\d+ within 1 s .*SSH answers, but does not take the stack's key: is another machine at that address\?\n$/,
  );
  const nobody = await contact({ port: await freePort(), timeoutSeconds: 1 });
  assert.equal(nobody.code, 1);
  assert.match(
    nobody.err,
    /within 1 s \(.*ECONNREFUSED.*\); is the address right and free, the gateway and bridge too, and does the image start\?\n$/,
  );
});

test("through a jump host, whose key is pinned beforehand", options, async () => {
  const proxy = {
    host: "127.0.0.1",
    port: sshd.port,
    user: sshd.user,
    privateKey: sshd.privateKey,
    hostKey: sshd.hostKey,
  };
  assert.deepEqual(await contact({ proxy }), { code: 0, out: withoutComment(sshd.hostKey), err: "" });
  const other = await contact({ proxy: { ...proxy, hostKey: stranger.publicKey }, timeoutSeconds: 1 });
  assert.deepEqual([other.code, other.out], [1, ""]);
  assert.match(other.err, /the jump host 127\.0\.0\.1:\d+ shows another host key than the pinned one; /);
});

/** Takes connections and says what it is given, after which it is silent. */
async function port(t: TestContext, says = ""): Promise<number> {
  const server = createTcpServer((socket) => {
    socket.on("error", () => {});
    if (says) socket.write(says);
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  t.after(() => server.close());
  return (server.address() as AddressInfo).port;
}

const existing = { sudo: false };

test("a port that takes the connection and never speaks is one sentence with host and port", options, async (t) => {
  const silent = await port(t);
  // Longer than one dial: its time-out and the end of its socket are two errors.
  const { code, err } = await contact({ port: silent, timeoutSeconds: 18, existing });
  assert.equal(code, 1);
  assert.match(
    err.trim().split("\n").at(-1)!,
    new RegExp(
      `^home-1: no login as \\S+ at 127\\.0\\.0\\.1:${silent} within 18 s \\(127\\.0\\.0\\.1:${silent} takes the connection, but does not speak SSH within 15 s\\); is the host up, are address and port right, and does a firewall let you in\\?$`,
    ),
  );
});

test("what no wait makes better fails at the first try, on a host that was there", options, async () => {
  const began = Date.now();
  const pinned = await contact({ hostKey: withoutComment(stranger.publicKey), existing, timeoutSeconds: 60 });
  assert.match(
    pinned.err,
    /^home-1: 127\.0\.0\.1:\d+ shows the host key ssh-ed25519 \S+, and ssh-ed25519 \S+ is pinned; /,
  );
  const foreign = await contact({
    privateKey: readFileSync(stranger.privateKeyFile, "utf8"),
    existing,
    timeoutSeconds: 60,
  });
  assert.match(foreign.err, /^home-1: 127\.0\.0\.1:\d+ does not let \S+ in with this key; is the site's user right, /);
  const unknown = await contact({ user: "nobody-by-this-name", existing, timeoutSeconds: 60 });
  assert.match(unknown.err, /^home-1: 127\.0\.0\.1:\d+ does not let nobody-by-this-name in with this key; /);
  assert.deepEqual(
    [pinned, foreign, unknown].map(({ code, out }) => [code, out]),
    [
      [1, ""],
      [1, ""],
      [1, ""],
    ],
  );
  assert.ok(Date.now() - began < 45_000, "none of the three waited for its 60 s");
});

test(
  "the pinned key and a shell that runs commands: taken; sudo that is not there or asks for a password: said",
  options,
  async () => {
    const key = withoutComment(sshd.hostKey);
    assert.deepEqual(await contact({ hostKey: key, existing }), { code: 0, out: key, err: "" });
    // root on this machine may have sudo or not; where it has none, the sentence is the one for a user who may not.
    const { code, err } = await contact({ hostKey: key, existing: { sudo: true } });
    if (code !== 0)
      assert.match(
        err,
        /^home-1: \S+ on 127\.0\.0\.1 cannot become root by sudo without a password \(.*\); give it NOPASSWD/,
      );
  },
);
