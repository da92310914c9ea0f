// Proves on real servers: typed parameters arrive as what they are, and come back the same, on every path of a driver.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import fc from "fast-check";
import { ask } from "../../../harness/servers/engine.ts";
import type { AnyServer } from "../../../harness/servers/servers.ts";
import { everyServer } from "../../../harness/servers/servers.ts";
import type { Endpoint } from "../../../workloads/contract.ts";
import type { Connection, ParamType, Statement, StatementSpec, Value } from "../../../workloads/drivers/driver.ts";
import { exactNumber, paddedDecimal } from "../../../workloads/drivers/params.ts";

const COLUMNS: [name: string, sql: Record<"mysql" | "postgres", string>, type: ParamType][] = [
  ["id", { mysql: "INTEGER PRIMARY KEY", postgres: "INTEGER PRIMARY KEY" }, { type: "int" }],
  ["b", { mysql: "BIGINT", postgres: "BIGINT" }, { type: "bigint" }],
  ["d", { mysql: "DECIMAL(12,2)", postgres: "NUMERIC(12,2)" }, { type: "decimal", precision: 12, scale: 2 }],
  ["w", { mysql: "DECIMAL(20,0)", postgres: "NUMERIC(20,0)" }, { type: "decimal", precision: 20, scale: 0 }],
  ["day", { mysql: "DATE", postgres: "DATE" }, { type: "date" }],
  ["at", { mysql: "DATETIME(6)", postgres: "TIMESTAMP(6)" }, { type: "timestamp" }],
  ["name", { mysql: "TEXT CHARACTER SET utf8mb4", postgres: "TEXT" }, { type: "varchar" }],
];
const INSERT: StatementSpec = {
  sql: `INSERT INTO typed (${COLUMNS.map(([name]) => name).join(", ")}) VALUES (${COLUMNS.map(() => "?").join(", ")})`,
  params: COLUMNS.map(([, , type]) => type),
  kind: "write",
};
const LIST = COLUMNS.map(([name]) => name).join(", ");
const FIND: StatementSpec = {
  sql: `SELECT ${LIST} FROM typed WHERE ${COLUMNS.map(([name]) => `${name}=?`).join(" AND ")}`,
  params: INSERT.params,
  kind: "read",
};
/** As given, and as they come back where that differs. */
const ROWS: [(number | string | bigint)[], Record<number, Value>?][] = [
  [[1, 5, "12.50", 7, "2024-02-29", "2024-02-29 23:59:59.000001", "plain"], { 2: 12.5 }],
  [
    [
      -2,
      -9_223_372_036_854_775_808n,
      "-9999999999.99",
      "12345678901234567890",
      "1969-12-31",
      "1969-12-31 00:00:00",
      "",
    ],
    { 1: "-9223372036854775808", 2: -9_999_999_999.99 },
  ],
  [
    [
      3,
      9_223_372_036_854_775_807n,
      -0.01,
      "-1",
      "9999-12-31",
      "2038-01-19 03:14:08.5",
      'it\'s \\ "Ärger" ? $1 \n\t€ 𝄞',
    ],
    { 1: "9223372036854775807", 3: -1, 5: "2038-01-19 03:14:08.500000" },
  ],
  [
    [4, 9_007_199_254_740_991, 0, 0, "2000-01-01", "2000-01-01T12:00:00", "x".repeat(300)],
    { 5: "2000-01-01 12:00:00" },
  ],
  [[5, 0, "0.10", 1, "2024-12-31", "2024-12-31 01:02:03", "y".repeat(40_000)], { 2: 0.1 }],
];

function run(connection: Connection, statement: Statement): Promise<{ rows: number; affected: number }> {
  return new Promise((resolve, reject) => {
    connection.listener = { done: (rows, affected) => resolve({ rows, affected }), failed: reject, lost: reject };
    statement.execute();
  });
}

