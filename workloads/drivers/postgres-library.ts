/** The fallback: pg's own queries, for TLS and for comparison with the fast path. */
import type pg from "pg";
import type { Endpoint } from "../contract.ts";
import { DriverError } from "./driver.ts";
import type { Connection, ConnectOptions, Listener, Statement, StatementSpec, Value } from "./driver.ts";
import { clientError } from "./postgres-errors.ts";
import { numbered } from "./postgres-messages.ts";
import { TextStatement } from "./text-statement.ts";

type Stream = { bytesRead?: number; bytesWritten?: number; destroy(): void; once(event: "close", listener: () => void): void };

export class PostgresLibraryConnection implements Connection {
  readonly path = "library";
  readonly endpoint: Endpoint;
  readonly serverVersion: string;
  listener: Listener = { done() {}, failed() {}, lost() {} };
  readonly #client: pg.Client;
  readonly #emulate: boolean;
  #statements = 0;
  #ended = false;
  #capture = false;
  #captured: Value[][] | null = null;

  constructor(endpoint: Endpoint, client: pg.Client, serverVersion: string, options: ConnectOptions) {
    this.endpoint = endpoint;
    this.serverVersion = serverVersion;
    this.#client = client;
    this.#emulate = options.preparedStatements === "disable";
    client.removeAllListeners("error");
    client.on("error", (error) => this.#lose(clientError(error)));
    client.on("end", () => this.#lose(new DriverError("08006", "the server closed the connection", "reconnect")));
  }

  #stream(): Stream {
    return (this.#client as unknown as { connection: { stream: Stream } }).connection.stream;
  }

  get bytesRead(): number {
    return this.#stream().bytesRead ?? 0;
  }

  get bytesWritten(): number {
    return this.#stream().bytesWritten ?? 0;
  }

  /** pg prepares a named statement with its first execution; here nothing is sent. */
  async prepare(specs: readonly StatementSpec[]): Promise<Statement[]> {
    if (this.#ended) throw new DriverError("08003", "the connection is closed", "reconnect");
    if (this.#emulate) return specs.map((spec) => new TextStatement(spec, (sql) => this.query(sql)));
    return specs.map((spec) => new LibraryStatement(spec, `mb${++this.#statements}`, this));
  }

  query(sql: string | Uint8Array): void {
    this.run({ text: typeof sql === "string" ? sql : Buffer.from(sql).toString("utf8"), rowMode: "array" });
  }

  /** @internal run by a statement of this connection */
  run(config: pg.QueryArrayConfig): void {
    this.#client.query(config).then((result) => this.#done(result), (error: unknown) => this.#failed(error));
  }

  #done(answer: pg.QueryArrayResult | pg.QueryArrayResult[]): void {
    if (this.#ended) return;
    const result = (Array.isArray(answer) ? answer.at(-1) : answer) as pg.QueryArrayResult;
    if (this.#capture) this.#captured = (result.rows as unknown[][]).map((row) => row.map((value, i) => plain(value, result.fields[i]?.dataTypeID)));
    this.#capture = false;
    const write = ["INSERT", "UPDATE", "DELETE", "MERGE"].includes(result.command);
    this.listener.done(result.rows.length, write ? (result.rowCount ?? 0) : 0);
  }

  #failed(error: unknown): void {
    if (this.#ended) return;
    this.#capture = false;
    // pg does not say whether a transaction is open; a ROLLBACK outside of one is only a warning.
    const failure = clientError(error, true);
    if (failure.action === "reconnect") this.#lose(failure);
    else this.listener.failed(failure);
  }

  captureNext(): void {
    this.#capture = true;
  }

  takeRows(): Value[][] | null {
    const rows = this.#captured;
    this.#captured = null;
    return rows;
  }

  #lose(error: DriverError): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#stream().destroy();
    this.listener.lost(error);
  }

  close(): Promise<void> {
    if (this.#ended) return Promise.resolve();
    this.#ended = true;
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.destroy(), 1000);
      this.#stream().once("close", () => {
        clearTimeout(timer);
        resolve();
      });
      this.#client.end().catch(() => {});
    });
  }

  destroy(): void {
    this.#ended = true;
    this.#stream().destroy();
  }
}

/** bigint and numeric come as text, CHAR padded with blanks. */
function plain(value: unknown, type: number | undefined): Value {
  if (value === null || typeof value === "number") return value;
  if (type === 20 || type === 1700) return Number(value);
  return type === 1042 ? String(value).trimEnd() : String(value);
}

class LibraryStatement implements Statement {
  readonly spec: StatementSpec;
  readonly #name: string;
  readonly #text: string;
  readonly #connection: PostgresLibraryConnection;
  readonly #values: (number | Buffer)[];

  constructor(spec: StatementSpec, name: string, connection: PostgresLibraryConnection) {
    this.spec = spec;
    this.#name = name;
    this.#text = numbered(spec.sql);
    this.#connection = connection;
    this.#values = spec.params.map((param) => (param.type === "int" ? 0 : Buffer.alloc(param.length, 48)));
  }

  setInt(index: number, value: number): void {
    this.#values[index] = value;
  }

  bytes(index: number): Uint8Array {
    return this.#values[index] as Buffer;
  }

  execute(): void {
    const values = this.#values.map((value) => (typeof value === "number" ? value : value.toString("latin1")));
    this.#connection.run({ name: this.#name, text: this.#text, values, rowMode: "array" });
  }
}
