import type { ParamType, Statement, StatementSpec } from "./driver.ts";
import type { ParamValue } from "./params.ts";
import { initial, moment, paddedDecimal } from "./params.ts";

/** A statement whose parameters are kept as values until it is sent: text as its bytes, everything else as given. */
export abstract class ValuesStatement implements Statement {
  readonly spec: StatementSpec;
  protected readonly values: (ParamValue | Buffer | null)[];

  constructor(spec: StatementSpec) {
    this.spec = spec;
    this.values = spec.params.map((param) => (param.type === "text" ? textOf(param) : (initial(param) ?? 0)));
  }

  setInt(index: number, value: number): void {
    this.values[index] = value;
  }

  bytes(index: number): Uint8Array {
    if (this.values[index] === null) this.values[index] = textOf(this.spec.params[index] as ParamType);
    return this.values[index] as Buffer;
  }

  set(index: number, value: ParamValue | null): void {
    const param = this.spec.params[index] as ParamType;
    if (value === null) {
      this.values[index] = null;
      return;
    }
    // The same values are refused on every path.
    if (param.type === "date" || param.type === "timestamp") moment(value);
    this.values[index] = param.type === "decimal" ? plainDecimal(paddedDecimal(param, value)) : value;
  }

  abstract execute(): void;
}

const textOf = (param: ParamType): Buffer => Buffer.alloc(param.type === "text" ? param.length : 0, 48);

/** "-0012.50" as "-12.50". */
const plainDecimal = (padded: string): string => padded.replace(/^(-?)0+(?=\d)/, "$1");
