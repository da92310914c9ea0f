// Proves: the answers to statements that were sent together are told apart wherever the bytes are cut; each is told
// once, with the place where it ends, and what the server does behind a failure is followed.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { AnswerReader } from "../../../workloads/drivers/mysql/reader.ts";
import { PostgresReader } from "../../../workloads/drivers/postgres/reader.ts";
import { together } from "../../../workloads/engine/part/together.ts";
import type { Op, Plan } from "../../../workloads/engine/plan.ts";
import { control, execute, pipeline } from "../../../workloads/ops.ts";

/** One packet per payload, numbered from 1. */
const packets = (...payloads: (number[] | Buffer)[]): Buffer =>
  Buffer.concat(
    payloads.map((payload, i) => Buffer.concat([Buffer.from([payload.length, 0, 0, i + 1]), Buffer.from(payload)])),
  );
const EOF = [0xfe, 0, 0, 2, 0];
const OK = (affected: number): Buffer => packets([0, affected, 0, 2, 0, 0, 0]);
const ERR = packets(Buffer.concat([Buffer.from([0xff, 0x26, 0x04]), Buffer.from("#23000Duplicate")]));
const rows = (n: number): Buffer =>
  packets([1], Buffer.alloc(24, 3), EOF, ...Array.from({ length: n }, () => [0, 0, 7]), EOF);

const message = (type: string, body: Buffer = Buffer.alloc(0)): Buffer => {
  const head = Buffer.alloc(5);
  head.write(type, 0, "latin1");
  head.writeInt32BE(4 + body.length, 1);
  return Buffer.concat([head, body]);
};
const BOUND = message("2");
const DATA = message("D", Buffer.from([0, 1, 0, 0, 0, 1, 0x37]));
const complete = (tag: string): Buffer => message("C", Buffer.from(`${tag}\0`));
const READY = message("Z", Buffer.from("I"));
const FAILED = message("E", Buffer.from("SERROR\0C23505\0Mduplicate\0\0"));

type Told = (string | number)[];
function fed(reader: { feed(b: Uint8Array, n: number): void }, bytes: Buffer, cuts: readonly number[]): void {
  const places = [...new Set([...cuts.map((cut) => cut % bytes.length), bytes.length])].toSorted((a, b) => a - b);
  let from = 0;
  for (const to of places) {
    // The buffer of the socket is filled anew each time.
    const chunk = Buffer.alloc(65_536, 0xee);
    bytes.copy(chunk, 0, from, to);
    if (to > from) reader.feed(chunk, to - from);
    from = to;
  }
}
const cuts = fc.array(fc.nat(10_000), { maxLength: 40 });

test("MySQL: every answer of a group, those behind an error too", () => {
  fc.assert(
    fc.property(cuts, (places) => {
      const answers = [rows(2), OK(3), ERR, rows(0), OK(0)];
      const told: Told[] = [];
      const reader: AnswerReader = new AnswerReader(
        {
          answered: (n, affected) => told.push(["answered", n, affected, reader.position]),
          refused: (code) => told.push(["refused", code, reader.position]),
          prepared: () => told.push(["prepared"]),
          garbled: (reason) => told.push([reason]),
        },
        { deprecateEof: false, cacheMetadata: false },
      );
      reader.expectAnswers(answers.length);
      fed(reader, Buffer.concat(answers), places);
      const ends = answers.map((_, i) => answers.slice(0, i + 1).reduce((n, { length }) => n + length, 0));
      assert.deepEqual(told, [
        ["answered", 2, 0, ends[0]],
        ["answered", 0, 3, ends[1]],
        ["refused", 1062, ends[2]],
        ["answered", 0, 0, ends[3]],
        ["answered", 0, 0, ends[4]],
      ]);
      assert.equal(reader.idle, true);
      // The next statement alone, and bytes that nobody asked for behind it.
      reader.expectAnswer();
      fed(reader, Buffer.concat([OK(1), OK(1)]), []);
      assert.deepEqual(told.at(-1), ["bytes after the end of an answer"]);
    }),
  );
});

test("PostgreSQL: the last answer waits for ReadyForQuery, and nothing comes behind an error", () => {
  fc.assert(
    fc.property(cuts, fc.boolean(), (places, fails) => {
      const select = Buffer.concat([BOUND, DATA, DATA, complete("SELECT 2")]);
      const update = Buffer.concat([BOUND, complete("UPDATE 3")]);
      const end = fails
        ? Buffer.concat([BOUND, FAILED, READY])
        : Buffer.concat([BOUND, DATA, complete("SELECT 1"), READY]);
      const told: Told[] = [];
      const reader: PostgresReader = new PostgresReader({
        answered: (n, affected) => told.push(["answered", n, affected, reader.position]),
        refused: ({ code }) => told.push(["refused", code, reader.position]),
        garbled: (reason) => told.push([reason]),
      });
      reader.expectGroup(fails ? 5 : 3);
      const whole = Buffer.concat([select, update, end]);
      fed(reader, whole, places);
      assert.deepEqual(told, [
        ["answered", 2, 0, select.length],
        ["answered", 0, 3, select.length + update.length],
        fails ? ["refused", "23505", whole.length] : ["answered", 1, 0, whole.length],
      ]);
      // In step: the next one alone.
      reader.expect();
      fed(reader, Buffer.concat([BOUND, complete("UPDATE 1"), READY]), []);
      assert.deepEqual(told.at(-1)?.slice(0, 3), ["answered", 0, 1]);
    }),
  );
});

test("what is sent together: where a server goes on behind a failure, no write of a transaction is sent ahead", () => {
  const read = execute("read", 0, () => {});
  const write = execute("write", 1, () => {});
  const plan = (ops: Op[], transaction: boolean): Plan => ({
    templates: [],
    tables: 1,
    transaction,
    readOnly: false,
    ops,
  });
  const ahead = (ops: Op[], transaction: boolean, how: "none" | "goes-on" | "skips"): number[] | null => {
    const counts = together(plan(ops, transaction), how);
    return counts === null ? null : [...counts];
  };
  const whole = pipeline([control("BEGIN"), read, read, write, read, control("COMMIT")]);
  assert.deepEqual(ahead(whole, true, "skips"), [6, 5, 4, 3, 2, 1]);
  assert.deepEqual(ahead(whole, true, "goes-on"), [3, 2, 1, 2, 1, 1]);
  assert.deepEqual(ahead(pipeline([control("BEGIN"), write, read]), true, "goes-on"), [3, 2, 1]);
  assert.deepEqual(ahead(pipeline([write, write, read]), false, "goes-on"), [3, 2, 1]);
  assert.deepEqual(ahead([read, ...pipeline([read, read]), read], false, "skips"), [1, 2, 1, 1]);
  assert.equal(ahead(whole, true, "none"), null);
  assert.equal(ahead([read, write], true, "skips"), null);
});
