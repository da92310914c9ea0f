// Proves: the reader counts the same whatever way the bytes are split, and tells nonsense from answers. No server.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { decodeAnswer } from "../../../workloads/drivers/postgres/decode.ts";
import {
  affectedRows,
  ExecuteMessage,
  numbered,
  parseError,
  prepareMessages,
} from "../../../workloads/drivers/postgres/messages.ts";
import { PostgresReader } from "../../../workloads/drivers/postgres/reader.ts";

function message(type: string, body: Uint8Array | string): Buffer {
  const bytes = Buffer.from(body as string);
  const head = Buffer.alloc(5);
  head[0] = type.charCodeAt(0);
  head.writeInt32BE(bytes.length + 4, 1);
  return Buffer.concat([head, bytes]);
}

function row(...values: (string | null)[]): Buffer {
  const parts: Buffer[] = [Buffer.from([0, values.length])];
  for (const value of values) {
    const length = Buffer.alloc(4);
    length.writeInt32BE(value === null ? -1 : Buffer.byteLength(value));
    parts.push(length, Buffer.from(value ?? ""));
  }
  return message("D", Buffer.concat(parts));
}

const ready = (state: string): Buffer => message("Z", state);
const error = (code: string, severity = "ERROR"): Buffer =>
  message("E", `S${severity}\0V${severity}\0C${code}\0Mno good\0\0`);

/**
 * Feeds the stream cut at the given places, through a buffer that is overwritten after each call, as the socket's is.
 */
function walk(stream: Buffer, cuts: number[], expected = 1): string[] {
  const events: string[] = [];
  const reader: PostgresReader = new PostgresReader({
    answered: (rows, affected) => {
      events.push(`ok ${rows} ${affected}`);
      if (--expected > 0) reader.expect();
    },
    refused: ({ code }, open) => {
      events.push(`error ${code} ${open}`);
      if (--expected > 0) reader.expect();
    },
    garbled: () => events.push("garbled"),
  });
  reader.expect();
  const shared = Buffer.alloc(stream.length);
  const places = [0, ...cuts.map((cut) => cut % (stream.length + 1)).sort((a, b) => a - b), stream.length];
  for (let i = 1; i < places.length; i++) {
    const length = stream.copy(shared, 0, places[i - 1], places[i]);
    if (length > 0) reader.feed(shared, length);
    shared.fill(0xee);
  }
  return events;
}

const filler = fc.constantFrom(
  message("N", "VNOTICE\0C00000\0Mhello\0\0"),
  message("S", "TimeZone\0UTC\0"),
  message("A", "\0\0\0\x01x\0\0"),
);
const answer = fc.oneof(
  fc.array(fc.string({ maxLength: 300 }), { maxLength: 40 }).map((values) => ({
    bytes: Buffer.concat([
      message("2", ""),
      ...values.map((value) => row(value)),
      message("C", `SELECT ${values.length}\0`),
      ready("I"),
    ]),
    event: `ok ${values.length} 0`,
  })),
  fc.nat({ max: 100_000 }).map((n) => ({
    bytes: Buffer.concat([message("2", ""), message("C", `UPDATE ${n}\0`), ready("T")]),
    event: `ok 0 ${n}`,
  })),
  // An error in the middle of a result.
  fc.nat({ max: 5 }).map((n) => ({
    bytes: Buffer.concat([
      message("2", ""),
      ...Array.from({ length: n }, () => row("x", null)),
      error("40001"),
      ready("E"),
    ]),
    event: "error 40001 true",
  })),
);

test("answers count the same at every split, with notices in between", () => {
  fc.assert(
    fc.property(
      fc.array(answer, { minLength: 1, maxLength: 6 }),
      fc.array(filler, { maxLength: 3 }),
      fc.array(fc.nat(), { maxLength: 20 }),
      (answers, fillers, cuts) => {
        const stream = Buffer.concat(answers.flatMap(({ bytes }, i) => [fillers[i] ?? Buffer.alloc(0), bytes]));
        assert.deepEqual(
          walk(stream, cuts, answers.length),
          answers.map(({ event }) => event),
        );
      },
    ),
  );
});

test("one answer split at every single byte", () => {
  const stream = Buffer.concat([
    message("T", Buffer.from([0, 0])),
    row("abc"),
    row(null),
    message("C", "SELECT 2\0"),
    ready("I"),
  ]);
  for (let cut = 0; cut <= stream.length; cut++) assert.deepEqual(walk(stream, [cut]), ["ok 2 0"], `cut at ${cut}`);
  assert.deepEqual(walk(stream, Array.from(stream.keys())), ["ok 2 0"]);
});

