/** The commands that the fast path sends, as whole packets (sequence number 0; none of them reaches 16 MiB). */
import type { ParamType, StatementSpec } from "./driver.ts";

const COM_QUIT = 0x01;
const COM_QUERY = 0x03;
const COM_STMT_PREPARE = 0x16;
const COM_STMT_EXECUTE = 0x17;
const TYPE_LONG = 3;
const TYPE_STRING = 254;
const LARGEST = 0xff_ffff;

export const QUIT = Uint8Array.of(1, 0, 0, 0, COM_QUIT);

function command(code: number, body: string | Uint8Array): Buffer {
  const length = 1 + (typeof body === "string" ? Buffer.byteLength(body) : body.length);
  if (length >= LARGEST) throw new RangeError(`a statement of ${length - 1} bytes: 16 MiB is the most that is sent`);
  const packet = Buffer.allocUnsafe(4 + length);
  packet.writeUIntLE(length, 0, 3);
  packet[3] = 0;
  packet[4] = code;
  if (typeof body === "string") packet.write(body, 5);
  else packet.set(body, 5);
  return packet;
}

export function queryPacket(sql: string | Uint8Array): Buffer {
  return command(COM_QUERY, sql);
}

export function preparePacket(sql: string): Buffer {
  return command(COM_STMT_PREPARE, sql);
}

function size(param: ParamType): number {
  if (param.type === "int") return 4;
  return lengthBytes(param.length) + param.length;
}

/** Bytes of the length in front of a string; up to 65,535 characters. */
function lengthBytes(length: number): number {
  return length < 251 ? 1 : 3;
}

/**
 * A COM_STMT_EXECUTE packet that is built once and filled in place: every parameter has a fixed length. Parameter types
 * go out with the first execution only, as the C client library does, or with each one where `alwaysTypes` (a proxy may
 * send the statement to another server each time).
 */
export class ExecutePacket {
  readonly #packet: Buffer;
  readonly #first: Buffer | null;
  readonly #offsets: number[] = [];
  readonly #params: readonly ParamType[];
  /** Views of the text parameters, made when first asked for. */
  readonly #views: (Uint8Array | undefined)[] = [];
  /** Bytes in front of the values in #packet and in #first. */
  readonly #head: number;
  readonly #headFirst: number;
  #sent = false;

  constructor(id: number, spec: StatementSpec, alwaysTypes: boolean) {
    this.#params = spec.params;
    const values = spec.params.reduce((sum, param) => sum + size(param), 0);
    const plain = head(id, spec.params, false);
    const typed = head(id, spec.params, true);
    const main = alwaysTypes ? typed : plain;
    this.#head = main.length;
    this.#headFirst = typed.length;
    this.#packet = packet(main, values);
    this.#first = alwaysTypes ? null : packet(typed, values);
    let at = this.#head;
    for (const param of spec.params) {
      if (param.type === "text") {
        if (param.length < 251) this.#packet[at] = param.length;
        else {
          this.#packet[at] = 0xfc;
          this.#packet.writeUInt16LE(param.length, at + 1);
        }
        at += lengthBytes(param.length);
        this.#offsets.push(at);
        at += param.length;
      } else {
        this.#offsets.push(at);
        at += 4;
      }
    }
  }

  setInt(index: number, value: number): void {
    const at = this.#offsets[index] as number;
    const b = this.#packet;
    b[at] = value;
    b[at + 1] = value >> 8;
    b[at + 2] = value >> 16;
    b[at + 3] = value >> 24;
  }

  bytes(index: number): Uint8Array {
    return (this.#views[index] ??= this.#view(index));
  }

  #view(index: number): Uint8Array {
    const param = this.#params[index];
    const at = this.#offsets[index];
    if (param?.type !== "text" || at === undefined) throw new RangeError(`parameter ${index} is no text parameter`);
    return this.#packet.subarray(at, at + param.length);
  }

  /** What to write now. The buffer may be filled anew once the answer has come. */
  next(): Buffer {
    if (this.#sent || this.#first === null) return this.#packet;
    this.#sent = true;
    this.#packet.copy(this.#first, this.#headFirst, this.#head);
    return this.#first;
  }
}

function head(id: number, params: readonly ParamType[], types: boolean): Buffer {
  const nulls = params.length === 0 ? 0 : (params.length + 7) >> 3;
  const head = Buffer.alloc(4 + 10 + nulls + (params.length === 0 ? 0 : 1) + (types ? 2 * params.length : 0));
  head[4] = COM_STMT_EXECUTE;
  head.writeUInt32LE(id, 5);
  // flags 0: no cursor; iteration count 1
  head.writeUInt32LE(1, 10);
  if (params.length === 0) return head;
  let at = 14 + nulls;
  head[at++] = types ? 1 : 0;
  if (types) {
    for (const param of params) {
      head[at] = param.type === "int" ? TYPE_LONG : TYPE_STRING;
      at += 2;
    }
  }
  return head;
}

function packet(head: Buffer, values: number): Buffer {
  const whole = Buffer.alloc(head.length + values);
  head.copy(whole);
  whole.writeUIntLE(whole.length - 4, 0, 3);
  return whole;
}
