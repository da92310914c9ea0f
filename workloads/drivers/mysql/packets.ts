/** The commands that the fast path sends, as whole packets (sequence number 0; none of them reaches 16 MiB). */
import type { ParamType, StatementSpec } from "../driver.ts";
import type { ParamValue } from "../params.ts";
import { decimalLength, initial, moment, paddedDecimal } from "../params.ts";

const COM_QUIT = 0x01;
const COM_QUERY = 0x03;
const COM_STMT_PREPARE = 0x16;
const COM_STMT_EXECUTE = 0x17;
const TYPES: Record<ParamType["type"], number> = {
  int: 3,
  bigint: 8,
  date: 10,
  timestamp: 12,
  decimal: 246,
  varchar: 253,
  text: 254,
};
const LARGEST = 0xff_ffff;
/** Where the NULL bits of COM_STMT_EXECUTE begin: behind header, command, statement, flags and iterations. */
const NULL_BITS = 14;

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

/** A string with its length in front. */
function lengthEncodedText(text: string): Buffer {
  const bytes = Buffer.from(text, "utf8");
  const { length } = bytes;
  if (length < 251) return Buffer.concat([Uint8Array.of(length), bytes]);
  const wide = Buffer.alloc(length < 65_536 ? 3 : 4);
  wide[0] = length < 65_536 ? 0xfc : 0xfd;
  wide.writeUIntLE(length, 1, wide.length - 1);
  return Buffer.concat([wide, bytes]);
}

/** A parameter as the packet has it, its length in front where the type has one. Not for text. */
export function encodeParam(param: ParamType, value: ParamValue): Buffer {
  switch (param.type) {
    case "int": {
      const b = Buffer.alloc(4);
      b.writeInt32LE(Number(value));
      return b;
    }
    case "bigint": {
      const b = Buffer.alloc(8);
      b.writeBigInt64LE(BigInt(value));
      return b;
    }
    case "decimal":
      return lengthEncodedText(paddedDecimal(param, value));
    case "date":
    case "timestamp": {
      const { year, month, day, hour, minute, second, micros } = moment(value);
      const b = Buffer.from([0, year & 255, year >> 8, month, day, hour, minute, second, 0, 0, 0, 0]);
      b.writeUInt32LE(micros, 8);
      b[0] = param.type === "date" ? 4 : 11;
      return param.type === "date" ? b.subarray(0, 5) : b;
    }
    case "varchar":
      return lengthEncodedText(String(value));
    default:
      throw new RangeError("a text parameter is written in place");
  }
}

function size(param: ParamType): number {
  switch (param.type) {
    case "int":
      return 4;
    case "bigint":
      return 8;
    case "decimal":
      return 1 + decimalLength(param);
    case "date":
      return 5;
    case "timestamp":
      return 12;
    case "varchar":
      return 0;
    default:
      return lengthBytes(param.length) + param.length;
  }
}

/** Bytes of the length in front of a string; up to 65,535 characters. */
function lengthBytes(length: number): number {
  return length < 251 ? 1 : 3;
}

/**
 * A COM_STMT_EXECUTE packet that is built once and filled in place, as long as every parameter has a fixed length;
 * varchar parameters follow the others' bytes at each execution. Parameter types
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
  /** Of varchar parameters, by index; null: there are none. */
  #texts: Buffer[] | null = null;
  /** Parameters that are NULL: they have no bytes. Null: none is. */
  #nulls: Set<number> | null = null;
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
        at += size(param);
        const value = initial(param);
        if (value !== null) this.set(this.#offsets.length - 1, value);
      }
    }
  }

  setInt(index: number, value: number): void {
    if (this.#nulls !== null) this.#notNull(index);
    const at = this.#offsets[index] as number;
    const b = this.#packet;
    b[at] = value;
    b[at + 1] = value >> 8;
    b[at + 2] = value >> 16;
    b[at + 3] = value >> 24;
  }

  bytes(index: number): Uint8Array {
    if (this.#nulls !== null) this.#notNull(index);
    return (this.#views[index] ??= this.#view(index));
  }

  set(index: number, value: ParamValue | null): void {
    if (value === null) {
      (this.#nulls ??= new Set()).add(index);
      return;
    }
    if (this.#nulls !== null) this.#notNull(index);
    const param = this.#params[index] as ParamType;
    const bytes = encodeParam(param, value);
    if (param.type === "varchar") (this.#texts ??= [])[index] = bytes;
    else this.#packet.set(bytes, this.#offsets[index] as number);
  }

  #notNull(index: number): void {
    this.#nulls?.delete(index);
    if (this.#nulls?.size === 0) this.#nulls = null;
  }

  #view(index: number): Uint8Array {
    const param = this.#params[index];
    const at = this.#offsets[index];
    if (param?.type !== "text" || at === undefined) throw new RangeError(`parameter ${index} is no text parameter`);
    return this.#packet.subarray(at, at + param.length);
  }

  /** What to write now. The buffer may be filled anew once the answer has come. */
  next(): Buffer {
    const whole = this.#texts === null && this.#nulls === null;
    if (this.#sent || this.#first === null) return whole ? this.#packet : this.#spliced(this.#packet);
    this.#sent = true;
    this.#packet.copy(this.#first, this.#headFirst, this.#head);
    return whole ? this.#first : this.#spliced(this.#first);
  }

  /** With the varchar parameters at their places, and without the bytes of those that are NULL. */
  #spliced(packet: Buffer): Buffer {
    const shift = packet === this.#first ? this.#headFirst - this.#head : 0;
    const parts: Uint8Array[] = [];
    let from = 0;
    this.#params.forEach((param, index) => {
      const isNull = this.#nulls?.has(index) === true;
      const text = this.#texts?.[index];
      if (!isNull && text === undefined) return;
      const head = param.type === "text" ? lengthBytes(param.length) : 0;
      const at = (this.#offsets[index] as number) + shift - head;
      parts.push(packet.subarray(from, at));
      if (!isNull && text !== undefined) parts.push(text);
      from = isNull ? at + size(param) : at;
    });
    const whole = Buffer.concat([...parts, packet.subarray(from)]);
    for (const index of this.#nulls ?? []) whole[NULL_BITS + (index >> 3)]! |= 1 << (index & 7);
    whole.writeUIntLE(whole.length - 4, 0, 3);
    return whole;
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
      head[at] = TYPES[param.type];
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
