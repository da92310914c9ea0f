/**
 * Messages of PostgreSQL's frontend/backend protocol 3.0 (PostgreSQL documentation, chapter "Frontend/Backend
 * Protocol"):
 * a type byte, then a big-endian length that counts itself but not the type.
 */
import type { ParamType, StatementSpec } from "../driver.ts";
import type { ParamValue } from "../params.ts";
import { decimalLength, initial, microseconds, moment, paddedDecimal } from "../params.ts";

/**
 * Type OIDs, said with Parse, so that servers whose INTEGER is 8 bytes wide take 4-byte parameters as well. 0: the
 * server's own idea.
 */
const OIDS: Record<ParamType["type"], number> = {
  int: 23,
  bigint: 20,
  date: 1082,
  timestamp: 1114,
  decimal: 1700,
  varchar: 0,
  text: 0,
};
const isBinary = ({ type }: ParamType): boolean => ["int", "bigint", "date", "timestamp"].includes(type);
export const SYNC = Buffer.from([0x53, 0, 0, 0, 4]);
export const TERMINATE = Buffer.from([0x58, 0, 0, 0, 4]);

export function queryMessage(sql: string | Uint8Array): Buffer {
  const text = typeof sql === "string" ? Buffer.from(sql, "utf8") : sql;
  const message = Buffer.allocUnsafe(text.length + 6);
  message[0] = 0x51;
  message.writeInt32BE(text.length + 5, 1);
  message.set(text, 5);
  message[text.length + 5] = 0;
  return message;
}

/** A text without parameters as part of a group, which a Query message can't be: it would end the group. */
export function groupedQuery(sql: string | Uint8Array): Buffer {
  const text = typeof sql === "string" ? Buffer.from(sql, "utf8") : sql;
  return Buffer.concat([
    message("P", zero(""), text, Buffer.alloc(3)),
    message("B", zero(""), zero(""), Buffer.alloc(6)),
    message("D", Buffer.from("P"), zero("")),
    message("E", zero(""), Buffer.alloc(4)),
  ]);
}

/** Parse and Describe for each statement, in order, under the names given, and one Sync. */
export function prepareMessages(specs: readonly StatementSpec[], names: readonly string[]): Buffer {
  const parts = specs.flatMap((spec, i) => {
    const name = names[i] as string;
    const types = Buffer.alloc(2 + 4 * spec.params.length);
    types.writeInt16BE(spec.params.length, 0);
    spec.params.forEach((param, p) => types.writeInt32BE(OIDS[param.type], 2 + 4 * p));
    return [message("P", zero(name), zero(numbered(spec.sql)), types), message("D", Buffer.from("S"), zero(name))];
  });
  return Buffer.concat([...parts, SYNC]);
}

/** `?` becomes `$1`, `$2`, ...; the workloads' statements have no `?` inside a literal. */
export function numbered(sql: string): string {
  let parameter = 0;
  return sql.replaceAll("?", () => `$${++parameter}`);
}

/** A parameter as Bind has it, without its length. Not for text. */
export function encodeParam(param: ParamType, value: ParamValue): Buffer {
  switch (param.type) {
    case "int":
    case "date": {
      const b = Buffer.alloc(4);
      b.writeInt32BE(param.type === "int" ? Number(value) : moment(value).days);
      return b;
    }
    case "bigint":
    case "timestamp": {
      const b = Buffer.alloc(8);
      b.writeBigInt64BE(param.type === "bigint" ? BigInt(value) : microseconds(moment(value)));
      return b;
    }
    case "decimal":
      return Buffer.from(paddedDecimal(param, value), "latin1");
    case "varchar":
      return Buffer.from(String(value), "utf8");
    default:
      throw new RangeError("a text parameter is written in place");
  }
}

function lengthOf(param: ParamType): number {
  if (param.type === "text") return param.length;
  if (param.type === "decimal") return decimalLength(param);
  if (param.type === "varchar") return 0;
  return param.type === "int" || param.type === "date" ? 4 : 8;
}

/**
 * Bind, Execute and Sync of a named statement in one buffer, whose parameters are written in place: numbers and dates
 * binary, decimals and texts as text. With varchar parameters the buffer is built anew when they have changed.
 */
export class ExecuteMessage {
  #bytes: Buffer;
  /** Of each parameter; null where it is NULL. */
  #places: (Buffer | null)[] = [];
  readonly #name: string;
  readonly #params: readonly ParamType[];

