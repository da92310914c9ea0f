// Proves on real servers: operations of a group go out in one write, each is counted once, as the server counts them;
// rows that they keep are the right ones; a failure among them leaves the connection in step, and nothing that a plan
// says is in a transaction is done outside of one. The client libraries send the same statements one by one.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { ask } from "../../harness/servers/engine.ts";
import type { AnyServer } from "../../harness/servers/servers.ts";
import { everyServer } from "../../harness/servers/servers.ts";
import { runSpecSchema } from "../../workloads/contract.ts";
import type { Connection, StatementSpec, Value } from "../../workloads/drivers/driver.ts";
import type { PartReport, Tally } from "../../workloads/engine/figures/counters.ts";
import { addTally, tally } from "../../workloads/engine/figures/counters.ts";
import { Part } from "../../workloads/engine/part/part.ts";
import type { Op, Plan } from "../../workloads/engine/plan.ts";
import { control, execute, pipeline } from "../../workloads/ops.ts";

const KEYS = 60;
const EVENTS = 120;
const THREADS = 3;
const READS = 8;

interface Kept {
  sum: number;
  asked: number;
  next: number;
  taken: boolean;
  row: number;
}

const INT = { type: "int" } as const;
const one = (spec: StatementSpec): { spec(): StatementSpec } => ({ spec: () => spec });
const READ = 0;
const WRITE = 1;
const VISIT = 2;
const TEMPLATES = [
  one({ sql: "SELECT id, number, word FROM lookup WHERE id=?", params: [INT], kind: "read" }),
  one({
    sql: "INSERT INTO entries (id, asked, word) VALUES (?, ?, ?)",
    params: [INT, { type: "bigint" }, { type: "varchar" }],
    kind: "write",
  }),
  one({ sql: "UPDATE lookup SET visits=visits+1 WHERE id=?", params: [INT], kind: "write" }),
];

const read = execute<Kept>(
  "read",
  READ,
  (actor, statement) => {
    actor.expected = 1;
    const id = actor.random.uniform(1, KEYS);
    actor.state.asked += 10 * id;
    statement.setInt(0, id);
  },
  { keep: ({ state }, rows) => void (state.sum += Number(rows[0]?.[1])) },
);
/** Its rows are not kept: it stands between those whose are, and answers must not be mixed up. */
const plain = execute<Kept>("read", READ, (actor, statement) => {
  actor.expected = 1;
  statement.setInt(0, actor.random.uniform(1, KEYS));
});

/** `fails`: on each event's first try the key is there already. */
const insert = (fails: boolean): Op<Kept> =>
  execute<Kept>("write", WRITE, (actor, statement) => {
    const { state, id } = actor;
    actor.expected = 1;
    if (fails && state.taken) statement.setInt(0, 0);
    else statement.setInt(0, id * 1_000_000 + ++state.next);
    state.taken = fails ? !state.taken : true;
    statement.set(1, state.sum - state.asked);
    statement.set(2, `it's ${"x".repeat(state.next % 300)}`);
    state.sum = state.asked = 0;
  });

const planOf = (ops: Op<Kept>[], transaction: boolean): Plan =>
  ({
    templates: TEMPLATES,
    tables: 1,
    transaction,
    readOnly: false,
    state: () => ({ sum: 0, asked: 0, next: 0, taken: true, row: 0 }),
    ops,
  }) as Plan<Kept> as Plan;

const group = Array.from({ length: READS }, (_, i) => (i % 3 === 2 ? plain : read));

