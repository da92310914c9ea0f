/** Loads one chunk over one session, by the method that was chosen. */
import { Readable } from "node:stream";
import type { RunSpec } from "../contract.ts";
import type { LoadPlan, Method } from "../dialects/dialect.ts";
import { Random } from "../engine/random.ts";
import { rowCount } from "../rows.ts";
import type { Session } from "../sql-session.ts";
import type { RowFormat, Rows, Table } from "../workload.ts";
import type { Chunk } from "./chunks.ts";

/** Of a stream's pieces: small enough that other connections get their turn on the event loop. */
const PIECE_BYTES = 138_240;
/** sysbench's statement size for its multi-row INSERTs. */
const INSERT_BYTES = 512 * 1024;

/** Some of a chunk's rows were in the table already. */
export class RowsPresent extends Error {}

/** A table that has rows. */
export type FilledTable = Table & { readonly rows: Rows };

export class ChunkLoader {
  readonly #method: Method;
  readonly #seed: number;
  readonly #statementTimeoutMs: number;
  readonly #insertBytes: number;

  constructor(spec: RunSpec, { method, maxStatementBytes }: Pick<LoadPlan, "method" | "maxStatementBytes">) {
    this.#method = method;
    this.#seed = spec.seed;
    // A chunk is thousands of rows: it may take longer than any statement of a workload.
    this.#statementTimeoutMs = Math.max(300_000, spec.target.statementTimeoutMs ?? 0);
    this.#insertBytes = Math.min(INSERT_BYTES, maxStatementBytes - 1024);
  }

  /**
   * One transaction; when it rejects, nothing of the chunk is in the table unless the connection broke during the
   * commit.
   */
  async load(session: Session, table: FilledTable, chunk: Chunk): Promise<void> {
    if (this.#method === "insert") return this.#insert(session, table, chunk);
    const { name } = table;
    const columns = columnList(table);
    const sql =
      this.#method === "copy"
        ? `COPY ${name} ${columns} FROM STDIN`
        : `LOAD DATA LOCAL INFILE 'chunk-${chunk.index}' INTO TABLE ${name} CHARACTER SET ${table.rows.ascii ? "latin1" : "utf8mb4"} ${columns}`;
    const taken = await session.load(
      sql,
      Readable.from(this.#pieces(table, chunk, "text", PIECE_BYTES), { objectMode: true }),
      this.#statementTimeoutMs,
    );
    const wanted = rowCount(table.rows, chunk.first, chunk.last);
    // LOCAL makes the server skip rows whose key is there already, with a warning instead of an error.
    if (taken !== wanted)
      throw new RowsPresent(
        `${name}: the server took ${taken} of the ${wanted} rows of ${chunk.first} to ${chunk.last}: some are there already`,
      );
  }

  async #insert(session: Session, table: FilledTable, chunk: Chunk): Promise<void> {
    const head = `INSERT INTO ${table.name} ${columnList(table)} VALUES`;
    await session.query("BEGIN", this.#statementTimeoutMs);
    try {
      for (const piece of this.#pieces(table, chunk, "values", this.#insertBytes)) {
        // Without the comma after the last row.
        await session.query(
          head + piece.toString(table.rows.ascii ? "latin1" : "utf8", 0, piece.length - 1),
          this.#statementTimeoutMs,
        );
      }
      await session.query("COMMIT", this.#statementTimeoutMs);
    } catch (error) {
      await session.query("ROLLBACK", 5000).catch(() => {});
      throw error;
    }
  }

  *#pieces({ rows }: FilledTable, chunk: Chunk, format: RowFormat, bytes: number): Generator<Buffer> {
    // The stream depends on seed, table and chunk only: a chunk that is loaded again after an error has the same rows.
    const random = new Random(this.#seed, chunk.table, chunk.index);
    const step = Math.max(1, Math.floor(bytes / rows.bytes));
    for (let first = chunk.first; first <= chunk.last; first += step) {
      const last = Math.min(chunk.last, first + step - 1);
      const buffer = Buffer.allocUnsafeSlow((last - first + 1) * rows.bytes);
      yield buffer.subarray(0, rows.write(buffer, format, first, last, random));
    }
  }
}

const columnList = ({ columns }: Table): string => `(${columns.map(({ name }) => name).join(", ")})`;
