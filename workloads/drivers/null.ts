/**
 * A driver without a server: each statement is answered at once with the rows that it has to return. What a run on it
 * can do is the engine's own ceiling, for `load calibrate`.
 */
import type { Endpoint } from "../contract.ts";
import type { Connection, Driver, Listener, Statement, StatementSpec, Value } from "./driver.ts";

export const nullDriver: Driver = {
  name: "null",
  library: { name: "none", version: "0" },
  sessionSetup: [],
  exactWriteCounts: false,
  connect: async (endpoint) => new NullConnection(endpoint),
};

/**
 * Answers that wait for the next turn of the event loop: all of one turn are given together, as a poll of many sockets
 * would.
 */
const waiting: NullConnection[] = [];
let scheduled = false;

function answerAll(): void {
  scheduled = false;
  for (const connection of waiting.splice(0)) connection.answer();
}

class NullConnection implements Connection {
  readonly path = "library";
  readonly pipelining = "none";
  readonly endpoint: Endpoint;
  readonly serverVersion = "null";
  readonly bytesRead = 0;
  readonly bytesWritten = 0;
  listener: Listener = { done() {}, failed() {}, lost() {} };
  #rows = 0;
  #affected = 0;
  #open = true;

  constructor(endpoint: Endpoint) {
    this.endpoint = endpoint;
  }

  async prepare(specs: readonly StatementSpec[]): Promise<Statement[]> {
    return specs.map((spec) => new NullStatement(spec, this));
  }

  /** @internal */
  run(kind: StatementSpec["kind"]): void {
    this.#rows = kind === "read" ? 1 : 0;
    this.#affected = kind === "write" ? 1 : 0;
    waiting.push(this);
    if (scheduled) return;
    scheduled = true;
    setImmediate(answerAll);
  }

  query(): void {
    this.run("write");
  }

  /** @internal */
  answer(): void {
    if (this.#open) this.listener.done(this.#rows, this.#affected);
  }

  collect(): void {}

  flush(): void {}

  captureNext(): void {}

  takeRows(): Value[][] | null {
    return null;
  }

  async close(): Promise<void> {
    this.#open = false;
  }

  destroy(): void {
    this.#open = false;
  }
}

class NullStatement implements Statement {
  readonly spec: StatementSpec;
  readonly #connection: NullConnection;
  readonly #bytes: Uint8Array[];

  constructor(spec: StatementSpec, connection: NullConnection) {
    this.spec = spec;
    this.#connection = connection;
    this.#bytes = spec.params.map((param) => new Uint8Array(param.type === "text" ? param.length : 0));
  }

  setInt(): void {}

  set(): void {}

  bytes(index: number): Uint8Array {
    return this.#bytes[index] as Uint8Array;
  }

  execute(): void {
    this.#connection.run(this.spec.kind);
  }
}
