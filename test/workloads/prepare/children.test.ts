// Proves on real servers: tables whose rows belong to parents, with composite keys, NULLs, decimals, dates, timestamps
// and texts, are loaded whole by every method; how many rows that is, is known before; a load goes on where it was left.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import fc from "fast-check";
import { z } from "zod";
import { specFor } from "../../../harness/servers/engine.ts";
import type { AnyServer } from "../../../harness/servers/servers.ts";
import { everyServer } from "../../../harness/servers/servers.ts";
import type { RunSpec, RunSpecInput } from "../../../workloads/contract.ts";
import { dialectOf } from "../../../workloads/dialects/index.ts";
import { execute } from "../../../workloads/ops.ts";
import { COMMON } from "../../../workloads/options.ts";
import { CHUNK_ROWS, chunkRows } from "../../../workloads/prepare/chunks.ts";
import { checkData, prepare, verify } from "../../../workloads/prepare/index.ts";
import { workloads } from "../../../workloads/registry.ts";
import { between, rowCount, rowsOf, rowsOfParents } from "../../../workloads/rows.ts";
import type { Session } from "../../../workloads/sql-session.ts";
import { openSession } from "../../../workloads/sql-session.ts";
import { dataOf } from "../../../workloads/steps.ts";
import type { Dataset, Workload } from "../../../workloads/workload.ts";

const DISTRICTS = 10;
const ORDERS = 3000;
const [LEAST, MOST] = [5, 15];
const DATE = "2024-02-29";

/** An order's place among all, from 1, and back. */
const PLACE = (district: string, order: string): string => `((${district} - 1) * ${ORDERS / DISTRICTS} + ${order})`;
const district = (n: number): number => 1 + Math.floor((n - 1) / (ORDERS / DISTRICTS));
const order = (n: number): number => 1 + ((n - 1) % (ORDERS / DISTRICTS));

const dataset: Dataset = {
  name: "orders",
  options: z.object({}),
  tables: ({ seed }) => [
    {
      name: "orders",
      columns: [
        { name: "o_d_id", type: { type: "int" } },
        { name: "o_id", type: { type: "int" } },
        { name: "o_carrier_id", type: { type: "int" }, nullable: true },
        { name: "o_ol_cnt", type: { type: "int" } },
        { name: "o_entry", type: { type: "timestamp" } },
        { name: "o_day", type: { type: "date" }, nullable: true },
        { name: "o_note", type: { type: "varchar", length: 60 }, nullable: true },
      ],
      primaryKey: ["o_d_id", "o_id"],
      rows: rowsOf(ORDERS, PLACE("o_d_id", "o_id"), 200, (n, random) => [
        district(n),
        order(n),
        n % 3 === 0 ? null : random.uniform(1, 10),
        between(seed, LEAST, MOST)(n),
        `2024-02-29 12:00:00.${String(n).padStart(6, "0")}`,
        n % 2 === 0 ? null : DATE,
        n % 5 === 0 ? null : n % 5 === 1 ? "" : `it's "${n}", Ä€ NULL`,
      ]),
    },
    {
      name: "order_line",
      columns: [
        { name: "ol_d_id", type: { type: "int" } },
        { name: "ol_o_id", type: { type: "int" } },
        { name: "ol_number", type: { type: "int" } },
        { name: "ol_amount", type: { type: "decimal", precision: 6, scale: 2 } },
        { name: "ol_delivery", type: { type: "timestamp" }, nullable: true },
        { name: "ol_info", type: { type: "char", length: 24 } },
      ],
      primaryKey: ["ol_d_id", "ol_o_id", "ol_number"],
      laterIndexes: [{ name: "ol_by_amount", columns: ["ol_amount", "ol_d_id"] }],
      rows: rowsOfParents(
        { parents: ORDERS, least: LEAST, most: MOST, seed },
        PLACE("ol_d_id", "ol_o_id"),
        120,
        (n, line, random) => [
          district(n),
          order(n),
          line,
          (random.uniform(-999_999, 999_999) / 100).toFixed(2),
          line % 4 === 0 ? null : "1999-12-31 23:59:59",
          "d".repeat(24),
        ],
      ),
    },
  ],
  async check(_context, query) {
    const wrong = await query(
      "SELECT COUNT(*) AS n FROM orders WHERE o_ol_cnt <> (SELECT COUNT(*) FROM order_line WHERE ol_d_id = o_d_id AND ol_o_id = o_id)",
    );
    return Number(wrong[0]?.["n"]) === 0 ? [] : [`orders: ${String(wrong[0]?.["n"])} with another number of lines`];
  },
};