test("a row of 20 MB is passed over without being kept", () => {
  const stream = Buffer.concat([row("x".repeat(20_000_000)), message("C", "SELECT 1\0"), ready("I")]);
  assert.deepEqual(walk(stream, [65_536, 1_000_000, 19_999_999]), ["ok 1 0"]);
});

test("random bytes never throw and never count as more than one answer", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 400 }), fc.array(fc.nat(), { maxLength: 5 }), (bytes, cuts) => {
      assert.ok(walk(Buffer.from(bytes), cuts).length <= 2);
    }),
    { numRuns: 500 },
  );
});

test("what nobody asked for, impossible lengths and copy requests drop the connection", () => {
  const idleRow = Buffer.concat([message("C", "BEGIN\0"), ready("T"), row("x")]);
  assert.deepEqual(walk(idleRow, []), ["ok 0 0", "garbled"]);
  assert.deepEqual(walk(Buffer.from([0x44, 0, 0, 0, 3, 0]), []), ["garbled"]);
  assert.deepEqual(walk(message("G", Buffer.from([0, 0, 0])), []), ["garbled"]);
  assert.deepEqual(walk(Buffer.from([0x43, 0x7f, 0xff, 0xff, 0xff]), []), ["garbled"]);
});

test("a session that the server ends leaves its reason", () => {
  const reader = new PostgresReader({ answered: assert.fail, refused: assert.fail, garbled: assert.fail });
  reader.expect();
  const bytes = error("57P01", "FATAL");
  reader.feed(bytes, bytes.length);
  assert.equal(reader.pendingError?.code, "57P01");
});

test("affected rows come from the tags that change rows only", () => {
  const affected = (tag: string): number => affectedRows(Buffer.from(`${tag}\0`), 0, tag.length + 1);
  assert.deepEqual(
    ["INSERT 0 7", "UPDATE 120", "DELETE 0", "SELECT 5", "BEGIN", "DROP TABLE", "MERGE 3"].map(affected),
    [7, 120, 0, 0, 0, 0, 3],
  );
});

test("parameters are written at their places", () => {
  const spec = {
    sql: "UPDATE t SET c=? WHERE id=?",
    params: [{ type: "text", length: 3 }, { type: "int" }],
    kind: "write",
  } as const;
  const packet = new ExecuteMessage("mb12", spec);
  packet.place(0).set(Buffer.from("abc"));
  fc.assert(
    fc.property(fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }), (id) => {
      packet.setInt(1, id);
      const bind = packet.bytes;
      assert.equal(bind[0], 0x42);
      assert.equal(bind.toString("latin1", 5, 11), "\0mb12\0");
      assert.deepEqual([...bind.subarray(11, 19)], [0, 2, 0, 0, 0, 1, 0, 2]);
      assert.equal(bind.readInt32BE(19), 3);
      assert.equal(bind.toString("latin1", 23, 26), "abc");
      assert.equal(bind.readInt32BE(26), 4);
      assert.equal(bind.readInt32BE(30), id);
      assert.equal(bind.readInt32BE(1) + 1, 36);
      assert.equal(bind.toString("latin1", 36, 37), "E");
    }),
  );
  assert.equal(numbered(spec.sql), "UPDATE t SET c=$1 WHERE id=$2");
  assert.ok(prepareMessages([spec], ["mb1"]).includes("c=$1 WHERE id=$2"));
});

test("rows decode by their column types", () => {
  const column = (name: string, type: number): Buffer => {
    const rest = Buffer.alloc(18);
    rest.writeInt32BE(type, 6);
    return Buffer.concat([Buffer.from(`${name}\0`), rest]);
  };
  const description = message(
    "T",
    Buffer.concat([Buffer.from([0, 3]), column("id", 23), column("c", 1042), column("sum", 1700)]),
  );
  const stream = Buffer.concat([
    description,
    row("5", "ab  ", "123"),
    row("-1", null, "0.5"),
    message("C", "SELECT 2\0"),
    ready("I"),
  ]);
  assert.deepEqual(decodeAnswer(stream, []), [
    [5, "ab", 123],
    [-1, null, 0.5],
  ]);
});

test("an error's fields are read", () => {
  const bytes = error("23505");
  assert.deepEqual(parseError(bytes, 5, bytes.length), { severity: "ERROR", code: "23505", message: "no good" });
});