for (const kind of await everyServer()) {
  describe(`operations that go together, on ${kind.name}`, { skip: kind.skip }, () => {
    let server: AnyServer;
    let own: Connection;
    const sql = (text: string): Promise<Value[][]> => ask(own, text);
    const mysql = kind.name !== "PostgreSQL";

    before(async () => {
      server = await kind.start();
      const spec = runSpecSchema.parse({ runId: "t", target: server.target, steps: [{ workload: "x", threads: 1 }] });
      const password = { password: server.password };
      own = await server.driver.connect(spec.target.endpoints[0]!, { ...spec.target, ...password });
      await sql(
        "CREATE TABLE lookup (id INTEGER PRIMARY KEY, number BIGINT, word VARCHAR(400), visits INTEGER NOT NULL)",
      );
      const rows = Array.from({ length: KEYS }, (_, i) => `(${i + 1}, ${10 * (i + 1)}, '${"w".repeat(i * 6)}', 0)`);
      await sql(`INSERT INTO lookup VALUES ${rows.join(", ")}`);
    });
    after(async () => {
      await own?.close();
      await server?.stop();
    });

    async function measure(
      plan: Plan,
      { library = false, threads = THREADS, more = {} } = {},
    ): Promise<{ total: Tally; report: PartReport; served: Record<string, number> }> {
      await sql("DROP TABLE IF EXISTS entries");
      await sql("CREATE TABLE entries (id INTEGER PRIMARY KEY, asked BIGINT NOT NULL, word VARCHAR(400) NOT NULL)");
      // Written so that pg_stat_statements tells it from the plan's own.
      await sql("INSERT INTO entries SELECT id - 1, 0, '' FROM lookup WHERE id = 1");
      const spec = runSpecSchema.parse({
        runId: "t",
        target: { ...server.target, ...more },
        steps: [{ workload: "mine", threads, warmupSeconds: 0, durationSeconds: 60 }],
      });
      const { connect } = server.driver;
      const driver = library
        ? {
            ...server.driver,
            connect: (...[e, o]: Parameters<typeof connect>) => connect(e, { ...o, forceLibrary: true }),
          }
        : server.driver;
      const total = tally();
      const part = new Part(
        { spec, step: 0, repeat: 0, loop: 0, loops: 1 },
        plan,
        driver,
        server.password,
        EVENTS,
        (interval) => addTally(total, interval.tally),
      );
      assert.deepEqual(await part.connect(10_000), { connected: threads, error: null });
      const earlier = await counters();
      const begin = performance.now();
      const report = await part.run({ begin, open: begin, close: begin + 60_000 });
      addTally(total, report.drain);
      const later = await counters();
      const served = Object.fromEntries(Object.entries(later).map(([name, n]) => [name, n - (earlier[name] ?? 0)]));
      assert.equal(total.events, EVENTS);
      assert.equal(total.mismatches, 0);
      return { total, report, served };
    }

    /** What the server says that it has run: reads, inserts, BEGIN, COMMIT. */
    async function counters(): Promise<Record<string, number>> {
      const rows = mysql
        ? await sql(
            "SHOW GLOBAL STATUS WHERE Variable_name IN ('Com_select', 'Com_insert', 'Com_begin', 'Com_commit', 'Com_stmt_execute')",
          )
        : await sql(
            "SELECT CASE WHEN query LIKE 'SELECT id, number%' THEN 'Com_select' WHEN query LIKE 'INSERT INTO entries (%' THEN 'Com_insert' WHEN query = 'BEGIN' THEN 'Com_begin' ELSE 'Com_commit' END AS name, SUM(calls)::int FROM pg_stat_statements WHERE query ~ '^(SELECT id, number|INSERT INTO entries \\(|BEGIN$|COMMIT$)' GROUP BY 1",
          );
      return Object.fromEntries(rows.map(([name, n]) => [String(name), Number(n)]));
    }

    const ops = [
      ...pipeline([control<Kept>("BEGIN"), ...group]),
      ...pipeline([insert(false), control<Kept>("COMMIT")]),
    ];

    for (const [mode, more] of [
      ["prepared", {}],
      ["text", { preparedStatements: "disable" }],
    ] as const)
      test(`${mode}: the server's counters are ours, in fewer round trips, and the rows are the right ones`, async () => {
        const { total, report, served } = await measure(planOf(ops, true), { more });
        assert.equal(report.path, "fast");
        assert.deepEqual(
          [total.reads, total.writes, total.others, total.errors],
          [READS * EVENTS, EVENTS, 2 * EVENTS, 0],
        );
        assert.deepEqual([served["Com_select"], served["Com_insert"]], [READS * EVENTS, EVENTS]);
        // PostgreSQL 15 counts a prepared BEGIN or COMMIT once per session.
        if (mysql || mode === "text") assert.deepEqual([served["Com_begin"], served["Com_commit"]], [EVENTS, EVENTS]);
        // MySQL would run a COMMIT behind an INSERT that fails.
        assert.equal(total.roundTrips, (mysql ? 3 : 2) * EVENTS);
        const [wrong] = await sql(
          "SELECT COUNT(*), SUM(CASE WHEN asked <> 0 THEN 1 ELSE 0 END) FROM entries WHERE id > 0",
        );
        assert.deepEqual(wrong?.map(Number), [EVENTS, 0], "every event has kept the rows that it asked for");
      });

    test("the client library sends them one by one, with the same rows", async () => {
      const { total, report, served } = await measure(planOf(ops, true), { library: true });
      assert.equal(report.path, "library");
      assert.equal(total.roundTrips, (READS + 3) * EVENTS);
      assert.deepEqual([served["Com_select"], served["Com_insert"]], [READS * EVENTS, EVENTS]);
      const [wrong] = await sql("SELECT COUNT(*) FROM entries WHERE id > 0 AND asked = 0");
      assert.equal(Number(wrong?.[0]), EVENTS);
    });

    test("an error in the middle: what follows is run and counted, or skipped; the next try is in step", async () => {
      const failing = pipeline([plain, insert(true), plain, plain]);
      const { total, served } = await measure(planOf(failing, false));
      assert.equal(total.errors, EVENTS);
      assert.deepEqual(Object.keys(total.byCode), [mysql ? "1062" : "23505"]);
      // MySQL runs the two reads behind the failed INSERT, PostgreSQL skips them.
      assert.deepEqual([total.reads, total.writes, total.others], [(mysql ? 6 : 4) * EVENTS, EVENTS, 0]);
      assert.equal(served["Com_select"], total.reads);
      assert.equal(total.roundTrips, 2 * EVENTS);
      assert.equal(Number((await sql("SELECT COUNT(*) FROM entries WHERE id > 0"))[0]?.[0]), EVENTS);
    });

    test("an error in a transaction: it is rolled back and done again whole", async () => {
      const { total } = await measure(
        planOf(pipeline([control<Kept>("BEGIN"), plain, insert(true), plain, control<Kept>("COMMIT")]), true),
      );
      assert.equal(total.errors, EVENTS);
      assert.equal(Number((await sql("SELECT COUNT(*) FROM entries WHERE id > 0"))[0]?.[0]), EVENTS);
    });

    test("deadlocks in the middle: nothing is done outside of the transaction that they have ended", async () => {
      await sql("UPDATE lookup SET visits = 0");
      const visit = (other: boolean): Op<Kept> =>
        execute<Kept>("write", VISIT, ({ random, state }, statement) => {
          state.row = other ? 3 - state.row : random.uniform(1, 2);
          statement.setInt(0, state.row);
        });
      const deadly = pipeline([
        control<Kept>("BEGIN"),
        visit(false),
        plain,
        visit(true),
        insert(false),
        control<Kept>("COMMIT"),
      ]);
      const { total } = await measure(planOf(deadly, true), { threads: 8 });
      const [visits] = await sql("SELECT SUM(visits) FROM lookup");
      const [entries] = await sql("SELECT COUNT(*) FROM entries WHERE id > 0");
      assert.deepEqual([Number(visits?.[0]), Number(entries?.[0])], [2 * EVENTS, EVENTS], JSON.stringify(total.byCode));
    });
  });
}
