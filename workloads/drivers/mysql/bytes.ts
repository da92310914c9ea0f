/** Integers and errors as MySQL's protocol writes them, little-endian. */

export function word(b: Uint8Array, at: number): number {
  return (b[at] ?? 0) | ((b[at + 1] ?? 0) << 8);
}

/** A length-encoded integer. Those above 2^53 lose precision, which no count or length here reaches. */
export function lengthEncoded(b: Uint8Array, at: number): { value: number; next: number } {
  const first = b[at] ?? 0;
  if (first < 0xfb) return { value: first, next: at + 1 };
  const size = first === 0xfc ? 2 : first === 0xfd ? 3 : 8;
  let value = 0;
  for (let i = size; i >= 1; i--) value = value * 256 + (b[at + i] ?? 0);
  return { value, next: at + 1 + size };
}

/**
 * An ERR packet: 0xff, code (2 bytes), then '#' and five characters of SQLSTATE (left out before a session is set up),
 * then the message.
 */
export function parseError(
  b: Uint8Array,
  payload: number,
  length: number,
): { code: number; sqlState: string; message: string } {
  const code = word(b, payload + 1);
  const text = Buffer.from(b.subarray(payload + 3, payload + length)).toString("utf8");
  return text.startsWith("#")
    ? { code, sqlState: text.slice(1, 6), message: text.slice(6) }
    : { code, sqlState: "HY000", message: text };
}
