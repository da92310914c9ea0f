/** The fast path: packets written by hand, answers walked by their lengths, one statement at a time. */
import type { Endpoint } from "../../contract.ts";
import type { ConnectOptions, Statement, StatementSpec, Value } from "../driver.ts";
import { DriverError } from "../driver.ts";
import { FastConnection } from "../fast-connection.ts";
import type { OwnSocket } from "../own-socket.ts";
import type { ParamValue } from "../params.ts";
import type { AnswerFormat, AnswerSink } from "./answer.ts";
import type { ColumnType } from "./decode.ts";
import { decodeAnswer, decodePrepares } from "./decode.ts";
import { clientError, serverError, UNPREPARABLE } from "./errors.ts";
import { ExecutePacket, preparePacket, QUIT, queryPacket } from "./packets.ts";
import { AnswerReader } from "./reader.ts";

/** Prepares that are sent together; a proxy gets them one by one, because it passes each on to several servers. */
const PREPARES_AT_ONCE = 32;
/** In place of the identifier of a statement that the server can't prepare; the servers' own start at 1. */
const UNPREPARED = 0;

export class MysqlFastConnection extends FastConnection<Preparing, FastStatement | null> implements AnswerSink {
  readonly pipelining = "goes-on";
  protected readonly farewell = QUIT;
  protected override readonly backslash = true;
  readonly #reader: AnswerReader;
  readonly #format: AnswerFormat;
  readonly #alwaysTypes: boolean;
  #captured: { bytes: Buffer; statement: FastStatement | null } | null = null;
  /** Of the statement in hand; null for a text query. */
  #running: FastStatement | null = null;

  constructor(
    endpoint: Endpoint,
    socket: OwnSocket,
    serverVersion: string,
    format: AnswerFormat,
    options: ConnectOptions,
  ) {
    super(endpoint, socket, serverVersion, options);
    this.#format = format;
    this.#reader = new AnswerReader(this, format);
    this.#alwaysTypes = endpoint.role === "proxy";
  }

