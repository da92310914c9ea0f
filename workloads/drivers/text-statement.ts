/**
 * A statement that is formed as text at each execute: `preparedStatements: "disable"`, as sysbench's
 * --db-ps-mode=disable.
 * Its texts are digits, '-' and letters only, so that quoting is plain.
 */
import type { StatementSpec } from "./driver.ts";
import { ValuesStatement } from "./values-statement.ts";

export class TextStatement extends ValuesStatement {
  readonly #parts: string[];
  readonly #send: (sql: string) => void;

  constructor(spec: StatementSpec, send: (sql: string) => void) {
    super(spec);
    this.#parts = spec.sql.split("?");
    this.#send = send;
  }

  execute(): void {
    let sql = this.#parts[0] as string;
    for (let i = 0; i < this.values.length; i++) {
      const value = this.values[i] as number | Buffer;
      sql += typeof value === "number" ? value : `'${value.toString("latin1")}'`;
      sql += this.#parts[i + 1] as string;
    }
    this.#send(sql);
  }
}
