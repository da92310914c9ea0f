/**
 * Builds the packets that a MySQL server sends, from the protocol's documentation and not from the codec under test.
 */

export function packet(sequence: number, payload: Uint8Array): Buffer {
  const parts: Buffer[] = [];
  let seq = sequence;
  for (let at = 0; ; at += 0xff_ffff) {
    const piece = payload.subarray(at, at + 0xff_ffff);
    const head = Buffer.alloc(4);
    head.writeUIntLE(piece.length, 0, 3);
    head[3] = seq++ & 0xff;
    parts.push(head, Buffer.from(piece));
    if (piece.length < 0xff_ffff) return Buffer.concat(parts);
  }
}

/** How many packets a payload takes. */
export function packetsOf(payload: Uint8Array): number {
  return Math.floor(payload.length / 0xff_ffff) + 1;
}

export function lenenc(value: number): Buffer {
  if (value < 251) return Buffer.from([value]);
  if (value < 0x1_0000) return Buffer.from([0xfc, value & 0xff, value >> 8]);
  if (value < 0x100_0000) return Buffer.from([0xfd, value & 0xff, (value >> 8) & 0xff, value >> 16]);
  const b = Buffer.alloc(9);
  b[0] = 0xfe;
  b.writeBigUInt64LE(BigInt(value), 1);
  return b;
}

export function text(value: string): Buffer {
  const b = Buffer.from(value);
  return Buffer.concat([lenenc(b.length), b]);
}

const u16 = (n: number): Buffer => Buffer.from([n & 0xff, n >> 8]);

/** @param marker 0x00, or 0xfe where it ends rows under CLIENT_DEPRECATE_EOF */
export function okPayload(affected: number, status = 0x0002, marker = 0x00, info = ""): Buffer {
  return Buffer.concat([Buffer.from([marker]), lenenc(affected), lenenc(0), u16(status), u16(0), Buffer.from(info)]);
}

export function eofPayload(status = 0x0002): Buffer {
  return Buffer.concat([Buffer.from([0xfe]), u16(0), u16(status)]);
}

export function errPayload(code: number, state: string, message: string): Buffer {
  return Buffer.concat([Buffer.from([0xff]), u16(code), Buffer.from(`#${state}${message}`)]);
}

/** @param type column type: 3 LONG, 8 LONGLONG, 246 DECIMAL, 254 STRING */
export function columnPayload(name: string, type: number): Buffer {
  const fixed = Buffer.alloc(13);
  fixed[0] = 0x0c;
  fixed.writeUInt16LE(45, 1);
  fixed.writeUInt32LE(480, 3);
  fixed[7] = type;
  return Buffer.concat([text("def"), text("sbtest"), text("sbtest1"), text("sbtest1"), text(name), text(name), fixed]);
}

export type Cell = string | number | null;

export function textRow(cells: Cell[]): Buffer {
  return Buffer.concat(cells.map((cell) => (cell === null ? Buffer.from([0xfb]) : text(String(cell)))));
}

export function binaryRow(cells: Cell[]): Buffer {
  const bitmap = Buffer.alloc((cells.length + 9) >> 3);
  const values: Buffer[] = [];
  cells.forEach((cell, i) => {
    if (cell === null) bitmap[(i + 2) >> 3]! |= 1 << ((i + 2) & 7);
    else if (typeof cell === "number") {
      const b = Buffer.alloc(4);
      b.writeInt32LE(cell);
      values.push(b);
    } else values.push(text(cell));
  });
  return Buffer.concat([Buffer.from([0x00]), bitmap, ...values]);
}

export interface ResultSet {
  columns: { name: string; type: number }[];
  rows: Cell[][];
  /** An error in place of the end. */
  error?: { code: number; state: string; message: string };
  /** Another result follows. */
  more?: boolean;
}

/** What both sides agreed on. */
export interface AnswerFormat {
  deprecateEof: boolean;
  cacheMetadata: boolean;
}

/**
 * A whole result set, its packets numbered from `sequence`; `definitions` false leaves the columns' out (cacheMetadata
 * only).
 */
export function resultSet(
  set: ResultSet,
  binary: boolean,
  { deprecateEof, cacheMetadata }: AnswerFormat,
  sequence = 1,
  definitions = true,
): { bytes: Buffer; next: number } {
  const count = lenenc(set.columns.length);
  const payloads: Buffer[] = [cacheMetadata ? Buffer.concat([count, Buffer.from([definitions ? 1 : 0])]) : count];
  if (definitions) payloads.push(...set.columns.map((c) => columnPayload(c.name, c.type)));
  if (!deprecateEof) payloads.push(eofPayload());
  for (const row of set.rows) payloads.push(binary ? binaryRow(row) : textRow(row));
  const status = set.more ? 0x000a : 0x0002;
  if (set.error) payloads.push(errPayload(set.error.code, set.error.state, set.error.message));
  else payloads.push(deprecateEof ? okPayload(0, status, 0xfe) : eofPayload(status));
  let next = sequence;
  const parts = payloads.map((payload) => {
    const bytes = packet(next, payload);
    next += packetsOf(payload);
    return bytes;
  });
  return { bytes: Buffer.concat(parts), next };
}

/** The answer to a COM_STMT_PREPARE. */
export function prepareAnswer(id: number, parameters: number, columns: number, deprecateEof: boolean): Buffer {
  const head = Buffer.alloc(12);
  head.writeUInt32LE(id, 1);
  head.writeUInt16LE(columns, 5);
  head.writeUInt16LE(parameters, 7);
  const payloads: Buffer[] = [head];
  for (const group of [parameters, columns]) {
    if (group === 0) continue;
    for (let i = 0; i < group; i++) payloads.push(columnPayload(`x${i}`, 254));
    if (!deprecateEof) payloads.push(eofPayload());
  }
  return Buffer.concat(payloads.map((payload, i) => packet(i + 1, payload)));
}
