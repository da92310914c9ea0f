/**
 * How sessions are opened and what servers' settings make of them, on a real MariaDB: authentication, addresses,
 * sockets, certificates, server defaults that would change the load, and limits that are known before a run.
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createPrivateKey, createPublicKey, randomBytes, verify as verifySignature } from "node:crypto";
import dns from "node:dns";
import { join } from "node:path";
import { after, before, describe, mock, test } from "node:test";
import { ask, only, runEngine, specFor } from "../../../harness/servers/engine.ts";
import { CONNECT, DATABASE, Mariadb, mariadbPackages, PASSWORD, USER } from "../../../harness/servers/mariadb.ts";
import type { RunSpec, RunSpecInput } from "../../../workloads/contract.ts";
import type { Connection, DriverError } from "../../../workloads/drivers/driver.ts";
import { mysqlDriver } from "../../../workloads/drivers/mysql/driver.ts";
import { signEd25519 } from "../../../workloads/drivers/mysql/ed25519.ts";
import { checkCapacity } from "../../../workloads/prepare/capacity.ts";
import { checkData, cleanup, prepare, verify } from "../../../workloads/prepare/index.ts";

const packages = await mariadbPackages();
const signal = new AbortController().signal;
const QUIET = { onProgress() {}, signal };
process.env["MESHBENCH_DB_PASSWORD"] = PASSWORD;

test("ed25519: with a password of 32 bytes it is plain Ed25519, which Node verifies", () => {
  for (const password of ["0123456789abcdef0123456789abcdef", "ü".repeat(16)]) {
    const seed = Buffer.from(password, "utf8");
    // The wrapping of a private key in PKCS #8 (RFC 8410).
    const der = Buffer.concat([Buffer.from("302e020100300506032b657004220420", "hex"), seed]);
    const key = createPublicKey(createPrivateKey({ key: der, format: "der", type: "pkcs8" }));
    for (let round = 0; round < 20; round++) {
      const scramble = randomBytes(32);
      assert.ok(verifySignature(null, scramble, key, signEd25519(password, scramble)));
      assert.ok(!verifySignature(null, scramble, key, signEd25519(`${password}x`, scramble)));
    }
  }
});

describe("sessions on MariaDB", { skip: packages.ok ? false : `SKIPPED: ${packages.reason}` }, () => {
  let server: Mariadb;
  before(async () => {
    server = await Mariadb.start();
  });
  after(() => server?.stop());

  type Options = Parameters<typeof mysqlDriver.connect>[1];
  type At = { host?: string; port?: number; socket?: string };

  async function connect(options: Partial<Options> = {}, at: At = {}): Promise<Connection> {
    return mysqlDriver.connect(
      { name: "a", host: "127.0.0.1", port: server.port, role: "any", ...at },
      {
        ...CONNECT,
        ...options,
      },
    );
  }

  async function one(sql: string, options: Partial<Options> = {}, at: At = {}): Promise<string> {
    const connection = await connect(options, at);
    try {
      return String((await ask(connection, sql))[0]?.[0]);
    } finally {
      await connection.close();
    }
  }

  const spec = (
    workload: string,
    more: {
      target?: Partial<RunSpecInput["target"]>;
      tables?: number;
      size?: number;
      threads?: number;
      events?: number;
    } = {},
  ): RunSpec =>
    specFor(
      [server.port],
      [
        {
          workload,
          threads: more.threads ?? 2,
          warmupSeconds: 0,
          durationSeconds: 30,
          options: more.events === undefined ? {} : { events: more.events },
        },
      ],
      { target: more.target ?? {}, data: { tables: more.tables ?? 2, tableSize: more.size ?? 2000 } },
    );

  /** With these settings: tables are made, all kinds of statement run without an error, and the data are whole. */
  async function worksWith(settings: string, target: Partial<RunSpecInput["target"]> = {}): Promise<void> {
    for (const setting of settings.split("; ")) server.sql(`SET GLOBAL ${setting}`);
    for (const workload of ["oltp_read_write", "oltp_insert", "bulk_insert"]) {
      const wanted = spec(workload, { events: 300, target });
      await cleanup(wanted, QUIET);
      await prepare(wanted, QUIET);
      if (workload !== "bulk_insert") {
        const checked = await verify(wanted, QUIET);
        assert.deepEqual(checked.problems, []);
      }
      const window = only(await runEngine(wanted));
      // Sessions that meet in one row may deadlock, which says nothing of the settings.
      const { "1213": _, ...errors } = window.errors.byCode;
      assert.deepEqual([window.complete, window.transactions, errors], [true, 300, {}], workload);
      if (workload !== "oltp_read_write") {
        const rows = Number(
          server.sql(
            "SELECT SUM(n) FROM (SELECT COUNT(*) AS n FROM sbtest1 UNION ALL SELECT COUNT(*) FROM sbtest2) t",
            DATABASE,
          ),
        );
        assert.equal(rows, workload === "bulk_insert" ? 300 : 2 * 2000 + 300, `${workload}: rows on the server`);
      }
      await cleanup(wanted, QUIET);
    }
  }

  test("auto_increment_increment 3", () =>
    worksWith("auto_increment_increment=3").finally(() => server.sql("SET GLOBAL auto_increment_increment=1")));

  test("sql_mode ANSI_QUOTES, NO_BACKSLASH_ESCAPES", async () => {
    const mode = server.sql("SELECT @@GLOBAL.sql_mode").trim();
    for (const preparedStatements of ["auto", "disable"] as const)
      await worksWith(`sql_mode='${mode},ANSI_QUOTES,NO_BACKSLASH_ESCAPES'`, { preparedStatements });
    server.sql(`SET GLOBAL sql_mode='${mode}'`);
  });

  test("max_allowed_packet 1M, by both ways of loading", async () => {
    await worksWith("max_allowed_packet=1048576");
    await worksWith("max_allowed_packet=1048576; local_infile=OFF");
    server.sql("SET GLOBAL max_allowed_packet=16777216; SET GLOBAL local_infile=ON");
  });

  for (const [name, on, off] of [
    ["autocommit=0 on the server", "autocommit=0", "autocommit=1"],
    ["init_connect='SET autocommit=0'", "init_connect='SET autocommit=0'", "init_connect=''"],
  ] as const)
    test(`${name}: prepare ends, and what runs outside of a transaction is committed`, async () => {
      // init_connect is for accounts without SUPER only.
      server.sql(
        `CREATE OR REPLACE USER plain@'127.0.0.1' IDENTIFIED BY '${PASSWORD}'; GRANT ALL ON ${DATABASE}.* TO plain@'127.0.0.1'`,
      );
      try {
        server.sql(`SET GLOBAL ${on}`);
        assert.equal(await one("SELECT @@autocommit", { user: "plain" }), "1");
        assert.equal(await one("SELECT @@autocommit", { user: "plain", forceLibrary: true }), "1");
        await worksWith(on, { user: "plain" });
        const wanted = spec("oltp_update_index", { events: 200, target: { user: "plain" } });
        await prepare(wanted, QUIET);
        const sum = (): number =>
          Number(server.sql("SELECT (SELECT SUM(k) FROM sbtest1) + (SELECT SUM(k) FROM sbtest2)", DATABASE));
        const earlier = sum();
        const { result } = await runEngine(wanted);
        assert.equal(sum() - earlier, 200, "every update is there after the sessions are gone");
        assert.deepEqual(result.engine["sessionSetup"], ["SET autocommit=1"]);
        await cleanup(wanted, QUIET);
      } finally {
        server.sql(`SET GLOBAL ${off}`);
      }
    });

  test("an ed25519 account, also with a password of special letters, by the load and by prepare", async () => {
    server.sql("INSTALL SONAME 'auth_ed25519'");
    for (const password of ["bench-test", "@:/#?%&'\\\" ü€", "x".repeat(80)]) {
      const quoted = password.replaceAll("\\", "\\\\").replaceAll("'", "\\'");
      server.sql(
        `CREATE OR REPLACE USER modern@'127.0.0.1' IDENTIFIED VIA ed25519 USING PASSWORD('${quoted}'); GRANT ALL ON *.* TO modern@'127.0.0.1'`,
      );
      assert.match(await one("SELECT CURRENT_USER()", { user: "modern", password }), /^modern@/);
      await assert.rejects(
        connect({ user: "modern", password: `${password}x` }),
        (e: DriverError) => e.code === "1045",
      );
    }
    process.env["MESHBENCH_DB_PASSWORD"] = "x".repeat(80);
    await prepare(spec("oltp_read_only", { size: 100, target: { user: "modern" } }), QUIET);
    process.env["MESHBENCH_DB_PASSWORD"] = PASSWORD;
  });

  test("a way of authentication that is not known is named", async () => {
    server.sql(
      `CREATE OR REPLACE USER pam@'127.0.0.1' IDENTIFIED VIA mysql_native_password; INSTALL SONAME 'auth_pam'`,
    );
    server.sql("CREATE OR REPLACE USER pam@'127.0.0.1' IDENTIFIED VIA pam USING 'meshbench'");
    await assert.rejects(
      connect({ user: "pam" }),
      /authentication plugin: (dialog|mysql_clear_password); expected caching_sha2_password, .* ed25519/,
    );
  });

  test("a password with @ : / # and letters beyond ASCII in MESHBENCH_DB_PASSWORD", async () => {
    const password = "p@ss:w/rd#%41 é";
    server.sql(
      `CREATE OR REPLACE USER odd@'127.0.0.1' IDENTIFIED BY '${password}'; GRANT ALL ON *.* TO odd@'127.0.0.1'`,
    );
    assert.match(await one("SELECT CURRENT_USER()", { user: "odd", password }), /^odd@/);
    process.env["MESHBENCH_DB_PASSWORD"] = password;
    await prepare(spec("oltp_read_only", { size: 100, target: { user: "odd" } }), QUIET);
    process.env["MESHBENCH_DB_PASSWORD"] = PASSWORD;
  });

  test("over a unix socket: tables, load and observation", async () => {
    server.sql(
      `CREATE OR REPLACE USER ${USER}@localhost IDENTIFIED BY '${PASSWORD}'; GRANT ALL ON *.* TO ${USER}@localhost`,
    );
    const at = { name: "a", host: "localhost", port: 1, socket: server.socket };
    const wanted = { ...spec("oltp_read_write", { events: 200, target: { endpoints: [at] } }), observe: [at] };
    await prepare(wanted, QUIET);
    assert.deepEqual(await checkData(wanted, QUIET), { problems: [], notes: [] });
    const window = only(await runEngine(wanted));
    assert.deepEqual([window.transactions, window.errors.total, window.driver.path], [200, 0, "fast"]);
    await assert.rejects(connect({}, { socket: "/none/here.sock" }), (e: DriverError) => e.code === "ENOENT");
    await cleanup(wanted, QUIET);
  });

  test("a name with two addresses, one of them dead: the other one serves; both dead: both are named", async () => {
    const addresses = (...list: string[]): void => {
      mock.restoreAll();
      mock.method(dns, "lookup", (_name: string, options: { all?: boolean }, done: (...args: unknown[]) => void) =>
        process.nextTick(() =>
          options.all === true
            ? done(
                null,
                list.map((address) => ({ address, family: address.includes(":") ? 6 : 4 })),
              )
            : done(null, list[0], 4),
        ),
      );
    };
    try {
      // Refused, and (a test network) never answered.
      for (const dead of ["127.0.0.2", "::1", "192.0.2.1"]) {
        addresses(dead, "127.0.0.1");
        assert.equal(await one("SELECT 1", {}, { host: "two.example" }), "1", dead);
        assert.equal(await one("SELECT 1", { forceLibrary: true }, { host: "two.example" }), "1", dead);
        await prepare(
          spec("oltp_read_only", {
            size: 10,
            target: { endpoints: [{ name: "a", host: "two.example", port: server.port }] },
          }),
          QUIET,
        );
      }
      addresses("127.0.0.2", "127.0.0.3");
      await assert.rejects(
        connect({}, { host: "two.example" }),
        (e: DriverError) => e.code === "ECONNREFUSED" && /127\.0\.0\.2:.*; .*127\.0\.0\.3:/.test(e.message),
      );
    } finally {
      mock.restoreAll();
    }
  });

  test("limits that are known are said before the run, with the number that is needed", async () => {
    const wanted = spec("oltp_read_write", { threads: 192, tables: 24 });
    server.sql("SET GLOBAL max_prepared_stmt_count=16382");
    assert.deepEqual(await checkCapacity(wanted, { signal }), [
      `max_prepared_stmt_count: 16382 on 127.0.0.1:${server.port}, 16382 of it free; expected 41664 for oltp_read_write with 192 threads with 217 statements each; raise it, or use fewer tables or threads, or --db-ps-mode disable`,
    ]);
    assert.deepEqual(await checkCapacity(spec("oltp_read_write", { threads: 64, tables: 24 }), { signal }), []);
    assert.deepEqual(
      await checkCapacity(
        spec("oltp_read_write", { threads: 192, tables: 24, target: { preparedStatements: "disable" } }),
        { signal },
      ),
      [],
    );
    assert.match(
      (await checkCapacity(spec("oltp_point_select", { threads: 500 }), { signal })).join("\n"),
      /^max_connections: 400 on 127\.0\.0\.1:\d+, 400 of it free; expected 500 for oltp_point_select with 500 threads$/,
    );
    server.sql(
      `CREATE OR REPLACE USER few@'127.0.0.1' IDENTIFIED BY '${PASSWORD}' WITH MAX_USER_CONNECTIONS 5; GRANT ALL ON *.* TO few@'127.0.0.1'`,
    );
    assert.match(
      (await checkCapacity(spec("oltp_point_select", { threads: 6, target: { user: "few" } }), { signal })).join("\n"),
      /^max_user_connections: 5 on .*; expected 6 for/,
    );
  });

  test("TLS: the certificate's address is compared, an account that asks for TLS is told so", async (t) => {
    const [key, cert] = ["key.pem", "cert.pem"].map((name) => join(server.directory, name)) as [string, string];
    const make = async (name: string): Promise<boolean> => {
      const subject = ["-subj", "/CN=test", "-addext", `subjectAltName=${name}`];
      const made = spawnSync("openssl", [
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-days",
        "2",
        ...subject,
        "-keyout",
        key,
        "-out",
        cert,
      ]);
      if (made.status !== 0) return false;
      spawnSync("chown", ["mysql", key, cert]);
      await server.kill();
      server.extra.splice(0, Infinity, `--ssl-key=${key}`, `--ssl-cert=${cert}`);
      await server.startAgain();
      return true;
    };
    const tls = { mode: "verify", caFile: cert } as const;
    const small = (target: Partial<RunSpecInput["target"]>): RunSpec => spec("oltp_read_only", { size: 10, target });
    if (!(await make("IP:127.0.0.1"))) return t.skip("SKIPPED: no openssl");
    assert.equal(await one("SELECT 1", { tls }), "1");
    await prepare(small({ tls }), QUIET);
    for (const other of ["IP:127.0.0.2", "DNS:localhost", "DNS:127.0.0.1"]) {
      await make(other);
      await assert.rejects(connect({ tls }), /does not match certificate's altnames|IP: 127\.0\.0\.1/, other);
      await assert.rejects(prepare(small({ tls }), QUIET), /does not match certificate's altnames/, other);
      assert.equal(await one("SELECT 1", { tls: { mode: "require" } }), "1", "require does not look at names");
    }
    server.sql(
      `CREATE OR REPLACE USER sure@'127.0.0.1' IDENTIFIED BY '${PASSWORD}' REQUIRE SSL; GRANT ALL ON *.* TO sure@'127.0.0.1'; SET GLOBAL require_secure_transport=OFF`,
    );
    await assert.rejects(
      prepare(small({ user: "sure" }), QUIET),
      /user "sure" is let in over TLS only; expected --tls require or verify/,
    );
    await prepare(small({ user: "sure", tls: { mode: "require" } }), QUIET);
    server.sql("SET GLOBAL require_secure_transport=ON");
    await assert.rejects(
      prepare(small({}), QUIET),
      /user "bench" is let in over TLS only; expected --tls require or verify/,
    );
  });
});
