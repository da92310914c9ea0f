/**
 * A statement that is formed as text at each execute: `preparedStatements: "disable"`, as sysbench's
 * --db-ps-mode=disable.
 */
import type { ParamType, StatementSpec } from "./driver.ts";
import type { ParamValue } from "./params.ts";
import { ValuesStatement } from "./values-statement.ts";

export class TextStatement extends ValuesStatement {
  readonly #parts: string[];
  readonly #send: (sql: string) => void;
  readonly #backslash: boolean;

  /** @param backslash a backslash in a literal escapes what follows it, as on MySQL */
  constructor(spec: StatementSpec, backslash: boolean, send: (sql: string) => void) {
    super(spec);
    this.#parts = spec.sql.split("?");
    this.#backslash = backslash;
    this.#send = send;
  }

  execute(): void {
    let sql = this.#parts[0] as string;
    for (let i = 0; i < this.values.length; i++) {
      sql += this.#literal(this.spec.params[i] as ParamType, this.values[i] as ParamValue | Buffer | null);
      sql += this.#parts[i + 1] as string;
    }
    this.#send(sql);
  }

  #literal({ type }: ParamType, value: ParamValue | Buffer | null): string {
    if (value === null) return "NULL";
    // Written in place by workloads: digits, dashes and letters.
    if (typeof value === "object") return `'${value.toString("latin1")}'`;
    if (type === "int" || type === "bigint" || type === "decimal") return String(value);
    const text = String(value).replaceAll("'", "''");
    return `'${this.#backslash ? text.replaceAll("\\", "\\\\") : text}'`;
  }
}
