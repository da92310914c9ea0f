/**
 * The fallback: mysql2's own prepare, execute and query, for TLS and for servers whose packets the codec doesn't know.
 */
import type { Socket } from "node:net";
import type { Connection, PrepareStatementInfo } from "mysql2";
import mysql from "mysql2";
import type { Endpoint } from "../contract.ts";
import type { ConnectOptions, Statement, StatementSpec, Value } from "./driver.ts";
import { DriverError } from "./driver.ts";
import { LibraryConnection } from "./library-connection.ts";
import { clientError, UNPREPARABLE } from "./mysql-errors.ts";
import { ValuesStatement } from "./values-statement.ts";

type Callback = (error: unknown, answer: unknown) => void;

export class MysqlLibraryConnection extends LibraryConnection {
  readonly #library: Connection;
  #running = false;

  constructor(endpoint: Endpoint, library: Connection, serverVersion: string, options: ConnectOptions) {
    super(endpoint, serverVersion, options);
    this.#library = library;
    library.removeAllListeners("error");
    library.on("error", (error) => this.lose(clientError(error)));
    library.on("end", () => this.lose(new DriverError("2013", "the server closed the connection", "reconnect")));
  }

  protected stream(): Socket {
    return (this.#library as unknown as { stream: Socket }).stream;
  }

  protected async prepareOnServer(specs: readonly StatementSpec[]): Promise<Statement[]> {
    const statements: Statement[] = [];
    for (const spec of specs) {
      const info = await new Promise<PrepareStatementInfo | null>((resolve, reject) => {
        if (this.ended) return reject(new DriverError("2006", "the connection is closed", "reconnect"));
        this.#library.prepare(spec.sql, (error, statement) => {
          if (!error) return resolve(statement);
          if (error.errno === UNPREPARABLE) return resolve(null);
          reject(clientError(error));
        });
      });
      statements.push(info === null ? this.textStatement(spec) : new LibraryStatement(spec, info, this));
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
    if (!this.#running || this.ended) return;
    this.#running = false;
    if (error) {
      const failure = clientError(error);
      if ((error as { fatal?: boolean }).fatal) return this.lose(failure);
      this.answerEnded();
      return this.listener.failed(failure);
    }
    if (!Array.isArray(answer)) return this.listener.done(0, (answer as { affectedRows: number }).affectedRows);
    this.answerEnded(() => (answer as unknown[][]).map((row) => row.map(plain)));
    this.listener.done(answer.length, 0);
  }

  protected endSession(): void {
    this.#library.end(() => {});
  }

  protected drop(): void {
    this.#library.destroy();
  }
}

/** Decimals (SUM) come as text. */
function plain(value: unknown): Value {
  if (value === null || typeof value === "number") return value;
  const text = String(value);
  return /^-?\d{1,15}$/.test(text) ? Number(text) : text;
}

class LibraryStatement extends ValuesStatement {
  readonly #info: PrepareStatementInfo;
  readonly #connection: MysqlLibraryConnection;

  constructor(spec: StatementSpec, info: PrepareStatementInfo, connection: MysqlLibraryConnection) {
    super(spec);
    this.#info = info;
    this.#connection = connection;
  }

  execute(): void {
    // A plain number would go out as DOUBLE, a plain Buffer as BLOB; sysbench binds INT and CHAR.
    const values = this.values.map((value) =>
      typeof value === "number" ? mysql.TypedParameter.INT(value) : value.toString("latin1"),
    );
    this.#connection.run((answered) => this.#info.execute(values, answered as never));
  }
}
