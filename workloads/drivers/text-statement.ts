/**
 * A statement that is formed as text at each execute: `preparedStatements: "disable"`, as sysbench's --db-ps-mode=disable.
 * Its texts are digits, '-' and letters only, so that quoting is plain.
 */
import type { Statement, StatementSpec } from "./driver.ts";

export class TextStatement implements Statement {
  readonly spec: StatementSpec;
  readonly #parts: string[];
  readonly #values: (number | Buffer)[];
  readonly #send: (sql: string) => void;

  constructor(spec: StatementSpec, send: (sql: string) => void) {
    this.spec = spec;
    this.#parts = spec.sql.split("?");
    this.#values = spec.params.map((param) => (param.type === "int" ? 0 : Buffer.alloc(param.length, 48)));
    this.#send = send;
  }

  setInt(index: number, value: number): void {
    this.#values[index] = value;
  }

  bytes(index: number): Uint8Array {
    return this.#values[index] as Buffer;
  }

  execute(): void {
    let sql = this.#parts[0] as string;
    for (let i = 0; i < this.#values.length; i++) {
      const value = this.#values[i] as number | Buffer;
      sql += typeof value === "number" ? value : `'${value.toString("latin1")}'`;
      sql += this.#parts[i + 1] as string;
    }
    this.#send(sql);
  }
}
