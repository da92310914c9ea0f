// Proves: the parts of the load that need no server.
import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import fc from "fast-check";
import type { RunSpec } from "../../../workloads/contract.ts";
import { runSpecSchema } from "../../../workloads/contract.ts";
import { Random } from "../../../workloads/engine/random.ts";
import { CHUNK_ROWS, chunkRows, cutTable, missingChunks } from "../../../workloads/prepare/chunks.ts";
import { loadOrder } from "../../../workloads/prepare/endpoint.ts";
import { readPassword } from "../../../workloads/secrets.ts";
import { describe as describeError, isTransient } from "../../../workloads/sql-session.ts";
import { dataOf } from "../../../workloads/steps.ts";
import { ROW_BYTES, writeRows } from "../../../workloads/sysbench/rows.ts";
import type { Table } from "../../../workloads/workload.ts";

function spec(data: object = {}, steps: object[] = [{ workload: "oltp_read_only", threads: 1 }]): RunSpec {
  return runSpecSchema.parse({
    runId: "t",
    target: { driver: "mysql", endpoints: [{ name: "a", host: "127.0.0.1", port: 1 }], user: "u" },
    data,
    steps,
  });
}

test("rows have sysbench's shape in both formats, and the buffer is large enough", () => {
  const text = /^(\d+)\t(\d+)\t(\d{11}-){9}\d{11}\t(\d{11}-){4}\d{11}$/;
  const values = /^\((\d+),(\d+),'(\d{11}-){9}\d{11}','(\d{11}-){4}\d{11}'\)$/;
  fc.assert(
    fc.property(
      fc.nat(),
      fc.integer({ min: 1, max: 2_147_483_000 }),
      fc.integer({ min: 1, max: 30 }),
      (seed, first, rows) => {
        const buffer = Buffer.alloc(rows * ROW_BYTES);
        for (const [format, shape, split] of [
          ["text", text, "\n"],
          ["values", values, /(?<=\)),/],
        ] as const) {
          const end = writeRows(buffer, format, first, first + rows - 1, new Random(seed, 1), () => 2_147_483_647);
          const lines = buffer.toString("latin1", 0, end - 1).split(split);
          assert.equal(lines.length, rows);
          lines.forEach((line, i) => {
            const fields = shape.exec(line);
            assert.ok(fields, line);
            assert.deepEqual([fields[1], fields[2]], [String(first + i), "2147483647"]);
          });
        }
      },
    ),
  );
});

test("the same seed gives the same rows, another chunk others", () => {
  const rows = (seed: number, chunk: number): string => {
    const buffer = Buffer.alloc(5 * ROW_BYTES);
    return buffer.toString(
      "latin1",
      0,
      writeRows(buffer, "text", 1, 5, new Random(seed, 3, chunk), () => 1),
    );
  };
  assert.equal(rows(7, 0), rows(7, 0));
  assert.notEqual(rows(7, 0), rows(7, 1));
  assert.notEqual(rows(7, 0), rows(8, 0));
});

test("digits are uniform: chi-square over each place of c, fixed seed", () => {
  const buffer = Buffer.alloc(ROW_BYTES);
  const random = new Random(11, 5);
  const counts = Array.from({ length: 11 }, () => new Array<number>(10).fill(0));
  const draws = 20_000;
  for (let i = 0; i < draws; i++) {
    writeRows(buffer, "text", 1, 1, random, () => 1);
    for (let place = 0; place < 11; place++) counts[place]![buffer[4 + place]! - 48]!++;
  }
  for (const place of counts) {
    const chi = place.reduce((sum, n) => sum + (n - draws / 10) ** 2 / (draws / 10), 0);
    // 9 degrees of freedom, p = 0.001
    assert.ok(chi < 27.88, `chi-square ${chi}`);
  }
});

