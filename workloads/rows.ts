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
        const text = line(values(n, random), format);
        const { read, written } = encoder.encodeInto(text, buffer.subarray(at));
        if (read < text.length) throw new RangeError(`row ${n}: more than ${bytes} bytes`);
        at += written;
      }
      return at;
    },
  };
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
