/** The fast path: messages written by hand, answers walked by their lengths, one statement at a time. */
import type { Endpoint } from "../../contract.ts";
import type { ConnectOptions, Statement, StatementSpec, Value } from "../driver.ts";
import { DriverError } from "../driver.ts";
import { FastConnection } from "../fast-connection.ts";
import type { ParamValue } from "../params.ts";
import { decodeAnswer, describedColumns } from "./decode.ts";
import { clientError, stateError } from "./errors.ts";
import { ExecuteMessage, groupedQuery, prepareMessages, queryMessage, SYNC, TERMINATE } from "./messages.ts";
import type { AnswerSink, ServerRefusal } from "./reader.ts";
import { PostgresReader } from "./reader.ts";
import type { PostgresSocket } from "./socket.ts";

interface Preparing {
  specs: readonly StatementSpec[];
  names: string[];
  resolve(statements: Statement[]): void;
  reject(error: DriverError): void;
}

const NO_TYPES: readonly number[] = [];

export class PostgresFastConnection extends FastConnection<Preparing, readonly number[]> implements AnswerSink {
  readonly pipelining = "skips";
  protected readonly farewell = TERMINATE;
  readonly #reader = new PostgresReader(this);
  #statements = 0;
  #captured: { bytes: Buffer; types: readonly number[] } | null = null;
  #types = NO_TYPES;

  constructor(endpoint: Endpoint, socket: PostgresSocket, serverVersion: string, options: ConnectOptions) {
    super(endpoint, socket, serverVersion, options);
  }

  protected async prepareOnServer(specs: readonly StatementSpec[]): Promise<Statement[]> {
    if (specs.length === 0) return [];
    return new Promise((resolve, reject) => {
      if (this.ended) return reject(new DriverError("08003", "the connection is closed", "reconnect"));
      const names = specs.map(() => `mb${++this.#statements}`);
      this.preparing = { specs, names, resolve, reject };
      this.capture = [];
      this.#reader.expect();
      this.socket.write(prepareMessages(specs, names));
    });
  }

  /** @internal sent by a statement of this connection */
  run(message: Uint8Array, types: readonly number[]): void {
    if (this.collecting) return this.add(message.subarray(0, message.length - SYNC.length), types);
    this.#types = types;
    this.#reader.expect();
    this.socket.send(message);
  }

  query(sql: string | Uint8Array): void {
    if (this.collecting) return this.add(groupedQuery(sql), NO_TYPES);
    this.run(queryMessage(sql), NO_TYPES);
  }

  flush(): void {
    this.collecting = false;
    if (this.group === null || this.group.size === 0) return this.endGroup();
    this.#reader.expectGroup(this.group.size);
    this.socket.send(this.group.bytes(SYNC));
  }

  takeRows(): Value[][] | null {
    const captured = this.#captured;
    this.#captured = null;
    return captured === null ? null : decodeAnswer(captured.bytes, captured.types);
  }

  protected feed(bytes: Uint8Array, length: number): void {
    this.#reader.feed(bytes, length);
  }

  answered(rows: number, affected: number): void {
    if (this.preparing !== null) return this.#prepared(this.preparing);
    if (this.group !== null) {
      if (this.ended) return;
      const answer = this.group.answered(this.capture, this.#reader.position);
      this.#captured = answer === null ? null : { bytes: answer.bytes, types: answer.statement };
      if (this.group.over) this.endGroup();
    } else if (this.capture !== null) {
      this.#captured = { bytes: Buffer.concat(this.capture), types: this.#types };
      this.capture = null;
    }
    this.listener.done(rows, affected);
  }

  #prepared(preparing: Preparing): void {
    const columns = describedColumns(Buffer.concat(this.capture ?? []));
    this.capture = null;
    this.preparing = null;
    const seen = this.#reader.parameters;
    const wrong = preparing.specs.findIndex((spec, i) => seen[i] !== spec.params.length);
    if (wrong >= 0) {
      const spec = preparing.specs[wrong] as StatementSpec;
      return preparing.reject(
        new DriverError(
          "parameters",
          `the server sees ${seen[wrong] ?? 0} parameters in "${spec.sql}", ${spec.params.length} are given`,
          "retry",
        ),
      );
    }
    preparing.resolve(
      preparing.specs.map(
        (spec, i) => new FastStatement(spec, preparing.names[i] as string, columns[i] ?? NO_TYPES, this),
      ),
    );
  }

  refused(refusal: ServerRefusal, inTransaction: boolean): void {
    this.endGroup();
    const error = stateError(refusal.code, refusal.message, inTransaction, isFatal(refusal));
    const preparing = this.preparing;
    this.preparing = null;
    if (preparing) preparing.reject(error);
    else this.listener.failed(error);
  }

  protected closedError(error: NodeJS.ErrnoException | null): DriverError {
    const said = this.#reader.pendingError;
    if (said) return stateError(said.code, said.message, false, true);
    return error ? clientError(error) : new DriverError("08006", "the server closed the connection", "reconnect");
  }
}

function isFatal(refusal: ServerRefusal): boolean {
  return refusal.severity === "FATAL" || refusal.severity === "PANIC";
}

class FastStatement implements Statement {
  readonly spec: StatementSpec;
  readonly #message: ExecuteMessage;
  readonly #types: readonly number[];
  readonly #connection: PostgresFastConnection;

  constructor(spec: StatementSpec, name: string, types: readonly number[], connection: PostgresFastConnection) {
    this.spec = spec;
    this.#message = new ExecuteMessage(name, spec);
    this.#types = types;
    this.#connection = connection;
  }

  setInt(index: number, value: number): void {
    this.#message.setInt(index, value);
  }

  bytes(index: number): Uint8Array {
    return this.#message.place(index);
  }

  set(index: number, value: ParamValue | null): void {
    this.#message.set(index, value);
  }

  execute(): void {
    this.#connection.run(this.#message.bytes, this.#types);
  }
}
