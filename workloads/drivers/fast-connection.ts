/** What the fast paths of both protocols share: a socket of their own whose bytes go to a codec. */
import type { Endpoint } from "../contract.ts";
import { BaseConnection } from "./base-connection.ts";
import type { ConnectOptions } from "./driver.ts";
import { DriverError } from "./driver.ts";
import { StatementGroup } from "./group.ts";
import type { OwnSocket, SocketUser } from "./own-socket.ts";

/**
 * @typeParam Preparing what is kept while prepares are under way
 * @typeParam Running what an answer's rows are decoded by
 */
export abstract class FastConnection<Preparing extends { reject(error: DriverError): void }, Running>
  extends BaseConnection
  implements SocketUser
{
  readonly path = "fast";
  protected readonly socket: OwnSocket;
  protected preparing: Preparing | null = null;
  /** What has come since it was asked for; null when nothing is kept. */
  protected capture: Buffer[] | null = null;
  /** Statements that are collected, or whose answers are awaited together. */
  protected group: StatementGroup<Running> | null = null;
  protected collecting = false;
  #keepsNext = false;
  #closed: (() => void) | null = null;

  constructor(endpoint: Endpoint, socket: OwnSocket, serverVersion: string, options: ConnectOptions) {
    super(endpoint, serverVersion, options);
    this.socket = socket;
    socket.takeOver(this);
  }

  get bytesRead(): number {
    return this.socket.bytesRead;
  }

  get bytesWritten(): number {
    return this.socket.bytesWritten;
  }

  captureNext(): void {
    this.capture = [];
    this.#keepsNext = true;
  }

  collect(): void {
    this.group = new StatementGroup();
    this.collecting = true;
    this.#keepsNext = false;
  }

  /** One more statement of the group. */
  protected add(bytes: Uint8Array, running: Running): void {
    this.group?.add(bytes, running, this.#keepsNext);
    this.#keepsNext = false;
  }

  /** The group is over, by its last answer or by a failure behind which nothing comes. */
  protected endGroup(): void {
    this.group = null;
    this.capture = null;
  }

  received(bytes: Uint8Array, length: number): void {
    if (this.capture !== null) this.capture.push(Buffer.from(bytes.subarray(0, length)));
    this.feed(bytes, length);
  }

  garbled(reason: string): void {
    this.socket.destroy();
    this.lose(this.garbledError(reason));
  }

  closed(error: NodeJS.ErrnoException | null): void {
    if (this.#closed !== null) this.#closed();
    else this.lose(this.closedError(error));
  }

  /** To the codec, which uses the bytes up before it returns. */
  protected abstract feed(bytes: Uint8Array, length: number): void;
  /** Why the socket closed without our doing. */
  protected abstract closedError(error: NodeJS.ErrnoException | null): DriverError;
  /** The message that ends a session. */
  protected abstract readonly farewell: Uint8Array;

  protected garbledError(reason: string): DriverError {
    return new DriverError("protocol", `unreadable answer: ${reason}`, "reconnect");
  }

  protected override tellLost(error: DriverError): void {
    const preparing = this.preparing;
    this.preparing = null;
    if (preparing !== null) preparing.reject(error);
    else super.tellLost(error);
  }

  protected sayGoodbye(closed: () => void): void {
    if (this.socket.destroyed) return closed();
    this.#closed = closed;
    this.socket.end(this.farewell);
  }

  protected drop(): void {
    this.socket.destroy();
  }
}
