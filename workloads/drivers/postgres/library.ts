/** The fallback: pg's own queries, for TLS and for comparison with the fast path. */
import type pg from "pg";
import type { Endpoint } from "../../contract.ts";
import type { ConnectOptions, Statement, StatementSpec, Value } from "../driver.ts";
import { DriverError } from "../driver.ts";
import type { LibraryStream } from "../library-connection.ts";
import { LibraryConnection } from "../library-connection.ts";
import { ValuesStatement } from "../values-statement.ts";
import { decodeText } from "./decode.ts";
import { clientError } from "./errors.ts";
import { numbered } from "./messages.ts";

type Stream = LibraryStream & { destroy(): void };

export class PostgresLibraryConnection extends LibraryConnection {
  readonly #client: pg.Client;
  #statements = 0;

  constructor(endpoint: Endpoint, client: pg.Client, serverVersion: string, options: ConnectOptions) {
    super(endpoint, serverVersion, options);
    this.#client = client;
    client.removeAllListeners("error");
    client.on("error", (error) => this.lose(clientError(error)));
    client.on("end", () => this.lose(new DriverError("08006", "the server closed the connection", "reconnect")));
  }

  protected stream(): Stream {
    return (this.#client as unknown as { connection: { stream: Stream } }).connection.stream;
  }

  /** pg prepares a named statement with its first execution; here nothing is sent. */
  protected async prepareOnServer(specs: readonly StatementSpec[]): Promise<Statement[]> {
    if (this.ended) throw new DriverError("08003", "the connection is closed", "reconnect");
    return specs.map((spec) => new LibraryStatement(spec, `mb${++this.#statements}`, this));
  }

  query(sql: string | Uint8Array): void {
    this.run({ text: typeof sql === "string" ? sql : Buffer.from(sql).toString("utf8"), rowMode: "array" });
  }

  /** @internal run by a statement of this connection */
  run(config: pg.QueryArrayConfig): void {
    this.#client.query({ ...config, types: AS_TEXT }).then(
      (result) => this.#done(result),
      (error: unknown) => this.#failed(error),
    );
  }

  #done(answer: pg.QueryArrayResult | pg.QueryArrayResult[]): void {
    if (this.ended) return;
    const result = (Array.isArray(answer) ? answer.at(-1) : answer) as pg.QueryArrayResult;
    this.answerEnded(() =>
      (result.rows as unknown[][]).map((row) => row.map((value, i) => plain(value, result.fields[i]?.dataTypeID))),
    );
    const write = ["INSERT", "UPDATE", "DELETE", "MERGE"].includes(result.command);
    this.listener.done(result.rows.length, write ? (result.rowCount ?? 0) : 0);
  }

  #failed(error: unknown): void {
    if (this.ended) return;
    this.answerEnded();
    // pg does not say whether a transaction is open; a ROLLBACK outside of one is only a warning.
    const failure = clientError(error, true);
    if (failure.action === "reconnect") this.lose(failure);
    else this.listener.failed(failure);
  }

  protected override tellLost(error: DriverError): void {
    this.drop();
    super.tellLost(error);
  }

  protected endSession(): void {
    this.#client.end().catch(() => {});
  }

  protected drop(): void {
    this.stream().destroy();
  }
}

/** Every column comes as text. */
const AS_TEXT = { getTypeParser: () => (text: string) => text } as unknown as pg.CustomTypesConfig;

function plain(value: unknown, type = 0): Value {
  return value === null ? null : decodeText(String(value), type);
}

class LibraryStatement extends ValuesStatement {
  readonly #name: string;
  readonly #text: string;
  readonly #connection: PostgresLibraryConnection;

  constructor(spec: StatementSpec, name: string, connection: PostgresLibraryConnection) {
    super(spec);
    this.#name = name;
    this.#text = numbered(spec.sql);
    this.#connection = connection;
  }

  execute(): void {
    const values = this.values.map((value) => (Buffer.isBuffer(value) ? value.toString("latin1") : value));
    this.#connection.run({ name: this.#name, text: this.#text, values, rowMode: "array" });
  }
}
