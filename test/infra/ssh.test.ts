import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import ssh2 from "ssh2";
import { connect, HostKeyError } from "../../infra/ssh.ts";
import { checkout, nodeBinary } from "../../tools/paths.ts";

const { private: privateKey, public: hostKey } = ssh2.utils.generateKeyPairSync("ed25519");

test("a server that hangs up in the middle of the handshake is an error, not a wait", async () => {
  const server = createServer((socket) => {
    socket.write("SSH-2.0-full\r\n");
    socket.once("data", () => socket.destroy());
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  try {
    const { port } = server.address() as AddressInfo;
    await assert.rejects(
      connect({ host: "127.0.0.1", port, user: "root", privateKey, hostKey }),
      /closed during the handshake|Connection lost|ECONNRESET/,
    );
  } finally {
    server.close();
  }
});

test("a pinned key that cannot be read is said before anything is dialled", async () => {
  await assert.rejects(
    connect({ host: "127.0.0.1", port: 1, user: "root", privateKey, hostKey: "nonsense" }),
    HostKeyError,
  );
});

test("a node that refused and then is silent to the end: its address and the last reason that says something", async () => {
  // A server that closes at once, and from the third dial on takes the connection and never speaks.
  let dials = 0;
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    if (++dials < 3) socket.end("SSH-2.0-full\r\n");
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  try {
    const { port } = server.address() as AddressInfo;
    const child = spawn(nodeBinary(), ["infra/sites/wait-ready.ts"], {
      cwd: checkout,
      stdio: ["pipe", "pipe", "pipe"],
    });
    const connection = { host: "127.0.0.1", port, user: "root", privateKey, hostKey };
    child.stdin.end(JSON.stringify({ name: "driver", connection, sudo: false, timeoutSeconds: 7, rejoined: "" }));
    const code = once(child, "close");
    const said = await text(child.stderr);
    assert.deepEqual((await code)[0], 1);
    assert.match(
      said,
      /^driver: not ready within 7 s: SSH at 127\.0\.0\.1 does not answer \((the connection was closed during the handshake|.*(Connection lost|ECONNRESET).*)\); is SSH open to you \(/,
    );
    assert.equal(said.trim().split("\n").length, 1);
  } finally {
    server.close();
  }
});
