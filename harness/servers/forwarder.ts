/** One address whose new connections go wherever `to` points at the moment; those that are open stay where they are. */
import net from "node:net";

export class Forwarder {
  port = 0;
  to: number;
  connections = 0;
  readonly #server: net.Server;
  readonly #sockets = new Set<net.Socket>();

  private constructor(to: number) {
    this.to = to;
    this.#server = net.createServer((client) => {
      this.connections++;
      const server = net.connect({ port: this.to, host: "127.0.0.1", noDelay: true });
      for (const [from, into] of [
        [client, server],
        [server, client],
      ] as const) {
        this.#sockets.add(from);
        from.setNoDelay(true);
        from.pipe(into);
        from.on("error", () => {});
        from.on("close", () => {
          this.#sockets.delete(from);
          into.destroy();
        });
      }
    });
  }

  static async start(to: number): Promise<Forwarder> {
    const forwarder = new Forwarder(to);
    await new Promise<void>((resolve) => forwarder.#server.listen(0, "127.0.0.1", resolve));
    forwarder.port = (forwarder.#server.address() as net.AddressInfo).port;
    return forwarder;
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
