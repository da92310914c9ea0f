/**
 * Decodes one whole answer (all its packets in order, as they came) into rows: for the sampled check that the rows
 * which the fast path only counts are the right ones, and for rows that an event keeps. Text and binary rows; dates
 * as text; a column of another type (TIME, BIT, geometry) as the bytes it came in.
 */
import type { Value } from "../driver.ts";
import { exactNumber, timestampText } from "../params.ts";
import type { AnswerFormat } from "./answer.ts";
import { lengthEncoded, word } from "./bytes.ts";

const LARGEST = 0xff_ffff;

/**
 * @param binary rows of a prepared statement (true) or of a text query
 * @param known column types from the prepare answer, for an answer that leaves the definitions out
 */
export function decodeAnswer(
  bytes: Buffer,
  binary: boolean,
  format: AnswerFormat,
  known: readonly ColumnType[] = [],
): Value[][] {
  const packets = split(bytes);
  const first = packets[0];
  if (first === undefined || first[0] === 0x00 || first[0] === 0xff) return [];
  const { value: columns, next } = lengthEncoded(first, 0);
  const sent = format.cacheMetadata && first[next] === 0 ? 0 : columns;
  const types = sent === 0 ? known : packets.slice(1, 1 + columns).map(columnType);
  const { deprecateEof } = format;
  const rows: Value[][] = [];
  for (const row of packets.slice(1 + sent + (deprecateEof ? 0 : 1))) {
    if (row[0] === 0xff || (row[0] === 0xfe && row.length < (deprecateEof ? LARGEST : 9))) break;
    rows.push(binary ? binaryRow(row, types) : textRow(row, types));
  }
  return rows;
}

/** Column types of each statement in a sequence of whole prepare answers; none for one that was refused. */
export function decodePrepares(bytes: Buffer, { deprecateEof }: AnswerFormat): ColumnType[][] {
  const packets = split(bytes);
  const statements: ColumnType[][] = [];
  for (let at = 0; at < packets.length; ) {
    const head = packets[at++] as Buffer;
    if (head[0] === 0xff) {
      statements.push([]);
      continue;
    }
    const columns = word(head, 5);
    const parameters = word(head, 7);
    const end = (group: number): number => (group > 0 && !deprecateEof ? 1 : 0);
    at += parameters + end(parameters);
    statements.push(packets.slice(at, at + columns).map(columnType));
    at += columns + end(columns);
  }
  return statements;
}

function split(bytes: Buffer): Buffer[] {
  const packets: Buffer[] = [];
  let parts: Buffer[] = [];
  for (let at = 0; at + 4 <= bytes.length; ) {
    const length = bytes.readUIntLE(at, 3);
    parts.push(bytes.subarray(at + 4, at + 4 + length));
    at += 4 + length;
    if (length === LARGEST) continue;
    packets.push(parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts));
    parts = [];
  }
  return packets;
}

export interface ColumnType {
  type: number;
  unsigned: boolean;
}

/** The fixed part stands at the end of a definition: charset 2, length 4, type 1, flags 2, decimals 1, filler 2. */
function columnType(definition: Buffer): ColumnType {
  const fixed = definition.length - 12;
  return { type: definition[fixed + 6] ?? 0, unsigned: (word(definition, fixed + 7) & 0x20) !== 0 };
}

function isNumber(type: number): boolean {
  return [0, 1, 2, 3, 4, 5, 8, 9, 246].includes(type);
}

/** Floats have more digits than they mean. */
const numberOf = (text: string, type: number): Value => (type === 4 || type === 5 ? Number(text) : exactNumber(text));

function textRow(row: Buffer, types: readonly ColumnType[]): Value[] {
  let at = 0;
  return types.map(({ type }) => {
    if (row[at] === 0xfb) {
      at++;
      return null;
    }
    const { value, next } = lengthEncoded(row, at);
    at = next + value;
    const text = row.toString("utf8", next, at);
    if (isNumber(type)) return numberOf(text, type);
    return type === 7 || type === 12 ? timestampText(text) : text;
  });
}

function binaryRow(row: Buffer, types: readonly ColumnType[]): Value[] {
  let at = 1 + ((types.length + 9) >> 3);
  return types.map(({ type, unsigned }, i) => {
    // The NULL bits start at bit 2 of the bitmap that follows the row's marker.
    if (((row[1 + ((i + 2) >> 3)] ?? 0) & (1 << ((i + 2) & 7))) !== 0) return null;
    const from = at;
    switch (type) {
      case 1:
        at += 1;
        return unsigned ? row.readUInt8(from) : row.readInt8(from);
      case 2:
        at += 2;
        return unsigned ? row.readUInt16LE(from) : row.readInt16LE(from);
      case 3:
      case 9:
        at += 4;
        return unsigned ? row.readUInt32LE(from) : row.readInt32LE(from);
      case 8:
        at += 8;
        return exactNumber(String(unsigned ? row.readBigUInt64LE(from) : row.readBigInt64LE(from)));
      case 4:
        at += 4;
        return row.readFloatLE(from);
      case 5:
        at += 8;
        return row.readDoubleLE(from);
      case 7:
      case 10:
      case 12:
        at += 1 + (row[from] ?? 0);
        return dateText(row.subarray(from + 1, at), type === 10);
      default: {
        const { value, next } = lengthEncoded(row, from);
        at = next + value;
        const text = row.toString("utf8", next, at);
        return isNumber(type) ? numberOf(text, type) : text;
      }
    }
  });
}

/** DATE, DATETIME, TIMESTAMP: as many bytes as are not zero. As the server writes it as text, fractions only if any. */
function dateText(b: Buffer, day: boolean): string {
  const two = (at: number): string => String(b[at] ?? 0).padStart(2, "0");
  const date = `${String(b.length < 4 ? 0 : word(b, 0)).padStart(4, "0")}-${two(2)}-${two(3)}`;
  if (day) return date;
  const micros = b.length < 11 ? "" : `.${String(b.readUInt32LE(7)).padStart(6, "0")}`;
  return `${date} ${two(4)}:${two(5)}:${two(6)}${micros}`;
}
