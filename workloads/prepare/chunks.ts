/** How a table is cut into transactions for the load. Pure. */

import type { TransactionLimits } from "../dialects/dialect.ts";

/** `table`: its number among the tables of the load, from 1. */
export type Chunk = { table: number; index: number; first: number; last: number };

/**
 * Rows per transaction: large enough that a round trip per commit costs little, small enough for Galera's writesets.
 */
export const CHUNK_ROWS = 20_000;
/** What Galera's measure of a row in a writeset has beside the row itself: keys and headers. */
const WRITESET_OVERHEAD_BYTES = 296;

/**
 * How many numbers (see Rows) go into a transaction.
 * @param rowBytes most bytes of a number's rows
 * @param most rows of a number
 */
export function chunkRows(limits: TransactionLimits | undefined, rowBytes: number, most = 1): number {
  let rows = CHUNK_ROWS;
  if (limits?.maxRows) rows = Math.min(rows, limits.maxRows);
  if (limits?.maxBytes)
    rows = Math.min(rows, Math.floor(limits.maxBytes / (rowBytes / most + WRITESET_OVERHEAD_BYTES)));
  return Math.max(1, Math.floor(rows / most));
}

/** Rows 1..size in chunks of `rows`, the last one shorter. */
export function cutTable(table: number, size: number, rows: number): Chunk[] {
  const chunks: Chunk[] = [];
  for (let first = 1, index = 0; first <= size; first += rows, index++) {
    chunks.push({ table, index, first, last: Math.min(size, first + rows - 1) });
  }
  return chunks;
}

/**
 * What a half-loaded table still needs. `present`: rows per chunk index, as the server counts them; -1 stands for rows
 * outside 1..size. Chunks are transactions, so each is there whole or not at all; anything else was not loaded by this
 * plan and the answer is undefined: the table has to be made anew.
 */
export function missingChunks(
  chunks: Chunk[],
  present: ReadonlyMap<number, number>,
  rowsOf = ({ first, last }: Chunk): number => last - first + 1,
): Chunk[] | undefined {
  const known = new Set(chunks.map((chunk) => chunk.index));
  for (const [index, rows] of present) if (rows > 0 && !known.has(index)) return undefined;
  const missing: Chunk[] = [];
  for (const chunk of chunks) {
    const rows = present.get(chunk.index) ?? 0;
    if (rows === 0) missing.push(chunk);
    else if (rows !== rowsOf(chunk)) return undefined;
  }
  return missing;
}
