/** The fast path: packets written by hand, answers walked by their lengths, one statement at a time. */
import type { Endpoint } from "../contract.ts";
import { DriverError } from "./driver.ts";
import type { Connection, ConnectOptions, Listener, Statement, StatementSpec, Value } from "./driver.ts";
import { decodeAnswer, decodePrepares } from "./mysql-decode.ts";
import type { ColumnType } from "./mysql-decode.ts";
import { clientError, serverError } from "./mysql-errors.ts";
import { ExecutePacket, preparePacket, queryPacket, QUIT } from "./mysql-packets.ts";
import { AnswerReader } from "./mysql-reader.ts";
import type { AnswerFormat, AnswerSink } from "./mysql-reader.ts";
import type { OwnSocket, SocketUser } from "./mysql-socket.ts";
import { TextStatement } from "./text-statement.ts";

/** Prepares that are sent together; a proxy gets them one by one, because it passes each on to several servers. */
const PREPARES_AT_ONCE = 32;

export class MysqlFastConnection implements Connection, AnswerSink, SocketUser {
  readonly path = "fast";
  readonly endpoint: Endpoint;
  readonly serverVersion: string;
  listener: Listener = NOBODY;
  readonly #socket: OwnSocket;
  readonly #reader: AnswerReader;
  readonly #format: AnswerFormat;
  readonly #emulate: boolean;
  readonly #alwaysTypes: boolean;
  #preparing: Preparing | null = null;
  #ended = false;
  #closing: (() => void) | null = null;
  #capture: Buffer[] | null = null;
  #captured: { bytes: Buffer; statement: FastStatement | null } | null = null;
  /** Of the statement in hand; null for a text query. */
  #running: FastStatement | null = null;

  constructor(endpoint: Endpoint, socket: OwnSocket, serverVersion: string, format: AnswerFormat, options: ConnectOptions) {
    this.endpoint = endpoint;
    this.serverVersion = serverVersion;
    this.#socket = socket;
    this.#format = format;
    this.#reader = new AnswerReader(this, format);
    this.#emulate = options.preparedStatements === "disable";
    this.#alwaysTypes = endpoint.role === "proxy";
    socket.takeOver(this);
  }

  get bytesRead(): number {
    return this.#socket.bytesRead;
  }

  get bytesWritten(): number {
    return this.#socket.bytesWritten;
  }

