/** Values of typed parameters, as both protocols need them before they write them their own way. */
/**
 * int, bigint: signed, 32 and 64 bits. decimal: `precision` digits, `scale` of them after the point. timestamp: to the
 * microsecond, without a time zone. text: exactly `length` bytes of ASCII, written in place. varchar: UTF-8 of any
 * length; the packet is built anew for each execution.
 */
export type ParamType =
  | { readonly type: "int" | "bigint" | "date" | "timestamp" | "varchar" }
  | { readonly type: "decimal"; readonly precision: number; readonly scale: number }
  | { readonly type: "text"; readonly length: number };

/** A decimal as a number or as "-12.50", a date as "2024-01-31", a timestamp as "2024-01-31 12:00:00.123456". */
export type ParamValue = number | bigint | string;

type Decimal = Extract<ParamType, { type: "decimal" }>;

const DECIMAL = /^(-?)(\d+)(?:\.(\d+))?$/;
const MOMENT = /^(\d{4})-(\d\d)-(\d\d)(?:[ T](\d\d):(\d\d):(\d\d)(?:\.(\d{1,6}))?)?$/;
const DAY_MS = 86_400_000;

/** Bytes of `paddedDecimal`: sign, digits before the point (at least one), point, digits after it. */
export function decimalLength({ precision, scale }: Decimal): number {
  return 1 + Math.max(1, precision - scale) + (scale > 0 ? 1 + scale : 0);
}

/**
 * "-0012.50": of one length whatever the value, which both servers read as the number that it is. Throws RangeError on
 * what does not fit; digits beyond the scale are an error of the caller, a number's are rounded.
 */
export function paddedDecimal(type: Decimal, value: ParamValue): string {
  const { precision, scale } = type;
  const text = typeof value === "number" ? value.toFixed(scale) : String(value);
  const [, sign = "", whole = "", fraction = ""] = DECIMAL.exec(text) ?? [];
  const width = Math.max(1, precision - scale);
  const digits = whole.replace(/^0+(?=\d)/, "");
  if (whole === "" || digits.length > width || fraction.length > scale)
    throw new RangeError(`${text}: no decimal(${precision},${scale})`);
  return `${sign === "-" ? "-" : "0"}${digits.padStart(width, "0")}${scale > 0 ? `.${fraction.padEnd(scale, "0")}` : ""}`;
}

export interface Moment {
  year: number;
  month: number;
  day: number;
  hour: number;
  minute: number;
  second: number;
  micros: number;
  /** Whole days from 2000-01-01 to its day. */
  days: number;
}

/** Of a date or a timestamp, without a time zone. Throws RangeError on what is none. */
export function moment(value: ParamValue): Moment {
  const parts = MOMENT.exec(String(value));
  const [year, month, day, hour, minute, second] = (parts ?? []).slice(1, 7).map((part) => Number(part ?? 0));
  const at = Date.UTC(year ?? 0, (month ?? 0) - 1, day ?? 0);
  if (parts === null || !new Date(at).toISOString().startsWith(`${parts[1]}-${parts[2]}-${parts[3]}`))
    throw new RangeError(`${value}: no date or timestamp`);
  return {
    year: year as number,
    month: month as number,
    day: day as number,
    hour: hour as number,
    minute: minute as number,
    second: second as number,
    micros: Number((parts[7] ?? "").padEnd(6, "0")),
    days: (at - Date.UTC(2000, 0, 1)) / DAY_MS,
  };
}

/** Microseconds from 2000-01-01. */
export function microseconds({ days, hour, minute, second, micros }: Moment): bigint {
  return BigInt(days) * 86_400_000_000n + BigInt((hour * 60 + minute) * 60 + second) * 1_000_000n + BigInt(micros);
}

/** What stands in a packet until it is set. */
export function initial(type: ParamType): ParamValue | null {
  switch (type.type) {
    case "date":
    case "timestamp":
      return "2000-01-01";
    case "decimal":
    case "bigint":
      return 0;
    case "varchar":
      return "";
    default:
      return null;
  }
}

/**
 * The number that a server's digits stand for, and the digits themselves where a number would be another one: integers
 * beyond 2^53, decimals of more than 15 digits.
 */
export function exactNumber(text: string): number | string {
  const value = Number(text);
  const digits = text.replace(/[-.]/g, "").replace(/^0+/, "").length;
  return digits <= 15 || (Number.isSafeInteger(value) && String(value) === text) ? value : text;
}

/** A timestamp as every server's answers give it here: no fraction, or six digits of it. */
export function timestampText(text: string): string {
  return text.replace(/\.\d+$/, (fraction) => (/[1-9]/.test(fraction) ? fraction.padEnd(7, "0") : ""));
}
