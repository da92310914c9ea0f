/** The fast path's socket, with an ear on what client and server agree on in the handshake. */

import { OwnSocket } from "../own-socket.ts";
import { Negotiation } from "./negotiation.ts";

export class MysqlSocket extends OwnSocket {
  readonly negotiation = new Negotiation();

  protected override handshakeReceived(bytes: Uint8Array): void {
    this.negotiation.received(bytes);
  }

  protected override handshakeSends(bytes: Uint8Array): Uint8Array {
    return this.negotiation.sending(bytes);
  }
}
