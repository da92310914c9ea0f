import type { ParamType, Statement, StatementSpec } from "./driver.ts";
import type { ParamValue } from "./params.ts";
import { initial, moment, paddedDecimal } from "./params.ts";

/** A statement whose parameters are kept as values until it is sent: text as its bytes, everything else as given. */
export abstract class ValuesStatement implements Statement {
  readonly spec: StatementSpec;
  protected readonly values: (ParamValue | Buffer)[];

  constructor(spec: StatementSpec) {
    this.spec = spec;
    this.values = spec.params.map((param) =>
      param.type === "text" ? Buffer.alloc(param.length, 48) : (initial(param) ?? 0),
    );
  }

  setInt(index: number, value: number): void {
    this.values[index] = value;
  }

  bytes(index: number): Uint8Array {
    return this.values[index] as Buffer;
  }

  set(index: number, value: ParamValue): void {
    const param = this.spec.params[index] as ParamType;
    // The same values are refused on every path.
    if (param.type === "date" || param.type === "timestamp") moment(value);
    this.values[index] = param.type === "decimal" ? plainDecimal(paddedDecimal(param, value)) : value;
  }

  abstract execute(): void;
}

/** "-0012.50" as "-12.50". */
const plainDecimal = (padded: string): string => padded.replace(/^(-?)0+(?=\d)/, "$1");
