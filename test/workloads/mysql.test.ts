/**
 * Sessions on a real MySQL 9: statements that it does not prepare, caching_sha2_password by every way (the plain
 * password over TLS or a socket, RSA without TLS, the server's memory of it), and local_infile, which is off there.
 */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { ask, only, runEngine, specFor } from "../../harness/servers/engine.ts";
import { CONNECT, DATABASE, PASSWORD } from "../../harness/servers/mariadb.ts";
import { Mysql, mysqlRoot } from "../../harness/servers/mysql.ts";
import type { RunSpec, RunSpecInput } from "../../workloads/contract.ts";
import type { Connection } from "../../workloads/drivers/driver.ts";
import { mysqlDriver } from "../../workloads/drivers/mysql/driver.ts";
import { checkCapacity } from "../../workloads/prepare/capacity.ts";
import { cleanup, prepare, verify } from "../../workloads/prepare/index.ts";

const root = await mysqlRoot();
const signal = new AbortController().signal;
const QUIET = { onProgress() {}, signal };
process.env["MESHBENCH_DB_PASSWORD"] = PASSWORD;

describe("sessions on MySQL", { skip: root.ok ? false : `SKIPPED: no MySQL to test with: ${root.reason}` }, () => {
  let server: Mysql;
  before(async () => {
    server = await Mysql.start(root.ok ? root.root : "");
  });
  after(() => server?.stop());

  type Options = Parameters<typeof mysqlDriver.connect>[1];
  const connect = (options: Partial<Options> = {}, at: { socket?: string } = {}): Promise<Connection> =>
    mysqlDriver.connect(
      { name: "a", host: "127.0.0.1", port: server.port, role: "any", ...at },
      {
        ...CONNECT,
        ...options,
      },
    );
  const spec = (
    workload: string,
    target: Partial<RunSpecInput["target"]> = {},
    data: RunSpecInput["data"] = {},
  ): RunSpec =>
    specFor(
      [server.port],
      [{ workload, threads: 3, warmupSeconds: 0, durationSeconds: 30, options: { events: 300 } }],
      {
        target,
        data: { tables: 2, tableSize: 2000, ...data },
      },
    );

  for (const forceLibrary of [false, true])
    test(`BEGIN can't be prepared (1295) and goes out as text, ${forceLibrary ? "by the library" : "by the fast path"}`, async () => {
      const connection = await connect({ forceLibrary });
      try {
        const statements = await connection.prepare([
          { sql: "BEGIN", params: [], kind: "control" },
          { sql: "SELECT ? + 1", params: [{ type: "int" }], kind: "read" },
          { sql: "COMMIT", params: [], kind: "control" },
        ]);
        const answers: string[] = [];
        for (const [i, statement] of statements.entries()) {
          if (i === 1) statement.setInt(0, 41);
          await new Promise<void>((resolve, reject) => {
            connection.listener = {
              done: (rows) => {
                answers.push(`${rows}`);
                resolve();
              },
              failed: reject,
              lost: reject,
            };
            if (i === 1) connection.captureNext();
            statement.execute();
          });
        }
        assert.deepEqual(answers, ["0", "1", "0"]);
        assert.deepEqual(connection.takeRows(), [[42]]);
        await assert.rejects(connection.prepare([{ sql: "SELECT FROM", params: [], kind: "read" }]), /1064/);
      } finally {
        await connection.close();
      }
    });

  test("local_infile is off: it is said how to set it, and set and put back when asked to", async () => {
    const said: string[] = [];
    const options = { onProgress: (line: string) => void said.push(line), signal };
    const result = await prepare(spec("oltp_read_only"), options);
    assert.equal(result.method, "insert");
    assert.match(said.join("\n"), /local_infile: OFF on .*--local-infile set/);
    assert.equal((await verify(spec("oltp_read_only"), QUIET)).ok, true);
    await cleanup(spec("oltp_read_only"), QUIET);
    assert.equal((await prepare(spec("oltp_read_only", {}, { localInfile: "set" }), QUIET)).method, "load-data");
    assert.equal(server.sql("SELECT @@GLOBAL.local_infile").trim(), "0");
    await cleanup(spec("oltp_read_only"), QUIET);
    server.sql(
      `CREATE USER admin@'127.0.0.1' IDENTIFIED BY '${PASSWORD}'; GRANT ALL ON ${DATABASE}.* TO admin@'127.0.0.1'; GRANT SYSTEM_VARIABLES_ADMIN ON *.* TO admin@'127.0.0.1'`,
    );
    const asAdmin = spec("oltp_read_only", { user: "admin" }, { localInfile: "set" });
    assert.equal((await prepare(asAdmin, QUIET)).method, "load-data");
    assert.equal(server.sql("SELECT @@GLOBAL.local_infile").trim(), "0");
  });

  test("caching_sha2_password: RSA without TLS, over TLS, over a socket, and from the server's memory", async () => {
    const password = "@:/#?%&'\" ü€";
    server.sql(
      `CREATE USER modern@'%' IDENTIFIED WITH caching_sha2_password BY '${password.replaceAll("'", "\\'")}'; GRANT ALL ON *.* TO modern@'%'; CREATE USER modern@localhost IDENTIFIED WITH caching_sha2_password BY '${password.replaceAll("'", "\\'")}'`,
    );
    const ways: [string, Partial<Options>, { socket?: string }][] = [
      ["RSA", {}, {}],
      ["TLS", { tls: { mode: "require" } }, {}],
      ["socket", {}, { socket: server.socket }],
    ];
    for (const [way, options, at] of ways)
      for (const remembered of [false, true]) {
        if (!remembered) server.sql("FLUSH PRIVILEGES");
        const connection = await connect({ user: "modern", password, database: "", ...options }, at);
        const [row] = await ask(connection, "SELECT CURRENT_USER(), @@autocommit");
        assert.match(String(row?.[0]), /^modern@/, `${way}, ${remembered ? "remembered" : "the first time"}`);
        assert.equal(String(row?.[1]), "1");
        await connection.close();
        await assert.rejects(connect({ user: "modern", password: "wrong", database: "", ...options }, at), /1045/);
      }
    server.sql("CREATE USER blank@'127.0.0.1' IDENTIFIED BY ''; GRANT ALL ON *.* TO blank@'127.0.0.1'");
    await (await connect({ user: "blank", password: "" })).close();
    server.sql(
      "CREATE USER rsa@'127.0.0.1' IDENTIFIED WITH sha256_password BY 'x'; GRANT ALL ON *.* TO rsa@'127.0.0.1'",
    );
    await (await connect({ user: "rsa", password: "x" })).close();
  });

  test("a server that takes TLS only says so, and takes the load over TLS", async () => {
    server.sql("SET GLOBAL require_secure_transport=ON");
    try {
      await assert.rejects(
        prepare(spec("oltp_read_write"), QUIET),
        /is let in over TLS only; expected --tls require or verify .*\(3159/,
      );
      const secure = spec("oltp_read_write", { tls: { mode: "require" } });
      await prepare(secure, QUIET);
      const window = only(await runEngine(secure));
      assert.deepEqual([window.transactions, window.errors.total - window.errors.restarts], [300, 0]);
    } finally {
      server.sql("SET GLOBAL require_secure_transport=OFF");
    }
  });

  for (const [settings, back] of [
    ["autocommit=0", "autocommit=1"],
    ["init_connect='SET autocommit=0'", "init_connect=''"],
    ["auto_increment_increment=3", "auto_increment_increment=1"],
    ["sql_mode='ANSI_QUOTES,NO_BACKSLASH_ESCAPES'", "sql_mode=DEFAULT"],
    ["max_allowed_packet=1048576", "max_allowed_packet=67108864"],
  ] as const)
    test(`with ${settings}`, async () => {
      server.sql(
        `CREATE USER IF NOT EXISTS plain@'127.0.0.1' IDENTIFIED BY '${PASSWORD}'; GRANT ALL ON ${DATABASE}.* TO plain@'127.0.0.1'; SET GLOBAL ${settings}`,
      );
      try {
        for (const workload of ["oltp_read_write", "oltp_insert"]) {
          const wanted = spec(workload, { user: "plain" });
          await cleanup(wanted, QUIET);
          await prepare(wanted, QUIET);
          const window = only(await runEngine(wanted));
          assert.deepEqual(
            [window.complete, window.transactions, window.errors.total - window.errors.restarts],
            [true, 300, 0],
          );
        }
        const rows = server.sql("SELECT (SELECT COUNT(*) FROM sbtest1) + (SELECT COUNT(*) FROM sbtest2)", DATABASE);
        assert.equal(Number(rows), 2 * 2000 + 300, "every insert is there after its session is gone");
      } finally {
        server.sql(`SET GLOBAL ${back}`);
      }
    });

  test("the limits of prepared statements and sessions are known before a run", async () => {
    const many = specFor([server.port], [{ workload: "oltp_read_write", threads: 192 }], { data: { tables: 24 } });
    assert.match(
      (await checkCapacity(many, { signal })).join("\n"),
      /^max_prepared_stmt_count: 16382 on .*; expected 41664/,
    );
    assert.deepEqual(await checkCapacity(spec("oltp_read_write"), { signal }), []);
  });
});