const WORKLOAD: Workload = {
  name: "orders-of-a-test",
  description: "",
  options: z.object(COMMON),
  dataset,
  plan: () => ({
    templates: [{ spec: () => ({ kind: "read", sql: "SELECT 1", params: [] }) }],
    tables: 1,
    transaction: false,
    readOnly: true,
    ops: [execute("read", 0, () => {})],
  }),
};
(workloads as Map<string, Workload>).set(WORKLOAD.name, WORKLOAD);
const QUIET = { onProgress() {}, signal: new AbortController().signal };

test("how many children a number has: within the bounds, evenly, the same for the same seed", () => {
  fc.assert(
    fc.property(fc.nat(Number.MAX_SAFE_INTEGER), fc.nat(1_000_000), (seed, n) => {
      const of = between(seed, LEAST, MOST);
      assert.ok(of(n) >= LEAST && of(n) <= MOST);
      assert.equal(of(n), between(seed, LEAST, MOST)(n));
    }),
  );
  const draws = 110_000;
  const counts = new Map<number, number>();
  const of = between(42, LEAST, MOST);
  for (let n = 1; n <= draws; n++) counts.set(of(n), (counts.get(of(n)) ?? 0) + 1);
  const each = draws / (MOST - LEAST + 1);
  const chi = [...counts.values()].reduce((sum, seen) => sum + (seen - each) ** 2 / each, 0);
  // 99.9 % of a chi-square distribution with 10 degrees of freedom; the draws are the same each time.
  assert.ok(chi < 29.59, `chi-square ${chi}`);
  assert.notDeepEqual(
    Array.from({ length: 50 }, (_, n) => between(1, LEAST, MOST)(n)),
    Array.from({ length: 50 }, (_, n) => between(2, LEAST, MOST)(n)),
  );
});

test("a transaction of the load has no more rows than of a table without children, and fits the server's limits", () => {
  assert.equal(chunkRows(undefined, 15 * 242, 15), Math.floor(CHUNK_ROWS / 15));
  assert.equal(chunkRows({ maxRows: 100 }, 15 * 242, 15), 6);
  assert.equal(chunkRows({ maxRows: 3 }, 15 * 242, 15), 1);
  const bytes = 2_000_000;
  assert.ok(chunkRows({ maxBytes: bytes }, 15 * 242, 15) * 15 * 242 < bytes);
});

