// Proves on a real PostgreSQL: both paths of the driver give the same rows, counts and errors.
import assert from "node:assert/strict";
import { createServer } from "node:net";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import type { PostgresServer } from "../../../harness/servers/postgres.ts";
import { postgresBinaries, startPostgres } from "../../../harness/servers/postgres.ts";
import type { Connection, ConnectOptions, Statement, StatementSpec, Value } from "../../../workloads/drivers/driver.ts";
import { DriverError } from "../../../workloads/drivers/driver.ts";
import { postgresDriver } from "../../../workloads/drivers/postgres/driver.ts";

const binaries = await postgresBinaries();
const SELECT: StatementSpec = {
  sql: "SELECT c FROM t WHERE id BETWEEN ? AND ? ORDER BY id",
  params: [{ type: "int" }, { type: "int" }],
  kind: "read",
};
const SUM: StatementSpec = {
  sql: "SELECT SUM(k), COUNT(*) FROM t WHERE id BETWEEN ? AND ?",
  params: [{ type: "int" }, { type: "int" }],
  kind: "read",
};
const UPDATE: StatementSpec = {
  sql: "UPDATE t SET c=? WHERE id=?",
  params: [{ type: "text", length: 5 }, { type: "int" }],
  kind: "write",
};
const INSERT: StatementSpec = {
  sql: "INSERT INTO t (id, k, c) VALUES (?, ?, ?)",
  params: [{ type: "int" }, { type: "int" }, { type: "text", length: 5 }],
  kind: "write",
};
const BEGIN: StatementSpec = { sql: "BEGIN", params: [], kind: "control" };

type Answer = { rows: number; affected: number } | DriverError;

function run(connection: Connection, start: () => void): Promise<Answer> {
  return new Promise((resolve) => {
    connection.listener = { done: (rows, affected) => resolve({ rows, affected }), failed: resolve, lost: resolve };
    start();
  });
}

function withInts(statement: Statement, ...values: number[]): Statement {
  values.forEach((value, i) => statement.setInt(i, value));
  return statement;
}

