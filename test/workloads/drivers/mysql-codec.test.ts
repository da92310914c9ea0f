/** The fast path's codec against packets built from the protocol's documentation, cut at every place. */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { ResultSet } from "../../../harness/servers/mysql-answers.ts";
import { errPayload, okPayload, packet, prepareAnswer, resultSet } from "../../../harness/servers/mysql-answers.ts";
import type { AnswerFormat, AnswerSink } from "../../../workloads/drivers/mysql/answer.ts";
import { decodeAnswer, decodePrepares } from "../../../workloads/drivers/mysql/decode.ts";
import { Negotiation } from "../../../workloads/drivers/mysql/negotiation.ts";
import { ExecutePacket, preparePacket, queryPacket } from "../../../workloads/drivers/mysql/packets.ts";
import { AnswerReader } from "../../../workloads/drivers/mysql/reader.ts";

class Log implements AnswerSink {
  readonly events: string[] = [];
  answered(rows: number, affected: number): void {
    this.events.push(`answered ${rows} ${affected}`);
  }
  refused(code: number, state: string, message: string): void {
    this.events.push(`refused ${code} ${state} ${message}`);
  }
  prepared(id: number, parameters: number): void {
    this.events.push(`prepared ${id} ${parameters}`);
  }
  garbled(reason: string): void {
    this.events.push(`garbled ${reason}`);
  }
}

/** Feeds the bytes in pieces through one buffer that is overwritten, as the shared read buffer is. */
function read(bytes: Buffer, cuts: number[], format: AnswerFormat, expect: (reader: AnswerReader) => void): string[] {
  const log = new Log();
  const reader = new AnswerReader(log, format);
  expect(reader);
  const shared = Buffer.alloc(Math.max(1, bytes.length));
  let from = 0;
  for (const to of [...cuts.filter((c) => c > 0 && c < bytes.length).toSorted((a, b) => a - b), bytes.length]) {
    if (to === from) continue;
    shared.fill(0xee);
    bytes.copy(shared, 0, from, to);
    reader.feed(shared, to - from);
    from = to;
  }
  return log.events;
}

const answer = (reader: AnswerReader): void => reader.expectAnswer();
const LONG = 3;
const STRING = 254;
const C = `${"12345678901-".repeat(9)}12345678901`;

const sets: Record<string, ResultSet> = {
  "one row": { columns: [{ name: "c", type: STRING }], rows: [[C]] },
  "no row": { columns: [{ name: "c", type: STRING }], rows: [] },
  "a hundred rows": { columns: [{ name: "c", type: STRING }], rows: Array.from({ length: 100 }, () => [C]) },
  "four columns, a null": {
    columns: [
      { name: "id", type: LONG },
      { name: "k", type: LONG },
      { name: "c", type: STRING },
      { name: "pad", type: STRING },
    ],
    rows: [
      [1, -2, C, null],
      [3, 4, "", "x"],
    ],
  },
};

const PLAIN: AnswerFormat = { deprecateEof: false, cacheMetadata: false };
const FORMATS: AnswerFormat[] = [
  PLAIN,
  { deprecateEof: true, cacheMetadata: false },
  { deprecateEof: false, cacheMetadata: true },
  { deprecateEof: true, cacheMetadata: true },
];