for (const kind of await everyServer()) {
  describe(`rows of parents on ${kind.name}`, { skip: kind.skip }, () => {
    let server: AnyServer;
    let session: Session;
    const spec = (method: "auto" | "insert", seed = 7): RunSpec =>
      specFor([1], [{ workload: WORKLOAD.name, threads: 1 }], {
        target: server.target as Partial<RunSpecInput["target"]>,
        data: { method, localInfile: "keep" },
        spec: { seed },
      });
    before(async () => {
      server = await kind.start();
      process.env["MESHBENCH_DB_PASSWORD"] = server.password;
      const { target } = spec("auto");
      session = await openSession(target, target.endpoints[0]!);
    });
    after(async () => {
      session?.close();
      await server?.stop();
    });
    const sums = async (): Promise<string[]> => {
      const { tables } = dataOf(spec("auto"));
      return Promise.all(tables.map((table) => dialectOf(spec("auto").target).checksum(session, table, 60_000)));
    };
    const ask = async (sql: string): Promise<number> => Number((await session.query(sql, 60_000))[0]?.["n"]);

    test("loaded whole, found whole, continued, and the same by every method", async () => {
      const [orders, lines] = dataOf(spec("auto")).tables.map(({ rows }) => rowCount(rows!));
      assert.equal(orders, ORDERS);
      assert.ok(lines! > ORDERS * LEAST && lines! < ORDERS * MOST);

      const made = await prepare(spec("auto"), QUIET);
      assert.equal(made.rows, ORDERS + lines!);
      assert.equal(await ask("SELECT COUNT(*) AS n FROM order_line"), lines);
      const found = await verify(spec("auto"), { ...QUIET, afterRun: true });
      assert.deepEqual(found.problems, []);
      assert.deepEqual(
        found.tables.map(({ rows }) => rows),
        [ORDERS, lines],
      );
      assert.deepEqual(await checkData(spec("auto"), QUIET), { problems: [], notes: [] });
      assert.deepEqual(
        [
          await ask("SELECT COUNT(*) AS n FROM orders WHERE o_carrier_id IS NULL"),
          await ask(`SELECT COUNT(*) AS n FROM orders WHERE o_day = '${DATE}'`),
          await ask("SELECT COUNT(*) AS n FROM orders WHERE o_note IS NULL"),
          await ask("SELECT COUNT(*) AS n FROM orders WHERE o_note = ''"),
          await ask("SELECT COUNT(*) AS n FROM orders WHERE o_entry = '2024-02-29 12:00:00.001234'"),
          await ask("SELECT COUNT(*) AS n FROM order_line WHERE ol_delivery IS NULL AND ol_number NOT IN (4, 8, 12)"),
          await ask("SELECT COUNT(*) AS n FROM order_line WHERE ol_amount < -9999.99 OR ol_amount > 9999.99"),
        ],
        [ORDERS / 3, ORDERS / 2, ORDERS / 5, ORDERS / 5, 1, 0, 0],
      );

      const again = await prepare(spec("auto"), QUIET);
      assert.deepEqual([again.reused, again.rows], [true, ORDERS + lines!]);
      const whole = await sums();

      // As a load leaves it that was ended in the middle: a chunk is missing, and the index that is made last.
      const chunk = chunkRows(undefined, 1, MOST);
      await session.query(
        `DELETE FROM order_line WHERE ${PLACE("ol_d_id", "ol_o_id")} BETWEEN ${chunk + 1} AND ${2 * chunk}`,
        60_000,
      );
      await session.query(
        server.target.driver === "mysql" ? "DROP INDEX ol_by_amount ON order_line" : "DROP INDEX ol_by_amount",
        60_000,
      );
      const notes: string[] = [];
      const continued = await prepare(spec("auto"), { ...QUIET, onProgress: (line) => void notes.push(line) });
      assert.match(notes.join("\n"), /order_line: half loaded, continued from \d+ of \d+ rows/);
      assert.equal(continued["loaded"], rowCount(dataOf(spec("auto")).tables[1]!.rows!, chunk + 1, 2 * chunk));
      assert.deepEqual(await sums(), whole);

      // A line that is gone is a problem, not a rounding error.
      await session.query("DELETE FROM order_line WHERE ol_d_id = 1 AND ol_o_id = 1 AND ol_number = 5", 60_000);
      const { problems } = await verify(spec("auto"), { ...QUIET, afterRun: true });
      assert.deepEqual(problems, [
        `order_line: ${lines! - 1} rows, the spec says ${lines}`,
        "orders: 1 with another number of lines",
      ]);

      for (const table of ["orders", "order_line"]) await session.query(`DROP TABLE ${table}`, 60_000);
      await prepare(spec("insert"), QUIET);
      assert.deepEqual(await sums(), whole);
    });
  });
}
