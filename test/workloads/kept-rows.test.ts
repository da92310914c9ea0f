// Proves on real servers: an event reads a key and then reads and writes by it, in several transactions; a conflict in
// the last of them does not run the earlier ones again.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { ask } from "../../harness/servers/engine.ts";
import type { AnyServer } from "../../harness/servers/servers.ts";
import { bothServers } from "../../harness/servers/servers.ts";
import { runSpecSchema } from "../../workloads/contract.ts";
import type { StatementSpec, Value } from "../../workloads/drivers/driver.ts";
import { addTally, tally } from "../../workloads/engine/figures/counters.ts";
import { Part } from "../../workloads/engine/part/part.ts";
import type { Op, Plan } from "../../workloads/engine/plan.ts";

const KEYS = 50;
const EVENTS = 200;
const THREADS = 4;

interface Kept {
  account: Value;
  found: Value[];
  /** Number of the row that the last transaction writes. */
  next: number;
  /** The first try of a transaction meets a key that is there. */
  taken: boolean;
}

const one = (spec: StatementSpec): { spec(): StatementSpec } => ({ spec: () => spec });
const INT = { type: "int" } as const;
const TEMPLATES = [
  one({ sql: "SELECT account FROM directory WHERE id=?", params: [INT], kind: "read" }),
  one({ sql: "SELECT owner, balance FROM accounts WHERE account=?", params: [{ type: "bigint" }], kind: "read" }),
  one({ sql: "UPDATE accounts SET visits=visits+1 WHERE account=?", params: [{ type: "bigint" }], kind: "write" }),
  one({
    sql: "INSERT INTO journal (id, account, owner, balance) VALUES (?, ?, ?, ?)",
    params: [INT, { type: "bigint" }, { type: "varchar" }, { type: "decimal", precision: 10, scale: 2 }],
    kind: "write",
  }),
];

const control = (sql: "BEGIN" | "COMMIT"): Op<Kept> => ({
  kind: "control",
  send(actor) {
    actor.expected = -1;
    actor.control(sql);
    return true;
  },
});

function plan(): Plan<Kept> {
  return {
    templates: TEMPLATES,
    tables: 1,
    transaction: true,
    readOnly: false,
    state: () => ({ account: null, found: [], next: 0, taken: true }),
    ops: [
      control("BEGIN"),
      {
        kind: "read",
        send(actor) {
          actor.expected = 1;
          const statement = actor.statement(0);
          statement.setInt(0, actor.random.uniform(1, KEYS));
          statement.execute();
          return true;
        },
        keep: ({ state }, rows) => void (state.account = rows[0]?.[0] ?? null),
      },
      {
        kind: "read",
        send(actor) {
          const statement = actor.statement(1);
          statement.set(0, actor.state.account as string);
          statement.execute();
          return true;
        },
        keep: ({ state }, rows) => void (state.found = rows[0] ?? []),
      },
      {
        kind: "write",
        send(actor) {
          const statement = actor.statement(2);
          statement.set(0, actor.state.account as string);
          statement.execute();
          return true;
        },
      },
      control("COMMIT"),
      control("BEGIN"),
      {
        kind: "write",
        send(actor) {
          const { state, id } = actor;
          const statement = actor.statement(3);
          if (!state.taken) state.next++;
          statement.setInt(0, state.taken ? 0 : id * 1_000_000 + state.next);
          state.taken = !state.taken;
          statement.set(1, state.account as string);
          statement.set(2, state.found[0] as string);
          statement.set(3, state.found[1] as number);
          statement.execute();
          return true;
        },
      },
      control("COMMIT"),
    ],
  };
}

for (const kind of await bothServers()) {
  describe(`rows that an event keeps, on ${kind.name}`, { skip: kind.skip }, () => {
    let server: AnyServer;
    before(async () => (server = await kind.start()));
    after(() => server?.stop());

    for (const [mode, more] of [
      ["prepared", {}],
      ["text", { preparedStatements: "disable" }],
    ] as const) {
      test(`${mode}: every event writes what it has read, once per transaction`, async () => {
        const spec = runSpecSchema.parse({
          runId: "t",
          target: { ...server.target, ...more },
          steps: [{ workload: "mine", threads: THREADS, warmupSeconds: 0, durationSeconds: 60 }],
        });
        const connection = await server.driver.connect(spec.target.endpoints[0]!, {
          ...spec.target,
          password: server.password,
        });
        const sql = (text: string): Promise<Value[][]> => ask(connection, text);
        for (const table of ["directory", "accounts", "journal"]) await sql(`DROP TABLE IF EXISTS ${table}`);
        await sql("CREATE TABLE directory (id INTEGER PRIMARY KEY, account BIGINT NOT NULL)");
        await sql(
          "CREATE TABLE accounts (account BIGINT PRIMARY KEY, owner VARCHAR(20) NOT NULL, balance DECIMAL(10,2) NOT NULL, visits INTEGER NOT NULL)",
        );
        await sql(
          "CREATE TABLE journal (id INTEGER PRIMARY KEY, account BIGINT NOT NULL, owner VARCHAR(20) NOT NULL, balance DECIMAL(10,2) NOT NULL)",
        );
        const keys = Array.from({ length: KEYS }, (_, i) => i + 1);
        // Beyond 2^53: a key that went through a double would find nothing.
        const account = (i: number): string => String(9_007_199_254_740_993n + BigInt(i));
        await sql(`INSERT INTO directory VALUES ${keys.map((i) => `(${i}, ${account(i)})`).join(", ")}`);
        await sql(
          `INSERT INTO accounts VALUES ${keys.map((i) => `(${account(i)}, 'O''Hara ${i}', ${i}.25, 0)`).join(", ")}`,
        );
        await sql(`INSERT INTO journal VALUES (0, 0, '', 0)`);

        const total = tally();
        const part = new Part(
          { spec, step: 0, repeat: 0, loop: 0, loops: 1 },
          plan() as Plan,
          server.driver,
          server.password,
          EVENTS,
          (interval) => addTally(total, interval.tally),
        );
        assert.deepEqual(await part.connect(5000), { connected: THREADS, error: null });
        const begin = performance.now();
        const report = await part.run({ begin, open: begin, close: begin + 60_000 });
        addTally(total, report.drain);

        assert.equal(total.events, EVENTS);
        assert.equal(total.mismatches, 0, JSON.stringify(total));
        const duplicate = server.target.driver === "mysql" ? "1062" : "23505";
        const conflicts = total.byCode[duplicate] ?? 0;
        assert.ok(conflicts >= EVENTS, `each event meets the key that is there: ${JSON.stringify(total.byCode)}`);
        const [visits] = await sql("SELECT SUM(visits) FROM accounts");
        // A deadlock between two visits would run that transaction again, after it was rolled back.
        assert.equal(Number(visits?.[0]), EVENTS, "the first transaction ran once per event");
        const [matching] = await sql(
          "SELECT COUNT(*) FROM journal j JOIN accounts a ON a.account = j.account AND a.owner = j.owner AND a.balance = j.balance",
        );
        assert.equal(Number(matching?.[0]), EVENTS);
        const [rows] = await sql("SELECT COUNT(*) FROM journal WHERE id > 0");
        assert.equal(Number(rows?.[0]), EVENTS);
        await connection.close();
      });
    }
  });
}
