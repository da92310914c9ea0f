/**
 * Messages of PostgreSQL's frontend/backend protocol 3.0 (PostgreSQL documentation, chapter "Frontend/Backend
 * Protocol"):
 * a type byte, then a big-endian length that counts itself but not the type.
 */
import type { StatementSpec } from "./driver.ts";

/** Type OID of int4: said with Parse, so that servers whose INTEGER is 8 bytes wide take 4-byte parameters as well. */
const INT4 = 23;
const SYNC = Buffer.from([0x53, 0, 0, 0, 4]);
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

/** Parse and Describe for each statement, in order, under the names given, and one Sync. */
export function prepareMessages(specs: readonly StatementSpec[], names: readonly string[]): Buffer {
  const parts = specs.flatMap((spec, i) => {
    const name = names[i] as string;
    const types = Buffer.alloc(2 + 4 * spec.params.length);
    types.writeInt16BE(spec.params.length, 0);
    spec.params.forEach((param, p) => types.writeInt32BE(param.type === "int" ? INT4 : 0, 2 + 4 * p));
    return [message("P", zero(name), zero(numbered(spec.sql)), types), message("D", Buffer.from("S"), zero(name))];
  });
  return Buffer.concat([...parts, SYNC]);
}

/** `?` becomes `$1`, `$2`, ...; the workloads' statements have no `?` inside a literal. */
export function numbered(sql: string): string {
  let parameter = 0;
  return sql.replaceAll("?", () => `$${++parameter}`);
}

/**
 * Bind, Execute and Sync of a named statement in one buffer, whose parameters are written in place: ints binary, texts
 * as text.
 */
export class ExecuteMessage {
  readonly bytes: Buffer;
  readonly #places: Buffer[];

  constructor(name: string, spec: StatementSpec) {
    const count = spec.params.length;
    const lengths = spec.params.map((param) => (param.type === "int" ? 4 : param.length));
    const formats = Buffer.alloc(2 + 2 * count + 2);
    formats.writeInt16BE(count, 0);
    spec.params.forEach((param, i) => formats.writeInt16BE(param.type === "int" ? 1 : 0, 2 + 2 * i));
    formats.writeInt16BE(count, 2 + 2 * count);
    const values = lengths.map((length) => {
      const value = Buffer.alloc(4 + length, 48);
      value.writeInt32BE(length, 0);
      return value;
    });
    // The unnamed portal; no result formats: every column comes as text.
    const bind = message("B", zero(""), zero(name), formats, ...values, Buffer.alloc(2));
    const execute = message("E", zero(""), Buffer.alloc(4));
    this.bytes = Buffer.concat([bind, execute, SYNC]);
    let at = 5 + 1 + name.length + 1 + formats.length;
    this.#places = lengths.map((length) => {
      const place = this.bytes.subarray(at + 4, at + 4 + length);
      at += 4 + length;
      return place;
    });
  }

  setInt(index: number, value: number): void {
    const place = this.#places[index] as Buffer;
    place[0] = value >> 24;
    place[1] = value >> 16;
    place[2] = value >> 8;
    place[3] = value;
  }

  place(index: number): Uint8Array {
    return this.#places[index] as Buffer;
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
