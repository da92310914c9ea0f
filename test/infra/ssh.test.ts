import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { test } from "node:test";
import ssh2 from "ssh2";
import { connect, HostKeyError } from "../../infra/benchmark/ssh.ts";

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
