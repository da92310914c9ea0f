/** Requests past the stream machinery arrive whole, also when the kernel can't take them at once. */
import assert from "node:assert/strict";
import net from "node:net";
import { test } from "node:test";
import { writeDirectly } from "../../workloads/drivers/direct-write.ts";

async function pair(): Promise<{ client: net.Socket; server: net.Socket; close(): void }> {
  const listener = net.createServer({ pauseOnConnect: true });
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  const accepted = new Promise<net.Socket>((resolve) => listener.once("connection", resolve));
  const client = net.connect((listener.address() as net.AddressInfo).port, "127.0.0.1");
  await new Promise((resolve) => client.once("connect", resolve));
  const server = await accepted;
  return {
    client,
    server,
    close() {
      client.destroy();
      server.destroy();
      listener.close();
    },
  };
}

function receive(socket: net.Socket, length: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  let size = 0;
  return new Promise((resolve, reject) => {
    socket.on("data", (chunk) => {
      parts.push(chunk);
      size += chunk.length;
      if (size >= length) resolve(Buffer.concat(parts));
    });
    socket.on("error", reject);
    socket.resume();
  });
}

for (const size of [1, 300, 8_000_000]) {
  test(`${size} bytes to a reader that starts late`, async () => {
    const { client, server, close } = await pair();
    try {
      const bytes = Buffer.alloc(size, "0123456789");
      writeDirectly(client, bytes);
      await new Promise((resolve) => setTimeout(resolve, 50));
      const received = await receive(server, size);
      assert.ok(received.equals(bytes));
      assert.equal(client.bytesWritten, size);
    } finally {
      close();
    }
  });
}

test("a socket that is not connected yet gets the bytes through its stream; one whose peer is gone is destroyed", async () => {
  const { client, server, close } = await pair();
  try {
    server.resetAndDestroy();
    const ended = new Promise<Error | null>((resolve) => {
      client.once("error", resolve);
      client.once("close", () => resolve(null));
    });
    const timer = setInterval(() => writeDirectly(client, Buffer.from("x")), 5);
    assert.ok((await ended) === null || client.destroyed);
    clearInterval(timer);
    writeDirectly(client, Buffer.from("nothing happens any more"));
  } finally {
    close();
  }
});

test("where the handle does not take part, the stream writes, from then on always", () => {
  const written: string[] = [];
  const socket = {
    connecting: false,
    _handle: {
      writeBuffer() {
        throw new TypeError("a request object is needed");
      },
    },
    write: (b: Buffer) => written.push(String(b)),
  };
  writeDirectly(socket as never, Buffer.from("a"));
  const other = {
    connecting: false,
    _handle: { writeBuffer: () => assert.fail("must not be tried again") },
    write: socket.write,
  };
  writeDirectly(other as never, Buffer.from("b"));
  assert.deepEqual(written, ["a", "b"]);
});
