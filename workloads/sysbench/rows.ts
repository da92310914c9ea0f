/**
 * Rows of sysbench's tables, written as digits straight into a buffer: (id, k, c, pad) with
 * c = 10 groups of 11 random digits joined by '-', pad = 5 such groups.
 */
import type { Random } from "../engine/random.ts";
import type { RowFormat } from "../workload.ts";

/** Three ASCII digits for each of 0..999. */
const THREE = new Uint8Array(3000);
for (let i = 0; i < 1000; i++) {
  THREE[3 * i] = 48 + Math.floor(i / 100);
  THREE[3 * i + 1] = 48 + (Math.floor(i / 10) % 10);
  THREE[3 * i + 2] = 48 + (i % 10);
}
const DASH = 45;
const TAB = 9;
const NEWLINE = 10;
const SIX_DIGITS = 1e6 / 2 ** 32;
const FIVE_DIGITS = 1e5 / 2 ** 32;

/** Most bytes that one row takes in either format: 2 x 10 digits, 119, 59, and quotes, commas and brackets. */
export const ROW_BYTES = 216;

/** Writes rows first..last (ids) at the start of `buffer`; returns the bytes written. */
export function writeRows(
  buffer: Uint8Array,
  format: RowFormat,
  first: number,
  last: number,
  random: Random,
  drawK: () => number,
): number {
  let at = 0;
  const values = format === "values";
  for (let id = first; id <= last; id++) {
    if (values) buffer[at++] = 40;
    at = writeNumber(buffer, at, id);
    buffer[at++] = values ? 44 : TAB;
    at = writeNumber(buffer, at, drawK());
    if (values) {
      buffer[at++] = 44;
      buffer[at++] = 39;
    } else buffer[at++] = TAB;
    at = writeGroups(buffer, at, 10, random);
    if (values) {
      buffer[at++] = 39;
      buffer[at++] = 44;
      buffer[at++] = 39;
    } else buffer[at++] = TAB;
    at = writeGroups(buffer, at, 5, random);
    if (values) {
      buffer[at++] = 39;
      buffer[at++] = 41;
      buffer[at++] = 44;
    } else buffer[at++] = NEWLINE;
  }
  return at;
}

/** `count` groups of 11 digits joined by '-': 6 digits from one 32-bit draw, 5 from the next. */
export function writeGroups(buffer: Uint8Array, start: number, count: number, random: Random): number {
  let at = start;
  for (let group = 0; group < count; group++) {
    if (group > 0) buffer[at++] = DASH;
    const six = Math.floor((random.bits() >>> 0) * SIX_DIGITS);
    const five = Math.floor((random.bits() >>> 0) * FIVE_DIGITS);
    const high = Math.floor(six / 1000);
    let p = 3 * high;
    buffer[at] = THREE[p]!;
    buffer[at + 1] = THREE[p + 1]!;
    buffer[at + 2] = THREE[p + 2]!;
    p = 3 * (six - 1000 * high);
    buffer[at + 3] = THREE[p]!;
    buffer[at + 4] = THREE[p + 1]!;
    buffer[at + 5] = THREE[p + 2]!;
    const two = Math.floor(five / 1000);
    p = 3 * two;
    buffer[at + 6] = THREE[p + 1]!;
    buffer[at + 7] = THREE[p + 2]!;
    p = 3 * (five - 1000 * two);
    buffer[at + 8] = THREE[p]!;
    buffer[at + 9] = THREE[p + 1]!;
    buffer[at + 10] = THREE[p + 2]!;
    at += 11;
  }
  return at;
}

function writeNumber(buffer: Uint8Array, start: number, value: number): number {
  let digits = 1;
  for (let limit = 10; value >= limit; limit *= 10) digits++;
  let rest = value;
  for (let at = start + digits - 1; at >= start; at--) {
    const tenth = Math.floor(rest / 10);
    buffer[at] = 48 + (rest - 10 * tenth);
    rest = tenth;
  }
  return start + digits;
}
