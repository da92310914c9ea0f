/**
 * The fallback: mysql2's own prepare, execute and query, for TLS and for servers whose packets the codec doesn't know.
 */
import type { Socket } from "node:net";
import type { Connection, FieldPacket, PrepareStatementInfo } from "mysql2";
import mysql from "mysql2";
import type { Endpoint } from "../../contract.ts";
import type { ConnectOptions, ParamType, Statement, StatementSpec, Value } from "../driver.ts";
import { DriverError } from "../driver.ts";
import { LibraryConnection } from "../library-connection.ts";
import type { ParamValue } from "../params.ts";
import { exactNumber, timestampText } from "../params.ts";
import { ValuesStatement } from "../values-statement.ts";
import { clientError, UNPREPARABLE } from "./errors.ts";

type Callback = (error: unknown, answer: unknown, fields?: FieldPacket[]) => void;

export class MysqlLibraryConnection extends LibraryConnection {
  protected override readonly backslash = true;
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
    start((error, answer, fields) => this.#answered(error, answer, fields));
  }

  query(sql: string | Uint8Array): void {
    const text = typeof sql === "string" ? sql : Buffer.from(sql).toString("utf8");
    this.run((answered) => this.#library.query({ sql: text, rowsAsArray: true }, answered));
  }

  #answered(error: unknown, answer: unknown, fields: readonly FieldPacket[] = []): void {
    if (!this.#running || this.ended) return;
    this.#running = false;
    if (error) {
      const failure = clientError(error);
      if ((error as { fatal?: boolean }).fatal) return this.lose(failure);
      this.answerEnded();
      return this.listener.failed(failure);
    }
    if (!Array.isArray(answer)) return this.listener.done(0, (answer as { affectedRows: number }).affectedRows);
    this.answerEnded(() => (answer as unknown[][]).map((row) => row.map((value, i) => plain(value, fields[i]))));
    this.listener.done(answer.length, 0);
  }

  protected endSession(): void {
    this.#library.end(() => {});
  }

  protected drop(): void {
    this.#library.destroy();
  }
}

const NUMBERS: readonly (number | undefined)[] = [mysql.Types.LONGLONG, mysql.Types.DECIMAL, mysql.Types.NEWDECIMAL];

const MOMENTS: readonly (number | undefined)[] = [mysql.Types.DATETIME, mysql.Types.TIMESTAMP];

/** Decimals, and integers that a number can't hold, come as text. */
function plain(value: unknown, field: FieldPacket | undefined): Value {
  if (value === null || typeof value === "number") return value;
  const type = field?.columnType;
  if (NUMBERS.includes(type)) return exactNumber(String(value));
  return MOMENTS.includes(type) ? timestampText(String(value)) : String(value);
}

/** A plain number would go out as DOUBLE, a plain Buffer as BLOB; what a workload binds is INT, DATE, CHAR ... */
function typed(param: ParamType, value: ParamValue | Buffer | null): unknown {
  if (value === null) return null;
  if (typeof value === "object") return value.toString("latin1");
  switch (param.type) {
    case "int":
      return mysql.TypedParameter.INT(value);
    case "bigint":
      return mysql.TypedParameter.BIGINT(value);
    case "decimal":
      return mysql.TypedParameter.NEWDECIMAL(String(value));
    default:
      // Dates too: the server reads them without a time zone between.
      return String(value);
  }
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
    const values = this.values.map((value, i) => typed(this.spec.params[i] as ParamType, value));
    this.#connection.run((answered) => this.#info.execute(values, answered as never));
  }
}
