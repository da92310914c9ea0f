/** The command plugin's stand-in against a port that takes connections and never speaks. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { type AddressInfo, createServer } from "node:net";
import { text } from "node:stream/consumers";
import { after, before, test } from "node:test";
import { checkout, nodeBinary } from "../../tools/paths.ts";

const server = createServer((socket) => socket.on("error", () => {}));
before(() => new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve)));
after(() => server.close());

/** A process of its own: an error event without a listener would end it, and this test with it. */
const PROGRAM = `
import { dial } from "./standins/pulumi-resource-command/ssh.ts";
const port = Number(process.argv[1]);
const log = { status() {}, message() {} };
const endpoint = { host: "127.0.0.1", port, user: "root", dialErrorLimit: 1, perDialTimeout: 1 };
await dial(endpoint, log, new AbortController().signal).catch((error) => console.log(error.message));
// The end of the socket comes after the time-out.
await new Promise((resolve) => setTimeout(resolve, 500));
console.log("still here");`;

test("it is one error that names host and port, and does not end the plugin", async () => {
  const { port } = server.address() as AddressInfo;
  const child = spawn(nodeBinary(), ["--input-type=module", "-e", PROGRAM, String(port)], { cwd: checkout });
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)]);
  assert.equal(err, "");
  assert.equal(
    out,
    `after 1 failed attempts: ssh: handshake failed: Timed out while waiting for handshake (127.0.0.1:${port})\nstill here\n`,
  );
});
