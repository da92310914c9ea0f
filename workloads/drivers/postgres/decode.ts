/**
 * Decodes one whole answer (its bytes as they came) into rows: for the sampled check that the rows which the fast path
 * only counts are the right ones, and for rows that an event keeps. All columns come as text.
 */
import type { Value } from "../driver.ts";
import { exactNumber, timestampText } from "../params.ts";

/** int8, int2, int4, oid, numeric. */
const NUMBERS = new Set([20, 21, 23, 26, 1700]);
const FLOATS = new Set([700, 701]);
/** CHAR(n) comes padded with blanks that are not part of the value; MySQL leaves them out. */
const BPCHAR = 1042;
const TIMESTAMP = 1114;

/** @param types type OIDs of the columns where the answer itself does not describe them (prepared statements) */
export function decodeAnswer(bytes: Buffer, types: readonly number[]): Value[][] {
  let columns = types;
  const rows: Value[][] = [];
  for (let at = 0; at + 5 <= bytes.length; ) {
    const next = at + 1 + bytes.readInt32BE(at + 1);
    if (bytes[at] === 0x54) columns = columnTypes(bytes.subarray(at + 5, next));
    if (bytes[at] === 0x44) rows.push(dataRow(bytes.subarray(at + 5, next), columns));
    at = next;
  }
  return rows;
}

/** All RowDescription messages of an answer; statements without a result (NoData) count as having no columns. */
export function describedColumns(bytes: Buffer): number[][] {
  const described: number[][] = [];
  for (let at = 0; at + 5 <= bytes.length; ) {
    const next = at + 1 + bytes.readInt32BE(at + 1);
    if (bytes[at] === 0x54) described.push(columnTypes(bytes.subarray(at + 5, next)));
    if (bytes[at] === 0x6e) described.push([]);
    at = next;
  }
  return described;
}

/** Per column: name, 0, table 4, attribute 2, type OID 4, size 2, modifier 4, format 2. */
function columnTypes(body: Buffer): number[] {
  let at = 2;
  return Array.from({ length: body.readInt16BE(0) }, () => {
    const type = body.indexOf(0, at) + 7;
    at = type + 12;
    return body.readInt32BE(type);
  });
}

function dataRow(body: Buffer, types: readonly number[]): Value[] {
  let at = 2;
  return Array.from({ length: body.readInt16BE(0) }, (_, column) => {
    const length = body.readInt32BE(at);
    at += 4;
    if (length < 0) return null;
    const text = body.toString("utf8", at, at + length);
    at += length;
    return decodeText(text, types[column] ?? 0);
  });
}

/** One value of a type. */
export function decodeText(text: string, type: number): Value {
  if (NUMBERS.has(type)) return exactNumber(text);
  if (FLOATS.has(type)) return Number(text);
  if (type === TIMESTAMP) return timestampText(text);
  return type === BPCHAR ? text.trimEnd() : text;
}