  protected async prepareOnServer(specs: readonly StatementSpec[]): Promise<Statement[]> {
    const statements: Statement[] = [];
    const batch = this.#alwaysTypes ? 1 : PREPARES_AT_ONCE;
    for (let from = 0; from < specs.length; from += batch) {
      const some = specs.slice(from, from + batch);
      this.capture = [];
      const ids = await this.#prepareSome(some);
      const types = decodePrepares(Buffer.concat(this.capture), this.#format);
      this.capture = null;
      some.forEach((spec, i) => {
        const id = ids[i] as number;
        statements.push(
          id === UNPREPARED
            ? this.textStatement(spec)
            : new FastStatement(spec, new ExecutePacket(id, spec, this.#alwaysTypes), types[i] ?? [], this),
        );
      });
    }
    return statements;
  }

  #prepareSome(specs: readonly StatementSpec[]): Promise<number[]> {
    return new Promise((resolve, reject) => {
      if (this.ended) return reject(new DriverError("2006", "the connection is closed", "reconnect"));
      this.preparing = { specs, ids: [], failure: null, left: specs.length, resolve, reject };
      this.#reader.expectPrepares(specs.length);
      this.socket.write(Buffer.concat(specs.map((spec) => preparePacket(spec.sql))));
    });
  }

  protected override textStatement(spec: StatementSpec): Statement {
    return spec.params.length === 0 ? new FixedText(spec, this) : super.textStatement(spec);
  }

  /** @internal sent by a statement of this connection */
  runText(packet: Uint8Array): void {
    if (this.collecting) return this.add(packet, null);
    this.#running = null;
    this.#reader.expectAnswer();
    this.socket.send(packet);
  }

  /** @internal sent by a statement of this connection */
  run(statement: FastStatement): void {
    if (this.collecting) return this.add(statement.packet.next(), statement);
    this.#running = statement;
    this.#reader.expectAnswer();
    this.socket.send(statement.packet.next());
  }

  query(sql: string | Uint8Array): void {
    this.runText(queryPacket(sql));
  }

  flush(): void {
    this.collecting = false;
    if (this.group === null || this.group.size === 0) return this.endGroup();
    this.#reader.expectAnswers(this.group.size);
    this.socket.send(this.group.bytes());
  }

  takeRows(): Value[][] | null {
    const captured = this.#captured;
    this.#captured = null;
    if (captured === null) return null;
    const { bytes, statement } = captured;
    return decodeAnswer(bytes, statement !== null, this.#format, statement?.columns);
  }

  protected feed(bytes: Uint8Array, length: number): void {
    this.#reader.feed(bytes, length);
  }

  answered(rows: number, affected: number): void {
    if (this.group !== null) {
      if (this.ended) return;
      this.#captured = this.group.answered(this.capture, this.#reader.position);
      if (this.group.over) this.endGroup();
    } else if (this.capture !== null) {
      this.#captured = { bytes: Buffer.concat(this.capture), statement: this.#running };
      this.capture = null;
    }
    this.listener.done(rows, affected);
  }

  refused(code: number, _sqlState: string, message: string): void {
    const error = serverError(code, message);
    const preparing = this.preparing;
    if (preparing === null) {
      if (this.group === null) this.capture = null;
      else {
        if (this.ended) return;
        this.group.answered(null, this.#reader.position);
        if (this.group.over) this.endGroup();
      }
      return this.listener.failed(error);
    }
    if (code === UNPREPARABLE) preparing.ids.push(UNPREPARED);
    else preparing.failure ??= error;
    this.#prepareAnswered(preparing);
  }

  prepared(id: number, parameters: number): void {
    const preparing = this.preparing as Preparing;
    const spec = preparing.specs[preparing.ids.length] as StatementSpec;
    if (parameters !== spec.params.length)
      preparing.failure ??= new DriverError(
        "parameters",
        `the server sees ${parameters} parameters in "${spec.sql}", ${spec.params.length} are given`,
        "retry",
      );
    preparing.ids.push(id);
    this.#prepareAnswered(preparing);
  }

  #prepareAnswered(preparing: Preparing): void {
    if (--preparing.left > 0) return;
    this.preparing = null;
    if (preparing.failure) preparing.reject(preparing.failure);
    else preparing.resolve(preparing.ids);
  }

  protected override garbledError(reason: string): DriverError {
    return /^\d+: /.test(reason) ? serverError(Number.parseInt(reason, 10), reason) : super.garbledError(reason);
  }

  protected closedError(error: NodeJS.ErrnoException | null): DriverError {
    return error ? clientError(error) : new DriverError("2013", "the server closed the connection", "reconnect");
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

/** A text without parameters: the packet is made once. */
class FixedText implements Statement {
  readonly spec: StatementSpec;
  readonly #packet: Uint8Array;
  readonly #connection: MysqlFastConnection;

  constructor(spec: StatementSpec, connection: MysqlFastConnection) {
    this.spec = spec;
    this.#packet = queryPacket(spec.sql);
    this.#connection = connection;
  }

  setInt(index: number): void {
    throw new RangeError(`"${this.spec.sql}" has no parameter ${index}`);
  }

  bytes(index: number): Uint8Array {
    throw new RangeError(`"${this.spec.sql}" has no parameter ${index}`);
  }

  set(index: number): void {
    throw new RangeError(`"${this.spec.sql}" has no parameter ${index}`);
  }

  execute(): void {
    this.#connection.runText(this.#packet);
  }
}

class FastStatement implements Statement {
  readonly spec: StatementSpec;
  readonly packet: ExecutePacket;
  /** From the prepare answer, for answers that leave the column definitions out. */
  readonly columns: readonly ColumnType[];
  readonly #connection: MysqlFastConnection;

  constructor(
    spec: StatementSpec,
    packet: ExecutePacket,
    columns: readonly ColumnType[],
    connection: MysqlFastConnection,
  ) {
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

  set(index: number, value: ParamValue | null): void {
    this.packet.set(index, value);
  }

  execute(): void {
    this.#connection.run(this);
  }
}
