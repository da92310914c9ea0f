/**
 * Walks a PostgreSQL server's answers by message length: rows are counted, nothing is decoded or copied on the way.
 * Bytes may come split anywhere. An answer ends with ReadyForQuery, whatever came before it.
 */
import { affectedRows, parseError } from "./messages.ts";

export interface ServerRefusal {
  severity: string;
  code: string;
  message: string;
}

export interface AnswerSink {
  answered(rows: number, affected: number): void;
  /** @param inTransaction the server holds a transaction open, sound or failed */
  refused(error: ServerRefusal, inTransaction: boolean): void;
  /** The bytes make no sense: the connection has to be dropped. */
  garbled(reason: string): void;
}

const DATA_ROW = 0x44;
const COMMAND_COMPLETE = 0x43;
const READY = 0x5a;
const ERROR = 0x45;
const PARAMETER_DESCRIPTION = 0x74;
/** ParseComplete, BindComplete, CloseComplete, NoData, RowDescription, EmptyQueryResponse, PortalSuspended. */
const PASSED = new Set([0x31, 0x32, 0x33, 0x6e, 0x54, 0x49, 0x73]);
/** NoticeResponse, ParameterStatus, NotificationResponse: they may come at any time. */
const AT_ANY_TIME = new Set([0x4e, 0x53, 0x41]);
const IDLE = 0x49;
/** Only rows are larger; more than this in another message means that the stream is out of step. */
const MAX_CONTROL = 1 << 20;

export class PostgresReader {
  readonly #sink: AnswerSink;
  #busy = false;
  #rows = 0;
  #affected = 0;
  /** Statements of a group behind the one whose answer comes. */
  #behind = 0;
  /** Bytes since `expectGroup`: all of them, and those before the first byte that is walked. */
  #fed = 0;
  #base = 0;
  #skip = 0;
  #held: Buffer | null = null;
  #error: ServerRefusal | null = null;
  #parameters: number[] = [];
  #dead = false;

  constructor(sink: AnswerSink) {
    this.#sink = sink;
  }

  /** Call before something is sent. */
  expect(): void {
    this.#busy = true;
    this.#rows = 0;
    this.#affected = 0;
    this.#parameters = [];
  }

  /** Call before `count` statements are sent together, with one Sync behind them. */
  expectGroup(count: number): void {
    this.expect();
    this.#behind = count - 1;
    this.#fed = this.#base = 0;
  }

  /** Of a group: where the last answer that has ended ends, in bytes since `expectGroup`. */
  position = 0;

  /** Parameter counts of the statements that the last answer described, in order. */
  get parameters(): readonly number[] {
    return this.#parameters;
  }

  /** An error that has not been handed on: a server that ends the session says why, and no ReadyForQuery follows. */
  get pendingError(): ServerRefusal | null {
    return this.#error;
  }

  /** @param end bytes of `chunk` that are filled; the chunk may be reused after the call */
  feed(chunk: Uint8Array, end: number): void {
    let at = 0;
    this.#base = this.#fed;
    this.#fed += end;
    if (this.#skip > 0) {
      at = Math.min(this.#skip, end);
      this.#skip -= at;
      if (at === end) return;
    }
    if (this.#held === null) return this.#walk(chunk, at, end);
    const joined = Buffer.concat([this.#held, chunk.subarray(at, end)]);
    this.#base += at - this.#held.length;
    this.#held = null;
    this.#walk(joined, 0, joined.length);
  }

  #walk(b: Uint8Array, from: number, end: number): void {
    let at = from;
    while (end - at >= 5) {
      if (this.#dead) return;
      const type = b[at] as number;
      const length =
        ((b[at + 1] as number) << 24) |
        ((b[at + 2] as number) << 16) |
        ((b[at + 3] as number) << 8) |
        (b[at + 4] as number);
      if (length < 4) return this.#garbled(`a message of length ${length}`);
      const next = at + 1 + length;
      if (type === DATA_ROW) {
        if (!this.#busy) return this.#garbled("a row that nobody asked for");
        this.#rows++;
        if (next > end) {
          this.#skip = next - end;
          return;
        }
      } else {
        if (next > end) {
          if (length > MAX_CONTROL) return this.#garbled(`a message of type ${type} and ${length} bytes`);
          break;
        }
        this.#control(type, b, at + 5, next);
      }
      at = next;
    }
    if (at < end && !this.#dead) this.#held = Buffer.from(b.subarray(at, end));
  }

  /** @param from @param end the message's body, whole */
  #control(type: number, b: Uint8Array, from: number, end: number): void {
    if (type === ERROR) {
      this.#error ??= parseError(b, from, end);
      return;
    }
    if (AT_ANY_TIME.has(type)) return;
    if (!this.#busy) return this.#garbled(`a message of type ${type} that nobody asked for`);
    if (type === COMMAND_COMPLETE) {
      this.#affected = affectedRows(b, from, end);
      if (this.#behind > 0) this.#oneOfGroup(end);
    } else if (type === READY) this.#ready(b[from] as number, end);
    else if (type === PARAMETER_DESCRIPTION)
      this.#parameters.push(((b[from] as number) << 8) | (b[from + 1] as number));
    else if (!PASSED.has(type)) this.#garbled(`a message of type ${type}`);
  }

  /** The last one's answer goes on to ReadyForQuery: what ends with Sync may still fail. */
  #oneOfGroup(end: number): void {
    const [rows, affected] = [this.#rows, this.#affected];
    this.#behind--;
    this.#rows = this.#affected = 0;
    this.position = this.#base + end;
    this.#sink.answered(rows, affected);
  }

  #ready(transaction: number, end: number): void {
    this.#busy = false;
    this.#behind = 0;
    this.position = this.#base + end;
    const error = this.#error;
    if (error === null) return this.#sink.answered(this.#rows, this.#affected);
    this.#error = null;
    this.#sink.refused(error, transaction !== IDLE);
  }

  #garbled(reason: string): void {
    this.#dead = true;
    this.#held = null;
    this.#sink.garbled(reason);
  }
}