for (const kind of await everyServer()) {
  describe(`typed parameters on ${kind.name}`, { skip: kind.skip }, () => {
    let server: AnyServer;
    before(async () => {
      server = await kind.start();
      const connection = await connect({});
      const columns = COLUMNS.map(([name, sql]) => `${name} ${sql[server.target.driver]}`).join(", ");
      await ask(connection, `CREATE TABLE typed (${columns})`);
      await connection.close();
    });
    after(() => server?.stop());

    const connect = (more: { forceLibrary?: boolean; preparedStatements?: "auto" | "disable" }): Promise<Connection> =>
      server.driver.connect({ ...server.target.endpoints[0], role: "any" } as Endpoint, {
        database: server.target.database ?? "sbtest",
        user: server.target.user,
        password: server.password,
        tls: { mode: "off" },
        connectTimeoutMs: 5000,
        preparedStatements: "auto",
        ...more,
      });

    for (const [mode, more] of [
      ["fast", {}],
      ["library", { forceLibrary: true }],
      ["text", { preparedStatements: "disable" }],
    ] as const) {
      test(`${mode}: each row is inserted, found by all of its values and read back`, async () => {
        const connection = await connect(more);
        await ask(connection, "DELETE FROM typed");
        const [insert, find] = (await connection.prepare([INSERT, FIND])) as [Statement, Statement];
        for (const [values, different = {}] of ROWS) {
          for (const statement of [insert, find]) values.forEach((value, i) => statement.set(i, value));
          assert.deepEqual(await run(connection, insert), { rows: 0, affected: 1 });
          connection.captureNext();
          assert.equal((await run(connection, find)).rows, 1, String(values[0]));
          const expected = values.map((value, i) => (i in different ? different[i] : value));
          assert.deepEqual(connection.takeRows(), [expected], String(values[0]));
        }
        // The same row as a text query's answer: decoded another way, the same values.
        const [row] = await ask(connection, `SELECT ${LIST} FROM typed WHERE id = 3`);
        assert.deepEqual([row?.[1], row?.[3], row?.[4]], ["9223372036854775807", -1, "9999-12-31"]);
        assert.equal(row?.[6], ROWS[2]![0][6]);
        await connection.close();
      });
    }

    for (const [mode, more] of [
      ["fast", {}],
      ["library", { forceLibrary: true }],
      ["text", { preparedStatements: "disable" }],
    ] as const)
      test(`${mode}: every parameter may be NULL in one execution and a value in the next`, async () => {
        const connection = await connect(more);
        await ask(connection, "DROP TABLE IF EXISTS gaps");
        const columns = COLUMNS.slice(1).map(([name, sql]) => `${name} ${sql[server.target.driver]}`);
        await ask(
          connection,
          `CREATE TABLE gaps (id INTEGER PRIMARY KEY, k INTEGER, code VARCHAR(300), ${columns.join(", ")})`,
        );
        const rest = COLUMNS.slice(1).map(([name]) => name);
        const spec: StatementSpec = {
          sql: `INSERT INTO gaps (id, k, code, ${rest.join(", ")}) VALUES (${Array.from({ length: 3 + rest.length }, () => "?").join(", ")})`,
          // Nine and more parameters have two bytes of NULL bits; a text of 300 has three bytes of length.
          params: [{ type: "int" }, { type: "int" }, { type: "text", length: 300 }, ...INSERT.params.slice(1)],
          kind: "write",
        };
        const [insert] = (await connection.prepare([spec])) as [Statement];
        const values = ROWS[2]![0].slice(1);
        const back = [
          9_223_372_036_854_775_807n.toString(),
          -0.01,
          -1,
          "9999-12-31",
          "2038-01-19 03:14:08.500000",
          values[5],
        ];
        const width = spec.params.length - 1;
        // Each alone, all, none, all but one, none: from every state to another.
        const gaps = [
          ...Array.from({ length: width }, (_, i) => [i]),
          Array.from({ length: width }, (_, i) => i),
          [],
          Array.from({ length: width - 1 }, (_, i) => i),
          [],
        ];
        for (const [id, missing] of gaps.entries()) {
          insert.setInt(0, id);
          if (missing.includes(0)) insert.set(1, null);
          else insert.setInt(1, 70 + id);
          if (missing.includes(1)) insert.set(2, null);
          else insert.bytes(2).fill(97);
          values.forEach((value, i) => insert.set(3 + i, missing.includes(2 + i) ? null : value));
          assert.deepEqual(await run(connection, insert), { rows: 0, affected: 1 });
        }
        const rows = await ask(connection, `SELECT id, k, code, ${rest.join(", ")} FROM gaps ORDER BY id`);
        assert.deepEqual(
          rows,
          gaps.map((missing, id) => [
            id,
            ...[70 + id, "a".repeat(300), ...back].map((value, i) => (missing.includes(i) ? null : value)),
          ]),
        );
        // NULL in rows of a prepared read.
        const [find] = await connection.prepare([
          { sql: `SELECT k, ${rest.join(", ")} FROM gaps WHERE id=?`, params: [{ type: "int" }], kind: "read" },
        ]);
        find!.setInt(0, width);
        connection.captureNext();
        await run(connection, find!);
        assert.deepEqual(connection.takeRows(), [Array.from({ length: width - 1 }, () => null)]);
        await connection.close();
      });

    test("a value that its type does not have is refused before anything is sent, on every path", async () => {
      for (const more of [{}, { forceLibrary: true }, { preparedStatements: "disable" } as const]) {
        const connection = await connect(more);
        const [insert] = await connection.prepare([INSERT]);
        assert.throws(() => insert!.set(2, "12.345"), /12\.345: no decimal\(12,2\)/);
        assert.throws(() => insert!.set(2, 1e11), /100000000000\.00: no decimal/);
        assert.throws(() => insert!.set(4, "2023-02-29"), /2023-02-29: no date/);
        assert.throws(() => insert!.set(5, "yesterday"), /yesterday: no date/);
        await connection.close();
      }
    });
  });
}

test("a padded decimal has one length and the value that was given", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 18 }),
      fc.nat(6),
      fc.bigInt(-(10n ** 12n), 10n ** 12n),
      (whole, scale, units) => {
        const type = { type: "decimal", precision: whole + scale, scale } as const;
        const digits = String(units < 0n ? -units : units).padStart(scale + 1, "0");
        const text = `${units < 0n ? "-" : ""}${digits.slice(0, digits.length - scale)}${scale > 0 ? `.${digits.slice(-scale)}` : ""}`;
        fc.pre(digits.length - scale <= whole);
        const padded = paddedDecimal(type, text);
        assert.equal(padded.length, 1 + whole + (scale > 0 ? 1 + scale : 0));
        assert.equal(Number(padded), Number(text));
      },
    ),
  );
});

test("numbers that would not be exact stay text", () => {
  assert.deepEqual(
    ["0", "-7", "12.50", "9007199254740991", "9007199254740993", "0.1234567890123456", "-00.5"].map(exactNumber),
    [0, -7, 12.5, 9_007_199_254_740_991, "9007199254740993", "0.1234567890123456", -0.5],
  );
});