describe("postgres driver", { skip: binaries.ok ? false : `SKIPPED, no PostgreSQL: ${binaries.reason}` }, () => {
  let server: PostgresServer;
  const options = (extra: Partial<ConnectOptions> = {}): ConnectOptions => ({
    database: server.database,
    user: server.user,
    password: server.password,
    tls: { mode: "off" },
    connectTimeoutMs: 5000,
    preparedStatements: "auto",
    ...extra,
  });
  const endpoint = (port = server.port): { name: string; host: string; port: number; role: "any" } => ({
    name: "a",
    host: "127.0.0.1",
    port,
    role: "any",
  });

  before(async () => {
    assert.ok(binaries.ok);
    server = await startPostgres(binaries.bin);
    await server.admin("CREATE TABLE t (id INTEGER PRIMARY KEY, k INTEGER NOT NULL, c CHAR(8) NOT NULL)");
    await server.admin("INSERT INTO t SELECT i, i * 2, 'v' || i FROM generate_series(1, 1000) AS i");
    await server.admin(`GRANT ALL ON t TO ${server.user}`);
  });
  after(() => server?.stop());

  for (const mode of ["fast", "library", "text"] as const) {
    const extra: Partial<ConnectOptions> =
      mode === "library" ? { forceLibrary: true } : mode === "text" ? { preparedStatements: "disable" } : {};

    test(`${mode}: rows, counts and values`, async () => {
      const connection = await postgresDriver.connect(endpoint(), options(extra));
      assert.equal(connection.path, mode === "library" ? "library" : "fast");
      assert.match(connection.serverVersion, /^1\d/);
      const [select, sum, update] = (await connection.prepare([SELECT, SUM, UPDATE])) as [
        Statement,
        Statement,
        Statement,
      ];
      assert.deepEqual(await run(connection, () => withInts(select, 10, 109).execute()), { rows: 100, affected: 0 });
      connection.captureNext();
      assert.deepEqual(await run(connection, () => withInts(select, 999, 1098).execute()), { rows: 2, affected: 0 });
      assert.deepEqual(connection.takeRows(), [["v999"], ["v1000"]] as Value[][]);
      assert.equal(connection.takeRows(), null);
      connection.captureNext();
      await run(connection, () => withInts(sum, 1, 10).execute());
      assert.deepEqual(connection.takeRows(), [[110, 10]]);
      update.bytes(0).set(Buffer.from(mode.padEnd(5, "-").slice(0, 5)));
      update.setInt(1, 7);
      assert.deepEqual(await run(connection, () => update.execute()), { rows: 0, affected: 1 });
      update.setInt(1, 100_000);
      assert.deepEqual(await run(connection, () => update.execute()), { rows: 0, affected: 0 });
      connection.captureNext();
      assert.deepEqual(await run(connection, () => connection.query("SELECT id, c FROM t WHERE id = 7")), {
        rows: 1,
        affected: 0,
      });
      assert.deepEqual(connection.takeRows(), [[7, mode.padEnd(5, "-").slice(0, 5)]]);
      assert.ok(connection.bytesRead > 0 && connection.bytesWritten > 0);
      await connection.close();
    });

    test(`${mode}: a refused statement in a transaction, ROLLBACK, then the next one`, async () => {
      const connection = await postgresDriver.connect(endpoint(), options(extra));
      const [begin, insert, select] = (await connection.prepare([BEGIN, INSERT, SELECT])) as [
        Statement,
        Statement,
        Statement,
      ];
      assert.deepEqual(await run(connection, () => begin.execute()), { rows: 0, affected: 0 });
      const failure = await run(connection, () => withInts(insert, 1, 1).execute());
      assert.ok(failure instanceof DriverError);
      assert.deepEqual([failure.code, failure.action, failure.needsRollback], ["23505", "restart", true]);
      assert.deepEqual(await run(connection, () => connection.query("ROLLBACK")), { rows: 0, affected: 0 });
      assert.deepEqual(await run(connection, () => withInts(select, 1, 3).execute()), { rows: 3, affected: 0 });
      await connection.close();
    });

    test(`${mode}: a session that the server ends is lost, with the server's reason`, async () => {
      const connection = await postgresDriver.connect(endpoint(), options(extra));
      const answer = run(connection, () => connection.query("SELECT pg_sleep(30)"));
      // The statement may reach the server after this one: until it is there, nothing is ended.
      const end =
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query = 'SELECT pg_sleep(30)' AND state = 'active' AND pid <> pg_backend_pid()";
      while ((await server.admin(end)).length === 0) await sleep(10);
      const failure = await answer;
      assert.ok(failure instanceof DriverError);
      assert.deepEqual([failure.code, failure.action], ["57P01", "reconnect"]);
      connection.destroy();
    });
  }

  test("fast: a statement that the server does not understand fails its prepare, and the session goes on", async () => {
    const connection = await postgresDriver.connect(endpoint(), options());
    await assert.rejects(
      connection.prepare([SELECT, { ...SELECT, sql: "SELECT nothing FROM nowhere WHERE a=? AND b=?" }]),
      (error: unknown) => error instanceof DriverError && error.code === "42P01",
    );
    await assert.rejects(
      connection.prepare([{ ...SELECT, params: [{ type: "int" }] }]),
      (error: unknown) => error instanceof DriverError && error.code === "parameters",
    );
    const [select] = await connection.prepare([SELECT]);
    assert.deepEqual(await run(connection, () => withInts(select as Statement, 1, 3).execute()), {
      rows: 3,
      affected: 0,
    });
    await connection.close();
  });

  test("fast: an answer larger than the read buffer", async () => {
    const connection = await postgresDriver.connect(endpoint(), options());
    assert.deepEqual(
      await run(connection, () => connection.query("SELECT repeat('x', 3000000) FROM generate_series(1, 3)")),
      { rows: 3, affected: 0 },
    );
    await connection.close();
  });

  test("connecting: wrong password, wrong database, nobody there, silence", async () => {
    const code = async (port: number, extra: Partial<ConnectOptions>): Promise<string> => {
      try {
        await (await postgresDriver.connect(endpoint(port), options(extra))).close();
        return "connected";
      } catch (error) {
        assert.ok(error instanceof DriverError, String(error));
        return error.code;
      }
    };
    const silent = createServer((socket) => socket.resume().on("error", () => {}));
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    const silentPort = (silent.address() as { port: number }).port;
    for (const forceLibrary of [false, true]) {
      assert.equal(await code(server.port, { forceLibrary, password: "wrong" }), "28P01");
      assert.equal(await code(server.port, { forceLibrary, database: "nowhere" }), "3D000");
      assert.equal(await code(1, { forceLibrary }), "ECONNREFUSED");
      assert.equal(await code(silentPort, { forceLibrary, connectTimeoutMs: 200 }), "connect-timeout");
    }
    await new Promise((resolve) => silent.close(resolve));
  });
});
