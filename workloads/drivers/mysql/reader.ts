/**
 * Walks a MySQL server's answers by packet length: rows are counted, nothing is decoded or copied on the way. Bytes may
 * come split anywhere. Formats: MariaDB's "Client/Server Protocol" and the MySQL internals manual, "Command Phase";
 * both ways of ending rows (EOF packets, and OK packets under CLIENT_DEPRECATE_EOF).
 */
import type { AnswerFormat, AnswerSink } from "./answer.ts";
import { lengthEncoded, parseError, word } from "./bytes.ts";

type State =
  | "idle"
  | "first"
  | "columns"
  | "columns-end"
  | "rows"
  | "prepare-first"
  | "parameters"
  | "parameters-end"
  | "fields"
  | "fields-end";

const OK = 0x00;
const LOCAL_INFILE = 0xfb;
const END = 0xfe;
const ERROR = 0xff;
const LARGEST = 0xff_ffff;
const MORE_RESULTS = 0x0008;
/** An ERR, OK or header packet is small; more than this in one means that the stream is out of step. */
const MAX_CONTROL = 1 << 20;

export class AnswerReader {
  readonly #sink: AnswerSink;
  readonly #deprecateEof: boolean;
  readonly #cacheMetadata: boolean;
  #state: State = "idle";
  #sequence = 1;
  /** Definitions still to come in this group. */
  #left = 0;
  #rows = 0;
  /** Payload bytes of the current packet that are yet to be passed over. */
  #skip = 0;
  /** The payload goes on in the next packet (16 MiB rows). */
  #continued = false;
  /** The beginning of a packet whose rest has not come yet. */
  #held: Buffer | null = null;
  /** Prepare answers still to come, the current one included. */
  #prepares = 0;
  /** Answers still to come behind the current one. */
  #behind = 0;
  /** Bytes since `expectAnswers`: all of them, and those before the first byte that is walked. */
  #fed = 0;
  #base = 0;
  #preparedId = 0;
  #parameters = 0;
  #fields = 0;

  constructor(sink: AnswerSink, format: AnswerFormat) {
    this.#sink = sink;
    this.#deprecateEof = format.deprecateEof;
    this.#cacheMetadata = format.cacheMetadata;
  }

  get idle(): boolean {
    return this.#state === "idle";
  }

  /** Call before a COM_QUERY or COM_STMT_EXECUTE is sent. */
  expectAnswer(): void {
    this.#state = "first";
    this.#sequence = 1;
    this.#rows = 0;
  }

  /** Call before `count` of them are sent together. */
  expectAnswers(count: number): void {
    this.expectAnswer();
    this.#behind = count - 1;
    this.#fed = this.#base = 0;
  }

  /** Of several answers: where the last one that has ended ends, in bytes since `expectAnswers`. */
  position = 0;

  /** Call before `count` COM_STMT_PREPAREs are sent together: each is answered by one `prepared` or `refused`. */
  expectPrepares(count: number): void {
    this.#prepares = count;
    this.#state = "prepare-first";
    this.#sequence = 1;
  }

