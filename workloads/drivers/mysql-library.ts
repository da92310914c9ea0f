/** The fallback: mysql2's own prepare, execute and query, for TLS and for servers whose packets the codec doesn't know. */
import type { Socket } from "node:net";
import mysql from "mysql2";
import type { Connection as LibraryConnection, PrepareStatementInfo } from "mysql2";
import type { Endpoint } from "../contract.ts";
import { DriverError } from "./driver.ts";
import type { Connection, ConnectOptions, Listener, Statement, StatementSpec, Value } from "./driver.ts";
import { clientError } from "./mysql-errors.ts";
import { TextStatement } from "./text-statement.ts";

interface Callback {
  (error: unknown, answer: unknown): void;
}

export class MysqlLibraryConnection implements Connection {
  readonly path = "library";
  readonly endpoint: Endpoint;
  readonly serverVersion: string;
  listener: Listener = { done() {}, failed() {}, lost() {} };
  readonly #library: LibraryConnection;
  readonly #emulate: boolean;
  #running = false;
  #ended = false;
  #capture = false;
  #captured: Value[][] | null = null;

  constructor(endpoint: Endpoint, library: LibraryConnection, serverVersion: string, options: ConnectOptions) {
    this.endpoint = endpoint;
    this.serverVersion = serverVersion;
    this.#library = library;
    this.#emulate = options.preparedStatements === "disable";
    library.removeAllListeners("error");
    library.on("error", (error) => this.#lose(clientError(error)));
    library.on("end", () => this.#lose(new DriverError("2013", "the server closed the connection", "reconnect")));
  }

  #stream(): Socket {
    return (this.#library as unknown as { stream: Socket }).stream;
  }

  get bytesRead(): number {
    return this.#stream().bytesRead;
  }

  get bytesWritten(): number {
    return this.#stream().bytesWritten;
  }

  async prepare(specs: readonly StatementSpec[]): Promise<Statement[]> {
    if (this.#emulate) return specs.map((spec) => new TextStatement(spec, (sql) => this.query(sql)));
    const statements: Statement[] = [];
    for (const spec of specs) {
      const info = await new Promise<PrepareStatementInfo>((resolve, reject) => {
        if (this.#ended) return reject(new DriverError("2006", "the connection is closed", "reconnect"));
        this.#library.prepare(spec.sql, (error, statement) => (error ? reject(clientError(error)) : resolve(statement)));
      });
      statements.push(new LibraryStatement(spec, info, this));
    }
    return statements;
  }

  /** @internal run by a statement of this connection */
  run(start: (answered: Callback) => void): void {
    this.#running = true;
    start((error, answer) => this.#answered(error, answer));
  }

  query(sql: string | Uint8Array): void {
    const text = typeof sql === "string" ? sql : Buffer.from(sql).toString("utf8");
    this.run((answered) => this.#library.query({ sql: text, rowsAsArray: true }, answered));
  }

  #answered(error: unknown, answer: unknown): void {
    if (!this.#running || this.#ended) return;
    this.#running = false;
    if (error) {
      const failure = clientError(error);
      if ((error as { fatal?: boolean }).fatal) return this.#lose(failure);
      this.#capture = false;
      return this.listener.failed(failure);
    }
    if (!Array.isArray(answer)) return this.listener.done(0, (answer as { affectedRows: number }).affectedRows);
    if (this.#capture) this.#captured = (answer as unknown[][]).map((row) => row.map(plain));
    this.#capture = false;
    this.listener.done(answer.length, 0);
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
      this.#library.end(() => {});
    });
  }

  destroy(): void {
    this.#ended = true;
    this.#library.destroy();
  }
}

/** Decimals (SUM) come as text. */
function plain(value: unknown): Value {
  if (value === null || typeof value === "number") return value;
  const text = String(value);
  return /^-?\d{1,15}$/.test(text) ? Number(text) : text;
}

class LibraryStatement implements Statement {
  readonly spec: StatementSpec;
  readonly #info: PrepareStatementInfo;
  readonly #connection: MysqlLibraryConnection;
  readonly #values: (number | Buffer)[];

  constructor(spec: StatementSpec, info: PrepareStatementInfo, connection: MysqlLibraryConnection) {
    this.spec = spec;
    this.#info = info;
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
    // A plain number would go out as DOUBLE, a plain Buffer as BLOB; sysbench binds INT and CHAR.
    const values = this.#values.map((value) => (typeof value === "number" ? mysql.TypedParameter.INT(value) : value.toString("latin1")));
    this.#connection.run((answered) => this.#info.execute(values, answered as never));
  }
}
