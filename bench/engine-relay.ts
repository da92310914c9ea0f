/**
 * A TCP relay on loopback that hands every byte on after a fixed time, in both directions: it stands in for a long
 * link.
 * It delays only: no loss, no bandwidth limit, and each end's TCP sees an acknowledgement at once, so windows do not
 * matter.
 * As a program: `node bench/engine-relay.ts TARGET_PORT ONE_WAY_MS`; it prints its own port and ends with its standard
 * input.
 */

import type { AddressInfo, Socket } from "node:net";
import { connect, createServer } from "node:net";

export function relay(targetPort: number, oneWayMs: number): Promise<{ port: number; close(): void }> {
  const sockets = new Set<Socket>();
  const server = createServer({ noDelay: true, allowHalfOpen: true }, (near) => {
    const far = connect({ port: targetPort, host: "127.0.0.1", noDelay: true, allowHalfOpen: true });
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      delay(from, to, oneWayMs);
      from.on("error", () => to.destroy());
      from.on("close", () => {
        sockets.delete(from);
        // Not before the bytes that are still on their way.
        setTimeout(() => to.destroySoon(), oneWayMs);
      });
    }
  });
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      resolve({
        port: (server.address() as AddressInfo).port,
        close() {
          server.close();
          for (const socket of sockets) socket.destroy();
        },
      });
    });
  });
}

/** Timers of equal length fire in the order in which they were set, so bytes stay in order. */
function delay(from: Socket, to: Socket, ms: number): void {
  from.on("data", (bytes) => setTimeout(() => to.writable && to.write(bytes), ms));
  from.on("end", () => setTimeout(() => to.end(), ms));
}

if (process.argv[1] === import.meta.filename) {
  const [port, ms] = process.argv.slice(2).map(Number);
  if (!port || !ms) {
    process.stderr.write("usage: node bench/engine-relay.ts TARGET_PORT ONE_WAY_MS\n");
    process.exit(2);
  }
  const running = await relay(port, ms);
  process.stdout.write(`${running.port}\n`);
  process.stdin.resume().on("end", () => process.exit(0));
}
