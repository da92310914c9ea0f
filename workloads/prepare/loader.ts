/** Loads one chunk over one session, by the method that was chosen. */
import { Readable } from "node:stream";
import type { RunSpec } from "../contract.ts";
import { Random } from "../engine/random.ts";
import type { Chunk } from "./chunks.ts";
import { tableName } from "./dialect.ts";
import type { RowFormat } from "./rows.ts";
import { ROW_BYTES, writeRows } from "./rows.ts";
import type { Session } from "./session.ts";

export type Method = "load-data" | "copy" | "insert";

/** Rows per piece of a stream: 128 KiB or so, small enough that other connections get their turn on the event loop. */
const PIECE_ROWS = 640;
/** sysbench's statement size for its multi-row INSERTs. */
const INSERT_BYTES = 512 * 1024;

/** Some of a chunk's ids were in the table already. */
export class RowsPresent extends Error {}

/** Draws a value of the k column. */
export type DrawK = (random: Random) => number;

export class ChunkLoader {
  readonly #method: Method;
  readonly #seed: number;
  readonly #drawK: DrawK;
  readonly #statementTimeoutMs: number;
  readonly #insertRows: number;

  /** maxStatementBytes: the server's max_allowed_packet, for INSERT. */
  constructor(spec: RunSpec, method: Method, drawK: DrawK, maxStatementBytes: number) {
    this.#method = method;
    this.#seed = spec.seed;
    this.#drawK = drawK;
    // A chunk is thousands of rows: it may take longer than any statement of a workload.
    this.#statementTimeoutMs = Math.max(300_000, spec.target.statementTimeoutMs ?? 0);
    this.#insertRows = Math.max(1, Math.floor(Math.min(INSERT_BYTES, maxStatementBytes - 1024) / ROW_BYTES));
  }

  /**
   * One transaction; when it rejects, nothing of the chunk is in the table unless the connection broke during the
   * commit.
   */
  async load(session: Session, chunk: Chunk): Promise<void> {
    if (this.#method === "insert") return this.#insert(session, chunk);
    const table = tableName(chunk.table);
    const sql =
      this.#method === "copy"
        ? `COPY ${table} (id, k, c, pad) FROM STDIN`
        : `LOAD DATA LOCAL INFILE 'chunk-${chunk.index}' INTO TABLE ${table} CHARACTER SET latin1 (id, k, c, pad)`;
    const taken = await session.load(
      sql,
      Readable.from(this.#pieces(chunk, "text", PIECE_ROWS), { objectMode: true }),
      this.#statementTimeoutMs,
    );
    const wanted = chunk.last - chunk.first + 1;
    // LOCAL makes the server skip rows whose key is there already, with a warning instead of an error.
    if (taken !== wanted)
      throw new RowsPresent(
        `${table}: the server took ${taken} of the rows ${chunk.first} to ${chunk.last}: some ids are there already`,
      );
  }

  async #insert(session: Session, chunk: Chunk): Promise<void> {
    const head = `INSERT INTO ${tableName(chunk.table)} (id, k, c, pad) VALUES`;
    await session.query("BEGIN", this.#statementTimeoutMs);
    try {
      for (const piece of this.#pieces(chunk, "values", this.#insertRows)) {
        // Without the comma after the last row.
        await session.query(head + piece.toString("latin1", 0, piece.length - 1), this.#statementTimeoutMs);
      }
      await session.query("COMMIT", this.#statementTimeoutMs);
    } catch (error) {
      await session.query("ROLLBACK", 5000).catch(() => {});
      throw error;
    }
  }

  *#pieces(chunk: Chunk, format: RowFormat, rows: number): Generator<Buffer> {
    // The stream depends on seed, table and chunk only: a chunk that is loaded again after an error has the same rows.
    const random = new Random(this.#seed, chunk.table, chunk.index);
    const drawK = (): number => this.#drawK(random);
    for (let first = chunk.first; first <= chunk.last; first += rows) {
      const last = Math.min(chunk.last, first + rows - 1);
      const buffer = Buffer.allocUnsafeSlow((last - first + 1) * ROW_BYTES);
      yield buffer.subarray(0, writeRows(buffer, format, first, last, random, drawK));
    }
  }
}
