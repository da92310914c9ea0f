/**
 * The fast path's own TCP socket. Reads land in one static buffer that all sockets of this thread share (libuv reads
 * and delivers in one go, so the content is consumed before the next read), which saves a buffer and the stream
 * machinery per read. During the handshake it plays the event-emitting stream that the client library expects; after
 * `takeOver` bytes go straight to the codec.
 */
import { EventEmitter } from "node:events";
import net from "node:net";

const shared = new Uint8Array(65_536);

export interface SocketUser {
  /** @param bytes the shared buffer: used up before the call returns */
  received(bytes: Uint8Array, length: number): void;
  closed(error: NodeJS.ErrnoException | null): void;
}

export class OwnSocket extends EventEmitter {
  readonly #socket: net.Socket;
  #user: SocketUser | null = null;
  #error: NodeJS.ErrnoException | null = null;

  constructor(where: { path: string } | { host: string; port: number }) {
    super();
    this.#socket = net.connect({
      ...where,
      noDelay: true,
      keepAlive: true,
      onread: { buffer: shared, callback: (length) => this.#read(length) },
    });
    this.#socket.on("error", (error) => {
      this.#error = error;
      if (this.#user === null) this.emit("error", error);
    });
    this.#socket.on("end", () => {
      if (this.#user === null) this.emit("end");
    });
    this.#socket.on("close", () => {
      if (this.#user === null) this.emit("close");
      else this.#user.closed(this.#error);
    });
  }

  #read(length: number): boolean {
    const user = this.#user;
    if (user !== null) {
      user.received(shared, length);
    } else {
      const bytes = Buffer.from(shared.subarray(0, length));
      this.handshakeReceived(bytes);
      this.emit("data", bytes);
    }
    return true;
  }

  /** From here on `user` gets the bytes and the end; the library gets nothing any more. */
  takeOver(user: SocketUser): void {
    this.removeAllListeners();
    this.#user = user;
  }

  /** For those who have to know what was agreed on. */
  protected handshakeReceived(_bytes: Uint8Array): void {}

  /** What is sent in place of the library's own bytes. */
  protected handshakeSends(bytes: Uint8Array): Uint8Array {
    return bytes;
  }

  /** A request, after `takeOver`. `bytes` stay as they are until its answer has come. */
  send(bytes: Uint8Array): void {
    this.#socket.write(bytes);
  }

  write(bytes: Uint8Array, done?: (error?: Error | null) => void): boolean {
    return this.#socket.write(this.#user === null ? this.handshakeSends(bytes) : bytes, done);
  }

  end(bytes?: Uint8Array): void {
    if (bytes) this.#socket.end(bytes);
    else this.#socket.end();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  get destroyed(): boolean {
    return this.#socket.destroyed;
  }

  get bytesRead(): number {
    return this.#socket.bytesRead;
  }

  get bytesWritten(): number {
    return this.#socket.bytesWritten;
  }
}
