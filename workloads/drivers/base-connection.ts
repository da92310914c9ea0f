/**
 * What all connections share, whatever the protocol and the path: statements as text where preparing is off, and one
 * end that is told once.
 */
import type { Endpoint } from "../contract.ts";
import type {
  Connection,
  ConnectOptions,
  DriverError,
  Listener,
  Pipelining,
  Statement,
  StatementSpec,
  Value,
} from "./driver.ts";
import { TextStatement } from "./text-statement.ts";

/** A server that does not answer the goodbye gets no longer. */
const GOODBYE_MS = 1000;

export abstract class BaseConnection implements Connection {
  abstract readonly path: "fast" | "library";
  readonly endpoint: Endpoint;
  readonly serverVersion: string;
  listener: Listener = { done() {}, failed() {}, lost() {} };
  /** A backslash in a literal escapes what follows it. */
  protected readonly backslash: boolean = false;
  protected ended = false;
  readonly #emulate: boolean;

  constructor(endpoint: Endpoint, serverVersion: string, options: ConnectOptions) {
    this.endpoint = endpoint;
    this.serverVersion = serverVersion;
    this.#emulate = options.preparedStatements === "disable";
  }

  async prepare(specs: readonly StatementSpec[]): Promise<Statement[]> {
    if (this.#emulate) return specs.map((spec) => this.textStatement(spec));
    return this.prepareOnServer(specs);
  }

  /** For a statement that is not prepared. */
  protected textStatement(spec: StatementSpec): Statement {
    return new TextStatement(spec, this.backslash, (sql) => this.query(sql));
  }

  close(): Promise<void> {
    if (this.ended) return Promise.resolve();
    this.ended = true;
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.drop(), GOODBYE_MS);
      this.sayGoodbye(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  destroy(): void {
    this.ended = true;
    this.drop();
  }

  /** The connection has ended by itself. */
  protected lose(error: DriverError): void {
    if (this.ended) return;
    this.ended = true;
    this.tellLost(error);
  }

  protected tellLost(error: DriverError): void {
    this.listener.lost(error);
  }

  abstract readonly pipelining: Pipelining;
  abstract collect(): void;
  abstract flush(): void;
  abstract readonly bytesRead: number;
  abstract readonly bytesWritten: number;
  abstract query(sql: string | Uint8Array): void;
  abstract captureNext(): void;
  abstract takeRows(): Value[][] | null;
  protected abstract prepareOnServer(specs: readonly StatementSpec[]): Promise<Statement[]>;
  /** @param closed to be called when the socket is closed, after `drop` too */
  protected abstract sayGoodbye(closed: () => void): void;
  /** Closes the socket at once. */
  protected abstract drop(): void;
}