for (const format of FORMATS) {
  const { deprecateEof, cacheMetadata } = format;
  const named = `${deprecateEof ? "without" : "with"} EOF packets${cacheMetadata ? ", definitions may be left out" : ""}`;
  for (const binary of [false, true]) {
    for (const [name, set] of Object.entries(sets)) {
      const { bytes } = resultSet(set, binary, format);
      test(`${name}, ${binary ? "binary" : "text"}, ${named}: the same however the bytes are cut`, () => {
        const expected = [`answered ${set.rows.length} 0`];
        const everyByte = Array.from({ length: bytes.length }, (_, i) => i);
        assert.deepEqual(read(bytes, [], format, answer), expected);
        assert.deepEqual(read(bytes, everyByte, format, answer), expected);
        for (let cut = 1; cut < Math.min(bytes.length, 800); cut++)
          assert.deepEqual(read(bytes, [cut], format, answer), expected, `cut at ${cut}`);
        fc.assert(
          fc.property(fc.array(fc.nat(bytes.length)), (cuts) => {
            assert.deepEqual(read(bytes, cuts, format, answer), expected);
          }),
          { numRuns: 100, seed: 1 },
        );
      });
      test(`${name}, ${binary ? "binary" : "text"}, ${named}: decoded rows are the sent ones`, () => {
        assert.deepEqual(decodeAnswer(bytes, binary, format), set.rows);
      });
    }
  }

  test(`an error in the middle of a result, ${named}`, () => {
    const set: ResultSet = {
      columns: [{ name: "c", type: STRING }],
      rows: [[C], [C], [C]],
      error: { code: 1317, state: "70100", message: "Query execution was interrupted" },
    };
    const { bytes } = resultSet(set, true, format);
    const expected = ["refused 1317 70100 Query execution was interrupted"];
    for (let cut = 0; cut < bytes.length; cut++)
      assert.deepEqual(read(bytes, [cut], format, answer), expected, `cut at ${cut}`);
    assert.equal(decodeAnswer(bytes, true, format).length, 3);
  });

  test(`a row of 16 MiB and one of twice that count once each, ${named}`, () => {
    const cells = [0xff_ffff - 5, 0xff_ffff - 4, 2 * 0xff_ffff + 17].map((length) => ["x".repeat(length)]);
    const { bytes } = resultSet(
      { columns: [{ name: "c", type: STRING }], rows: [["a"], ...cells, ["b"]] },
      true,
      format,
    );
    const cuts = [10, 0xff_ffff, 0xff_ffff + 3, 2 * 0xff_ffff, 3 * 0xff_ffff + 1, bytes.length - 5];
    assert.deepEqual(read(bytes, cuts, format, answer), ["answered 5 0"]);
    assert.deepEqual(
      decodeAnswer(bytes, true, format).map(([c]) => String(c).length),
      [1, ...cells.map(([c]) => c!.length), 1],
    );
  });

  test(`several results in one answer are counted together, ${named}`, () => {
    const one = resultSet({ columns: [{ name: "c", type: STRING }], rows: [[C], [C]], more: true }, false, format);
    const two = resultSet({ columns: [{ name: "c", type: STRING }], rows: [[C]], more: true }, false, format, one.next);
    const bytes = Buffer.concat([one.bytes, two.bytes, packet(two.next, okPayload(7))]);
    for (let cut = 0; cut < bytes.length; cut++)
      assert.deepEqual(read(bytes, [cut], format, answer), ["answered 3 7"], `cut at ${cut}`);
  });

  test(`prepare answers that come together, ${named}`, () => {
    const bytes = Buffer.concat([
      prepareAnswer(1, 1, 1, deprecateEof),
      prepareAnswer(2, 0, 0, deprecateEof),
      packet(1, errPayload(1146, "42S02", "no such table")),
      prepareAnswer(70_000, 4, 0, deprecateEof),
      prepareAnswer(5, 0, 3, deprecateEof),
    ]);
    const expected = [
      "prepared 1 1",
      "prepared 2 0",
      "refused 1146 42S02 no such table",
      "prepared 70000 4",
      "prepared 5 0",
    ];
    for (let cut = 0; cut < bytes.length; cut++) {
      assert.deepEqual(
        read(bytes, [cut], format, (reader) => reader.expectPrepares(5)),
        expected,
        `cut at ${cut}`,
      );
    }
  });
}

test("definitions that are left out: the rows are counted, and decoded with the types of the prepare answer", () => {
  for (const format of FORMATS.filter((f) => f.cacheMetadata)) {
    const set = sets["four columns, a null"]!;
    const { bytes } = resultSet(set, true, format, 1, false);
    for (let cut = 0; cut < bytes.length; cut++)
      assert.deepEqual(read(bytes, [cut], format, answer), [`answered ${set.rows.length} 0`], `cut at ${cut}`);
    const types = set.columns.map(({ type }) => ({ type, unsigned: false }));
    assert.deepEqual(decodeAnswer(bytes, true, format, types), set.rows);
  }
  const prepares = Buffer.concat([
    prepareAnswer(1, 2, 1, false),
    packet(1, errPayload(1146, "42S02", "no such table")),
    prepareAnswer(2, 1, 0, false),
    prepareAnswer(3, 0, 2, false),
  ]);
  assert.deepEqual(
    decodePrepares(prepares, PLAIN).map((types) => types.map((t) => t.type)),
    [[254], [], [], [254, 254]],
  );
});

test("the capability is asked for only when the server offers it", () => {
  const greeting = (extended: number, mysql: boolean): Buffer => {
    const b = Buffer.concat([
      Buffer.from([0, 0, 0, 0, 10]),
      Buffer.from("5.5.5-10.11.0-MariaDB\0"),
      Buffer.alloc(13),
      Buffer.alloc(18),
      Buffer.from("123456789012\0"),
    ]);
    const at = b.indexOf(0, 5) + 14;
    b[at] = mysql ? 1 : 0;
    b.writeUInt32LE(extended, at + 14);
    return b;
  };
  const reply = (): Buffer => {
    const b = Buffer.alloc(80);
    b[32] = 8;
    return b;
  };
  for (const [extended, mysql, expected] of [
    [0x1d, false, 0x18],
    [0x0d, false, 0x08],
    [0x1d, true, 0x08],
  ] as const) {
    const negotiation = new Negotiation();
    negotiation.received(greeting(extended, mysql));
    const sent = negotiation.sending(reply());
    assert.equal(sent[32], expected);
    assert.equal(negotiation.cacheMetadata, expected === 0x18);
    const later = reply();
    assert.equal(negotiation.sending(later), later, "later packets pass as they are");
  }
  const plainClient = new Negotiation();
  plainClient.received(greeting(0x1d, false));
  assert.deepEqual(plainClient.sending(Buffer.alloc(80)), Buffer.alloc(80));
});