test("chunks cover a table once, without gaps", () => {
  fc.assert(
    fc.property(fc.nat({ max: 200_000 }), fc.integer({ min: 1, max: 30_000 }), (size, rows) => {
      fc.pre(size / rows < 5000);
      let next = 1;
      for (const chunk of cutTable(1, size, rows)) {
        assert.equal(chunk.first, next);
        assert.ok(chunk.last >= chunk.first && chunk.last - chunk.first < rows);
        next = chunk.last + 1;
      }
      assert.equal(next, size + 1);
    }),
  );
});

test("a half-loaded table is continued when whole chunks are missing, else it is made anew", () => {
  const chunks = cutTable(1, 95, 10);
  const indexes = (present: [number, number][]): number[] | undefined =>
    missingChunks(chunks, new Map(present))?.map((chunk) => chunk.index);
  assert.deepEqual(indexes([]), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  assert.deepEqual(
    indexes([
      [0, 10],
      [3, 10],
      [9, 5],
    ]),
    [1, 2, 4, 5, 6, 7, 8],
  );
  assert.equal(
    indexes([
      [0, 10],
      [1, 9],
    ]),
    undefined,
  );
  assert.equal(indexes([[9, 10]]), undefined);
  assert.equal(indexes([[10, 1]]), undefined);
  assert.equal(indexes([[-1, 1]]), undefined);
});

test("chunks keep within Galera's writeset limits", () => {
  assert.equal(chunkRows(undefined, ROW_BYTES), CHUNK_ROWS);
  assert.equal(chunkRows({ maxRows: 0, maxBytes: 2_147_483_647 }, ROW_BYTES), CHUNK_ROWS);
  assert.equal(chunkRows({ maxRows: 500, maxBytes: 2_147_483_647 }, ROW_BYTES), 500);
  assert.ok(chunkRows({ maxRows: 0, maxBytes: 1_048_576 }, ROW_BYTES) * 200 < 1_048_576);
  assert.equal(chunkRows({ maxRows: 0, maxBytes: 1 }, ROW_BYTES), 1);
});

test("k is drawn within 1..table_size, by the type that is asked for", () => {
  const random = new Random(3);
  const shareAtCentre = (options: object): number => {
    const [table] = dataOf(spec({ tableSize: 1000, options })).tables;
    const buffer = Buffer.alloc(table!.rows!.bytes);
    let centre = 0;
    for (let i = 0; i < 10_000; i++) {
      const end = table!.rows!.write(buffer, "text", 1, 1, random);
      const k = Number(buffer.toString("latin1", 0, end).split("\t")[1]);
      assert.ok(Number.isInteger(k) && k >= 1 && k <= 1000, String(k));
      if (Math.abs(k - 500) <= 10) centre++;
    }
    return centre / 10_000;
  };
  assert.ok(shareAtCentre({}) > 0.7);
  assert.ok(shareAtCentre({ "rand-type": "uniform" }) < 0.05);
  assert.throws(
    () => dataOf(spec({ options: { "rand-type": "poisson" } })),
    /data\.options\.rand-type: "poisson"; expected one of special, uniform/,
  );
});

test("options by sysbench's names shape the tables; nonsense is named", () => {
  const first = (options: object, driver = "mysql"): Table =>
    dataOf({ ...spec({ options }), target: { driver: driver as "mysql" } }).tables[0]!;
  const plain = first({});
  assert.deepEqual(
    [plain.name, plain.columns[0]!.autoIncrement, plain.primaryKey, plain.indexes, plain.laterIndexes, plain.storage],
    ["sbtest1", true, ["id"], [], [{ name: "k_1", columns: ["k"] }], "innodb"],
  );
  const other = {
    "auto-inc": "off",
    secondary: "on",
    create_secondary: 0,
    mysql_storage_engine: "rocksdb",
    create_table_options: "ROW_FORMAT=COMPRESSED",
  };
  const changed = first(other);
  assert.deepEqual(
    [changed.columns[0]!.autoIncrement, changed.primaryKey, changed.indexes, changed.laterIndexes],
    [false, undefined, [{ name: "xid", columns: ["id"] }], []],
  );
  assert.deepEqual(
    [changed.unwantedIndexes, changed.storage, changed.tail],
    [[{ name: "k_1", columns: ["k"] }], "rocksdb", "ROW_FORMAT=COMPRESSED"],
  );
  assert.equal(first(other, "postgres").indexes![0]!.name, "xid_1");
  assert.throws(() => first({ auto_inc: "maybe" }), /data\.options\.auto_inc: "maybe"; expected on or off/);
  assert.throws(() => first({ mysql_storage_engine: "x; DROP TABLE y" }), /data\.options\.mysql_storage_engine: "x;/);
  assert.throws(() => first({ create_table_options: "x; DROP TABLE y" }), /data\.options\.create_table_options: "x;/);
  assert.throws(() => first({ table_size: 5 }), /data\.options\.table_size: .*expected in data\.tableSize/);
  assert.throws(
    () => first({ rand_typ: "uniform" }),
    /data\.options\.rand_typ: unknown option; expected one of .*did you mean rand_type/,
  );
});

test("bulk_insert has a table for each thread, and none with the other workloads", () => {
  const bulk = (threads: number): object => ({ workload: "bulk_insert", threads });
  const { tables } = dataOf(spec({}, [bulk(2), bulk(8)]));
  assert.deepEqual([tables.length, tables[7]!.name, tables[7]!.rows], [8, "sbtest8", undefined]);
  assert.throws(
    () => dataOf(spec({}, [bulk(2), { workload: "oltp_insert", threads: 2 }])),
    /^Error: steps: bulk_insert and oltp_insert, which need different tables; expected them in specs with different/,
  );
});

test("data goes through a primary before any, a proxy and a replica", () => {
  const endpoint = (
    role: "any" | "primary" | "replica" | "proxy",
  ): { name: string; host: string; port: number; role: typeof role } => ({ name: role, host: "h", port: 1, role });
  assert.deepEqual(
    loadOrder([endpoint("replica"), endpoint("proxy"), endpoint("any"), endpoint("primary")]).map((e) => e.role),
    ["primary", "any", "proxy", "replica"],
  );
});

test("errors become one line that says what to do", () => {
  const line = (error: object): string =>
    describeError(
      Object.assign(new Error("m"), error),
      { host: "h", port: 2 },
      { user: "u", database: "d", tls: { mode: "off" } },
    );
  assert.match(line({ errno: 1114, code: "ER_RECORD_FILE_FULL" }), /h:2: no space left for the data \(1114/);
  assert.match(line({ code: "53100" }), /no space left/);
  assert.match(line({ errno: 1045 }), /refuses user "u" with this password/);
  assert.match(line({ code: "3D000" }), /no database "d"/);
  assert.match(line({ code: "ECONNREFUSED" }), /nothing listens there/);
  assert.ok(
    isTransient({ errno: 1213, message: "" }) &&
      isTransient({ code: "40001", message: "" }) &&
      !isTransient({ errno: 1062, message: "" }),
  );
});

test("the password comes from a private file or the environment", () => {
  const directory = mkdtempSync(join(tmpdir(), "meshbench-secret-"));
  const file = join(directory, "password");
  try {
    writeFileSync(file, "s3 cret\nsecond line\n", { mode: 0o600 });
    assert.equal(readPassword({ passwordFile: file }, { MESHBENCH_DB_PASSWORD: "other" }), "s3 cret");
    assert.equal(readPassword({}, { MESHBENCH_DB_PASSWORD: "other" }), "other");
    assert.equal(readPassword({}, {}), "");
    chmodSync(file, 0o644);
    assert.throws(
      () => readPassword({ passwordFile: file }, {}),
      (error: Error) => error.message.includes("0644") && !error.message.includes("s3"),
    );
    assert.throws(() => readPassword({ passwordFile: `${file}.no` }, {}), /target\.passwordFile: .*ENOENT/);
  } finally {
    rmSync(directory, { recursive: true });
  }
});
