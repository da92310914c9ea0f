/** The fast path's socket in the shape that pg expects of a stream while it does handshake and authentication. */
import { OwnSocket } from "../own-socket.ts";

export class PostgresSocket extends OwnSocket {
  /** pg asks for the connection that is under way already; what it writes before it stands is kept by the socket. */
  connect(): this {
    setImmediate(() => this.emit("connect"));
    return this;
  }

  /** Set when the socket was made. */
  setNoDelay(): this {
    return this;
  }

  setKeepAlive(): this {
    return this;
  }

  get writable(): boolean {
    return !this.destroyed;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }
}