  constructor(name: string, { params }: StatementSpec) {
    this.#name = name;
    this.#params = params;
    this.#bytes = this.#build(params.map((param) => Buffer.alloc(lengthOf(param), 48)));
    params.forEach((param, i) => {
      const value = initial(param);
      if (value !== null) this.set(i, value);
    });
  }

  get bytes(): Buffer {
    return this.#bytes;
  }

  #build(values: readonly (Buffer | null)[]): Buffer {
    const count = values.length;
    const formats = Buffer.alloc(2 + 2 * count + 2);
    formats.writeInt16BE(count, 0);
    this.#params.forEach((param, i) => formats.writeInt16BE(isBinary(param) ? 1 : 0, 2 + 2 * i));
    formats.writeInt16BE(count, 2 + 2 * count);
    const withLengths = values.map((value) => {
      const length = Buffer.alloc(4);
      length.writeInt32BE(value?.length ?? -1);
      return value === null ? length : Buffer.concat([length, value]);
    });
    // The unnamed portal; no result formats: every column comes as text.
    const bind = message("B", zero(""), zero(this.#name), formats, ...withLengths, Buffer.alloc(2));
    const execute = message("E", zero(""), Buffer.alloc(4));
    const bytes = Buffer.concat([bind, execute, SYNC]);
    let at = 5 + 1 + this.#name.length + 1 + formats.length;
    this.#places = values.map((value) => {
      const length = value?.length ?? 0;
      const place = bytes.subarray(at + 4, at + 4 + length);
      at += 4 + length;
      return value === null ? null : place;
    });
    return bytes;
  }

  setInt(index: number, value: number): void {
    const place = this.#places[index];
    if (!place) return this.set(index, value);
    place[0] = value >> 24;
    place[1] = value >> 16;
    place[2] = value >> 8;
    place[3] = value;
  }

  place(index: number): Uint8Array {
    if (this.#places[index] === null)
      this.#replace(index, Buffer.alloc(lengthOf(this.#params[index] as ParamType), 48));
    return this.#places[index] as Buffer;
  }

  set(index: number, value: ParamValue | null): void {
    const param = this.#params[index] as ParamType;
    const bytes = value === null ? null : encodeParam(param, value);
    const place = this.#places[index];
    if (bytes === null || !place || param.type === "varchar") this.#replace(index, bytes);
    else place.set(bytes);
  }

  /** Another length: the whole message is made anew. */
  #replace(index: number, bytes: Buffer | null): void {
    this.#bytes = this.#build(this.#places.with(index, bytes));
  }
}

/** The fields of an ErrorResponse: S severity, V the same untranslated, C SQLSTATE, M message. */
export function parseError(
  b: Uint8Array,
  from: number,
  end: number,
): { severity: string; code: string; message: string } {
  const fields = new Map<string, string>();
  let at = from;
  while (at < end && b[at] !== 0) {
    let stop = at + 1;
    while (stop < end && b[stop] !== 0) stop++;
    fields.set(String.fromCharCode(b[at] as number), Buffer.from(b.subarray(at + 1, stop)).toString("utf8"));
    at = stop + 1;
  }
  return {
    severity: fields.get("V") ?? fields.get("S") ?? "ERROR",
    code: fields.get("C") ?? "XX000",
    message: fields.get("M") ?? "an error without a message",
  };
}

/** Rows changed, from a CommandComplete tag such as "INSERT 0 1" or "UPDATE 3"; 0 for every other command. */
export function affectedRows(b: Uint8Array, from: number, end: number): number {
  const first = b[from];
  // INSERT, UPDATE, DELETE, MERGE
  if (first !== 0x49 && first !== 0x55 && first !== 0x44 && first !== 0x4d) return 0;
  let value = 0;
  let scale = 1;
  for (let at = end - 2; at > from; at--) {
    const digit = (b[at] as number) - 48;
    if (digit < 0 || digit > 9) break;
    value += digit * scale;
    scale *= 10;
  }
  return value;
}

function message(type: string, ...parts: Uint8Array[]): Buffer {
  const head = Buffer.alloc(5);
  head[0] = type.charCodeAt(0);
  head.writeInt32BE(4 + parts.reduce((sum, part) => sum + part.length, 0), 1);
  return Buffer.concat([head, ...parts]);
}

function zero(text: string): Buffer {
  return Buffer.from(`${text}\0`, "utf8");
}
