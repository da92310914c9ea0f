/** Rows of a table from plain values. sysbench's own writer is faster; this one is for any table. */
import type { Random } from "./engine/random.ts";
import type { RowFormat, Rows } from "./workload.ts";

/** null is NULL; dates are text, "2024-01-31". */
export type Cell = string | number | bigint | null;

const encoder = new TextEncoder();

/**
 * @param count rows, numbered from 1
 * @param ordinal SQL over the columns for a row's number
 * @param bytes most bytes of a row in UTF-8, with two more for each column
 * @param values of row `n`, in the order of the table's columns; `random` is seeded by run, table and place
 */
export function rowsOf(
  count: number,
  ordinal: string,
  bytes: number,
  values: (n: number, random: Random) => readonly Cell[],
): Rows {
  return {
    count,
    ordinal,
    // Each character of a text may need another in front.
    bytes: 2 * bytes + 2,
    write(buffer, format, first, last, random) {
      let at = 0;
      for (let n = first; n <= last; n++) {
        at += put(buffer.subarray(at), line(values(n, random), format), bytes, () => `row ${n}`);
      }
      return at;
    },
  };
}

/**
 * Rows that belong to parents: the lines of an order.
 * @param parents numbered from 1; each has from `least` to `most` rows, drawn by the seed
 * @param ordinal SQL over the columns for a parent's number
 * @param bytes most bytes of a row in UTF-8, with two more for each column
 * @param values of the parent's row `n`, from 1
 */
export function rowsOfParents(
  { parents, least, most, seed }: { parents: number; least: number; most: number; seed: number },
  ordinal: string,
  bytes: number,
  values: (parent: number, n: number, random: Random) => readonly Cell[],
): Rows {
  const of = between(seed, least, most);
  return {
    count: parents,
    ordinal,
    bytes: most * (2 * bytes + 2),
    each: { of, most },
    write(buffer, format, first, last, random) {
      let at = 0;
      for (let parent = first; parent <= last; parent++) {
        for (let n = 1; n <= of(parent); n++) {
          at += put(buffer.subarray(at), line(values(parent, n, random), format), bytes, () => `row ${n} of ${parent}`);
        }
      }
      return at;
    },
  };
}

/**
 * A number from `least` to `most` for each whole number, the same for the same seed, in any order: what a parent's row
 * (o_ol_cnt) says, and what its children are. The mixing function is MurmurHash3's 32-bit finalizer (A. Appleby).
 */
export function between(seed: number, least: number, most: number): (n: number) => number {
  const start = Math.imul((seed % 0x1_0000_0000) ^ Math.floor(seed / 0x1_0000_0000), 0x9e37_79b1);
  return (n) => {
    let x = (start + n) | 0;
    x = Math.imul(x ^ (x >>> 16), 0x85eb_ca6b);
    x = Math.imul(x ^ (x >>> 13), 0xc2b2_ae35);
    x ^= x >>> 16;
    return least + Math.floor(((x >>> 0) / 0x1_0000_0000) * (most - least + 1));
  };
}

/** How many rows the numbers from `first` to `last` have together. */
export function rowCount({ count, each }: Rows, first = 1, last = count): number {
  if (each === undefined) return Math.max(0, last - first + 1);
  let rows = 0;
  for (let n = first; n <= last; n++) rows += each.of(n);
  return rows;
}

/** @returns bytes written @throws RangeError, where the text is longer than was said */
function put(into: Uint8Array, text: string, bytes: number, which: () => string): number {
  const { read, written } = encoder.encodeInto(text, into);
  if (read < text.length) throw new RangeError(`${which()}: more than ${bytes} bytes`);
  return written;
}

function line(cells: readonly Cell[], format: RowFormat): string {
  return format === "text" ? `${cells.map(field).join("\t")}\n` : `(${cells.map(literal).join(",")}),`;
}

const ESCAPES: Record<string, string> = { "\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r" };
const field = (cell: Cell): string =>
  cell === null ? "\\N" : String(cell).replaceAll(/[\\\t\n\r]/g, (c) => ESCAPES[c] ?? c);

function literal(cell: Cell): string {
  if (cell === null) return "NULL";
  if (typeof cell !== "string") return String(cell);
  // MySQL and PostgreSQL read a backslash in different ways.
  if (cell.includes("\\"))
    throw new RangeError(`${JSON.stringify(cell)}: a backslash; expected none with method insert`);
  return `'${cell.replaceAll("'", "''")}'`;
}
