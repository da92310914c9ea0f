/** Numbers as a reader wants them: three or four figures that mean something, thousands set apart. */

/** One formatter per number of digits: making one costs more than using it a thousand times. */
const formatters = [0, 1, 2, 3].map(
  (digits) => new Intl.NumberFormat("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits }),
);

/** 12345.6 -> "12,346"; 123.45 -> "123.5"; 1.2345 -> "1.23"; null -> "-". */
export function number(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return "-";
  const size = Math.abs(value);
  const digits = size >= 1000 || size === 0 ? 0 : size >= 100 ? 1 : size >= 1 ? 2 : 3;
  return formatters[digits]!.format(value);
}

export function signed(value: number, digits = 1): string {
  return `${value >= 0 ? "+" : "-"}${Math.abs(value).toFixed(digits)}`;
}

/** 4230.95 -> "70m 31s". */
export function duration(seconds: number): string {
  if (seconds < 60) return `${seconds.toFixed(1)}s`;
  const whole = Math.round(seconds);
  const [h, m, s] = [Math.floor(whole / 3600), Math.floor((whole % 3600) / 60), whole % 60];
  return h > 0 ? `${h}h ${m}m` : `${m}m ${s}s`;
}
