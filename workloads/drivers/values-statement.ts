import type { Statement, StatementSpec } from "./driver.ts";

/** A statement whose parameters are kept as values until it is sent. */
export abstract class ValuesStatement implements Statement {
  readonly spec: StatementSpec;
  protected readonly values: (number | Buffer)[];

  constructor(spec: StatementSpec) {
    this.spec = spec;
    this.values = spec.params.map((param) => (param.type === "int" ? 0 : Buffer.alloc(param.length, 48)));
  }

  setInt(index: number, value: number): void {
    this.values[index] = value;
  }

  bytes(index: number): Uint8Array {
    return this.values[index] as Buffer;
  }

  abstract execute(): void;
}