  /** @param end bytes of `chunk` that are filled; the chunk may be reused after the call */
  feed(chunk: Uint8Array, end: number): void {
    let at = 0;
    this.#base = this.#fed;
    this.#fed += end;
    if (this.#skip > 0) {
      at = Math.min(this.#skip, end);
      this.#skip -= at;
    }
    if (this.#held !== null && at < end) {
      const joined = Buffer.concat([this.#held, chunk.subarray(at, end)]);
      this.#base += at - this.#held.length;
      this.#held = null;
      this.#walk(joined, 0, joined.length);
    } else {
      this.#walk(chunk, at, end);
    }
  }

  #walk(b: Uint8Array, from: number, end: number): void {
    let at = from;
    while (at < end) {
      if (end - at < 4) return this.#hold(b, at, end);
      const length = (b[at] as number) | ((b[at + 1] as number) << 8) | ((b[at + 2] as number) << 16);
      if (length > 0 && end - at === 4) return this.#hold(b, at, end);
      if (b[at + 3] !== this.#sequence)
        return void this.#garbled(`packet ${String(b[at + 3])} where ${this.#sequence} was due`);
      const payload = at + 4;
      const next = payload + length;
      const sequence = this.#sequence;
      this.#sequence = (sequence + 1) & 0xff;
      if (this.#passes(b, payload, length)) {
        this.#continued = length === LARGEST;
        if (next > end) {
          this.#skip = next - end;
          return;
        }
      } else if (length === 0 || length > MAX_CONTROL) {
        return void this.#garbled(`a control packet of ${length} bytes`);
      } else if (next > end) {
        this.#sequence = sequence;
        return this.#hold(b, at, end);
      } else if (this.#control(b, payload, length, next === end)) {
        return;
      }
      at = next;
    }
  }

  /** Counts rows and definitions and says true for them and for continuations: their content doesn't matter. */
  #passes(b: Uint8Array, payload: number, length: number): boolean {
    if (this.#continued) return true;
    const first = length === 0 ? OK : b[payload];
    switch (this.#state) {
      case "rows":
        if (first === ERROR || (first === END && (this.#deprecateEof ? length < LARGEST : length < 9))) return false;
        this.#rows++;
        return true;
      case "columns":
        if (first === ERROR) return false;
        if (--this.#left === 0) this.#state = this.#deprecateEof ? "rows" : "columns-end";
        return true;
      case "parameters":
      case "fields":
        if (first === ERROR) return false;
        if (--this.#left > 0) return true;
        if (!this.#deprecateEof) this.#state = this.#state === "parameters" ? "parameters-end" : "fields-end";
        else this.#groupEnded(this.#state);
        return true;
      default:
        return false;
    }
  }

  /** Handles a packet that is whole. True when the walk has to stop: the answer has ended or made no sense. */
  #control(b: Uint8Array, payload: number, length: number, last: boolean): boolean {
    const first = b[payload] as number;
    const state = this.#state;
    if (state === "idle") return this.#unasked(b, payload, length);
    if (first === ERROR) return this.#refused(b, payload, length, last);
    switch (state) {
      case "first":
        if (first === OK) return this.#ok(b, payload + 1, payload + length, last);
        if (first === LOCAL_INFILE) return this.#garbled("the server asks for a local file");
        return this.#resultStarted(b, payload);
      case "columns-end":
        if (first !== END) return this.#garbled("no EOF after the columns");
        this.#state = "rows";
        return false;
      case "rows":
        return this.#deprecateEof
          ? this.#ok(b, payload + 1, payload + length, last)
          : this.#resultEnded(word(b, payload + 3), 0, payload + length, last);
      case "prepare-first":
        if (first !== OK || length < 12) return this.#garbled("no answer to a prepare");
        this.#prepareStarted(b, payload);
        return false;
      case "parameters-end":
      case "fields-end":
        if (first !== END) return this.#garbled("no EOF after the definitions");
        this.#groupEnded(state === "parameters-end" ? "parameters" : "fields");
        return false;
      default:
        return this.#garbled(`a control packet among the ${state}`);
    }
  }

  #resultStarted(b: Uint8Array, payload: number): boolean {
    const { value: columns, next } = lengthEncoded(b, payload);
    if (columns === 0) return this.#garbled("a result without columns");
    this.#left = columns;
    const known = this.#cacheMetadata && b[next] === 0;
    if (!known) this.#state = "columns";
    else this.#state = this.#deprecateEof ? "rows" : "columns-end";
    return false;
  }

  #prepareStarted(b: Uint8Array, payload: number): void {
    this.#preparedId = (word(b, payload + 1) | (word(b, payload + 3) << 16)) >>> 0;
    this.#fields = word(b, payload + 5);
    this.#parameters = word(b, payload + 7);
    this.#left = this.#parameters;
    if (this.#left > 0) this.#state = "parameters";
    else this.#groupEnded("parameters");
  }

  #groupEnded(group: "parameters" | "fields"): void {
    if (group === "parameters" && this.#fields > 0) {
      this.#left = this.#fields;
      this.#state = "fields";
      return;
    }
    this.#nextPrepare();
    this.#sink.prepared(this.#preparedId, this.#parameters);
  }

  #nextPrepare(): void {
    this.#prepares--;
    this.#state = this.#prepares > 0 ? "prepare-first" : "idle";
    // Each command's answer counts its packets from 1.
    this.#sequence = 1;
  }

  #ok(b: Uint8Array, at: number, next: number, last: boolean): boolean {
    const affected = lengthEncoded(b, at);
    const insertId = lengthEncoded(b, affected.next);
    return this.#resultEnded(word(b, insertId.next), affected.value, next, last);
  }

  #resultEnded(flags: number, affected: number, next: number, last: boolean): boolean {
    if ((flags & MORE_RESULTS) !== 0) {
      this.#state = "first";
      return false;
    }
    const rows = this.#rows;
    if (this.#another(next)) {
      this.#sink.answered(rows, affected);
      return false;
    }
    if (!last) return this.#garbled("bytes after the end of an answer");
    this.#sink.answered(rows, affected);
    return true;
  }

  /** An answer has ended: is one behind it still to come? @param next where the walk goes on */
  #another(next: number): boolean {
    this.position = this.#base + next;
    if (this.#behind === 0) {
      this.#state = "idle";
      return false;
    }
    this.#behind--;
    this.expectAnswer();
    return true;
  }

  #refused(b: Uint8Array, payload: number, length: number, last: boolean): boolean {
    const { code, sqlState, message } = parseError(b, payload, length);
    const preparing = this.#state === "prepare-first" || this.#prepares > 0;
    if (preparing) this.#nextPrepare();
    else this.#another(payload + length);
    if (this.#state === "idle" && !last) return this.#garbled("bytes after an error");
    this.#sink.refused(code, sqlState, message);
    return this.#state === "idle";
  }

  /** A server that shuts down or times out a session says so before it hangs up. */
  #unasked(b: Uint8Array, payload: number, length: number): boolean {
    if (b[payload] !== ERROR) return this.#garbled("bytes that nobody asked for");
    const { code, message } = parseError(b, payload, length);
    return this.#garbled(`${code}: ${message}`);
  }

  #hold(b: Uint8Array, at: number, end: number): void {
    this.#held = Buffer.from(b.subarray(at, end));
  }

  #garbled(reason: string): true {
    this.#state = "idle";
    this.#prepares = this.#behind = 0;
    this.#held = null;
    this.#sink.garbled(reason);
    return true;
  }
}
