/** What the fallbacks of both protocols share: a connection of the client library, and rows that it has decoded. */
import { BaseConnection } from "./base-connection.ts";
import type { Value } from "./driver.ts";

/** What is asked of a library's socket. */
export interface LibraryStream {
  bytesRead?: number;
  bytesWritten?: number;
  once(event: "close", listener: () => void): unknown;
}

export abstract class LibraryConnection extends BaseConnection {
  readonly path = "library";
  /** The libraries wait for each answer themselves. */
  readonly pipelining = "none";
  #capture = false;
  #captured: Value[][] | null = null;

  get bytesRead(): number {
    return this.stream().bytesRead ?? 0;
  }

  get bytesWritten(): number {
    return this.stream().bytesWritten ?? 0;
  }

  collect(): void {}

  flush(): void {}

  captureNext(): void {
    this.#capture = true;
  }

  takeRows(): Value[][] | null {
    const rows = this.#captured;
    this.#captured = null;
    return rows;
  }

  /** An answer has come. @param rows decodes it, if somebody wants to look */
  protected answerEnded(rows?: () => Value[][]): void {
    if (this.#capture && rows) this.#captured = rows();
    this.#capture = false;
  }

  protected sayGoodbye(closed: () => void): void {
    this.stream().once("close", closed);
    this.endSession();
  }

  /** The socket inside the library's connection. */
  protected abstract stream(): LibraryStream;
  protected abstract endSession(): void;
}