  async prepare(specs: readonly StatementSpec[]): Promise<Statement[]> {
    if (this.#emulate) return specs.map((spec) => new TextStatement(spec, (sql) => this.query(sql)));
    const statements: Statement[] = [];
    const batch = this.#alwaysTypes ? 1 : PREPARES_AT_ONCE;
    for (let from = 0; from < specs.length; from += batch) {
      const some = specs.slice(from, from + batch);
      this.#capture = [];
      const ids = await this.#prepareSome(some);
      const types = decodePrepares(Buffer.concat(this.#capture), this.#format);
      this.#capture = null;
      some.forEach((spec, i) => statements.push(new FastStatement(spec, new ExecutePacket(ids[i] as number, spec, this.#alwaysTypes), types[i] ?? [], this)));
    }
    return statements;
  }

  #prepareSome(specs: readonly StatementSpec[]): Promise<number[]> {
    return new Promise((resolve, reject) => {
      if (this.#ended) return reject(new DriverError("2006", "the connection is closed", "reconnect"));
      this.#preparing = { specs, ids: [], failure: null, left: specs.length, resolve, reject };
      this.#reader.expectPrepares(specs.length);
      this.#socket.write(Buffer.concat(specs.map((spec) => preparePacket(spec.sql))));
    });
  }

  /** @internal sent by a statement of this connection */
  run(statement: FastStatement): void {
    this.#running = statement;
    this.#reader.expectAnswer();
    this.#socket.send(statement.packet.next());
  }

  query(sql: string | Uint8Array): void {
    this.#running = null;
    this.#reader.expectAnswer();
    this.#socket.send(queryPacket(sql));
  }

  captureNext(): void {
    this.#capture = [];
  }

  takeRows(): Value[][] | null {
    const captured = this.#captured;
    this.#captured = null;
    if (captured === null) return null;
    const { bytes, statement } = captured;
    return decodeAnswer(bytes, statement !== null, this.#format, statement?.columns);
  }

  received(bytes: Uint8Array, length: number): void {
    if (this.#capture !== null) this.#capture.push(Buffer.from(bytes.subarray(0, length)));
    this.#reader.feed(bytes, length);
  }

  answered(rows: number, affected: number): void {
    if (this.#capture !== null) {
      this.#captured = { bytes: Buffer.concat(this.#capture), statement: this.#running };
      this.#capture = null;
    }
    this.listener.done(rows, affected);
  }

  refused(code: number, _sqlState: string, message: string): void {
    const error = serverError(code, message);
    const preparing = this.#preparing;
    if (preparing === null) {
      this.#capture = null;
      return this.listener.failed(error);
    }
    preparing.failure ??= error;
    this.#prepareAnswered(preparing);
  }

  prepared(id: number, parameters: number): void {
    const preparing = this.#preparing as Preparing;
    const spec = preparing.specs[preparing.ids.length] as StatementSpec;
    if (parameters !== spec.params.length) preparing.failure ??= new DriverError("parameters", `the server sees ${parameters} parameters in "${spec.sql}", ${spec.params.length} are given`, "retry");
    preparing.ids.push(id);
    this.#prepareAnswered(preparing);
  }

  #prepareAnswered(preparing: Preparing): void {
    if (--preparing.left > 0) return;
    this.#preparing = null;
    if (preparing.failure) preparing.reject(preparing.failure);
    else preparing.resolve(preparing.ids);
  }

  garbled(reason: string): void {
    this.#socket.destroy();
    this.#lose(/^\d+: /.test(reason) ? serverError(Number.parseInt(reason, 10), reason) : new DriverError("protocol", `unreadable answer: ${reason}`, "reconnect"));
  }

  closed(error: NodeJS.ErrnoException | null): void {
    if (this.#closing) return this.#closing();
    this.#lose(error ? clientError(error) : new DriverError("2013", "the server closed the connection", "reconnect"));
  }

  #lose(error: DriverError): void {
    if (this.#ended) return;
    this.#ended = true;
    const preparing = this.#preparing;
    this.#preparing = null;
    if (preparing) preparing.reject(error);
    else this.listener.lost(error);
  }

  close(): Promise<void> {
    if (this.#ended || this.#socket.destroyed) return Promise.resolve();
    this.#ended = true;
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.destroy(), 1000);
      this.#closing = () => {
        clearTimeout(timer);
        resolve();
      };
      this.#socket.end(QUIT);
    });
  }

  destroy(): void {
    this.#ended = true;
    this.#socket.destroy();
  }
}

interface Preparing {
  specs: readonly StatementSpec[];
  ids: number[];
  failure: DriverError | null;
  left: number;
  resolve(ids: number[]): void;
  reject(error: DriverError): void;
}

const NOBODY: Listener = { done() {}, failed() {}, lost() {} };

class FastStatement implements Statement {
  readonly spec: StatementSpec;
  readonly packet: ExecutePacket;
  /** From the prepare answer, for answers that leave the column definitions out. */
  readonly columns: readonly ColumnType[];
  readonly #connection: MysqlFastConnection;

  constructor(spec: StatementSpec, packet: ExecutePacket, columns: readonly ColumnType[], connection: MysqlFastConnection) {
    this.spec = spec;
    this.packet = packet;
    this.columns = columns;
    this.#connection = connection;
  }

  setInt(index: number, value: number): void {
    this.packet.setInt(index, value);
  }

  bytes(index: number): Uint8Array {
    return this.packet.bytes(index);
  }

  execute(): void {
    this.#connection.run(this);
  }
}