test("rows of a text result that begin like an end or an error are rows", () => {
  // 0xfe starts a length of 8 bytes: a first column of 16 MiB and more.
  const { bytes } = resultSet(
    { columns: [{ name: "c", type: STRING }], rows: [["y".repeat(0x100_0001)], ["z"]] },
    false,
    PLAIN,
  );
  assert.deepEqual(read(bytes, [100, 0xff_ffff], PLAIN, answer), ["answered 2 0"]);
});

test("OK packets: affected rows of every length, messages behind them", () => {
  for (const affected of [0, 1, 250, 251, 65_535, 65_536, 16_777_216]) {
    const bytes = packet(1, okPayload(affected, 2, 0, "Rows matched: 1"));
    for (let cut = 0; cut < bytes.length; cut++)
      assert.deepEqual(read(bytes, [cut], { deprecateEof: true, cacheMetadata: true }, answer), [
        `answered 0 ${affected}`,
      ]);
  }
});

test("two answers one after the other, the second asked for inside the first one's callback", () => {
  const { bytes } = resultSet(sets["one row"]!, true, PLAIN);
  const seen: string[] = [];
  const reader = new AnswerReader(
    {
      answered(rows) {
        seen.push(`rows ${rows}`);
        if (seen.length === 1) reader.expectAnswer();
      },
      refused: (code) => void seen.push(`refused ${code}`),
      prepared() {},
      garbled: (reason) => void seen.push(reason),
    },
    PLAIN,
  );
  reader.expectAnswer();
  reader.feed(bytes, bytes.length);
  reader.feed(bytes, bytes.length);
  assert.deepEqual(seen, ["rows 1", "rows 1"]);
});

test("bytes that make no sense end in garbled, never in an exception or an endless loop", () => {
  const bad: [string, Buffer][] = [
    ["a packet out of sequence", packet(2, okPayload(0))],
    ["bytes after the answer", Buffer.concat([packet(1, okPayload(0)), Buffer.from([1])])],
    ["a request for a local file", packet(1, Buffer.from([0xfb, 0x61]))],
    ["an empty packet", packet(1, Buffer.alloc(0))],
  ];
  for (const [name, bytes] of bad) {
    const events = read(bytes, [], PLAIN, answer);
    assert.equal(events.length, 1, name);
    assert.match(events[0]!, /^garbled/, name);
  }
  assert.match(read(packet(0, errPayload(4031, "HY000", "timeout")), [], PLAIN, () => {})[0]!, /^garbled/);
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 300 }),
      fc.array(fc.nat(300)),
      fc.constantFrom(...FORMATS),
      fc.boolean(),
      (bytes, cuts, format, prepare) => {
        const events = read(Buffer.from(bytes), cuts, format, (reader) =>
          prepare ? reader.expectPrepares(2) : reader.expectAnswer(),
        );
        assert.ok(events.length <= 40);
      },
    ),
    { numRuns: 3000, seed: 2 },
  );
});

test("COM_STMT_EXECUTE packets are the protocol's, with types the first time only", () => {
  const spec = {
    sql: "INSERT INTO t VALUES (?, ?, ?)",
    kind: "write",
    params: [{ type: "int" }, { type: "text", length: 3 }, { type: "text", length: 300 }],
  } as const;
  const statement = new ExecutePacket(0x01020304, spec, false);
  statement.setInt(0, -2);
  statement.bytes(1).set(Buffer.from("abc"));
  statement.bytes(2).fill(0x7a);
  const values = Buffer.concat([
    Buffer.from([0xfe, 0xff, 0xff, 0xff, 3]),
    Buffer.from("abc"),
    Buffer.from([0xfc, 0x2c, 0x01]),
    Buffer.alloc(300, 0x7a),
  ]);
  const start = Buffer.from([0x17, 4, 3, 2, 1, 0, 1, 0, 0, 0, 0]);
  assert.deepEqual(
    Buffer.from(statement.next()),
    packet(0, Buffer.concat([start, Buffer.from([1, 3, 0, 254, 0, 254, 0]), values])),
  );
  assert.deepEqual(Buffer.from(statement.next()), packet(0, Buffer.concat([start, Buffer.from([0]), values])));
  const always = new ExecutePacket(1, { sql: "SELECT ?", kind: "read", params: [{ type: "int" }] }, true);
  always.next();
  assert.deepEqual(
    Buffer.from(always.next()),
    packet(0, Buffer.from([0x17, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 3, 0, 0, 0, 0, 0])),
  );
  const bare = new ExecutePacket(9, { sql: "BEGIN", kind: "control", params: [] }, false);
  assert.deepEqual(Buffer.from(bare.next()), packet(0, Buffer.from([0x17, 9, 0, 0, 0, 0, 1, 0, 0, 0])));
  assert.deepEqual(Buffer.from(queryPacket("SELECT 1")), packet(0, Buffer.from("\x03SELECT 1")));
  assert.deepEqual(Buffer.from(preparePacket("SELECT ?")), packet(0, Buffer.from("\x16SELECT ?")));
  assert.throws(() => queryPacket(Buffer.alloc(0xff_ffff)), /16 MiB/);
});
