/** What a URL on the command line means, and what is refused because nobody would obey it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Flags } from "../../../workloads/command/flags.ts";
import { specFrom } from "../../../workloads/command/flags.ts";
import { parseUrl } from "../../../workloads/command/url.ts";

const parts = (text: string): Record<string, unknown> => ({ ...parseUrl(text) });

test("hosts: names, both kinds of address, sockets of both servers, names with escaped letters", () => {
  const bench = { user: "bench", database: "sbtest", role: "any" };
  assert.deepEqual(parts("mysql://bench@db1/sbtest"), { driver: "mysql", host: "db1", port: 3306, ...bench });
  assert.deepEqual(parts("mariadb://bench@[fd00::1]:3307/sbtest"), {
    driver: "mysql",
    host: "fd00::1",
    port: 3307,
    ...bench,
  });
  assert.deepEqual(parts("postgres://bench@[::1]/?role=proxy"), {
    driver: "postgres",
    host: "::1",
    port: 5432,
    ...bench,
    role: "proxy",
  });
  const mysqlSocket = { driver: "mysql", host: "localhost", port: 3306, socket: "/run/mysqld/mysqld.sock", ...bench };
  assert.deepEqual(parts("mysql://bench@localhost/sbtest?socket=/run/mysqld/mysqld.sock"), mysqlSocket);
  assert.deepEqual(parts("mysql://bench@/sbtest?socket=/run/mysqld/mysqld.sock"), mysqlSocket);
  const postgresSocket = { driver: "postgres", host: "localhost", port: 5433, socket: "/run/postgresql", ...bench };
  assert.deepEqual(parts("postgresql://bench@localhost:5433/sbtest?host=/run/postgresql"), postgresSocket);
  assert.deepEqual(parts("postgresql://bench@%2Frun%2Fpostgresql:5433/sbtest"), postgresSocket);
  assert.deepEqual(parts("mysql://us%40er%3A%2F%23@db1/d%2Fb"), {
    driver: "mysql",
    host: "db1",
    port: 3306,
    user: "us@er:/#",
    database: "d/b",
    role: "any",
  });
});

test("TLS by the words of both servers' clients", () => {
  assert.deepEqual(parseUrl("postgres://u@h/d?sslmode=disable").tls, { mode: "off" });
  assert.deepEqual(parseUrl("postgres://u@h/d?sslmode=require").tls, { mode: "require" });
  assert.deepEqual(parseUrl("postgres://u@h/d?sslmode=verify-full&sslrootcert=/ca.pem").tls, {
    mode: "verify",
    caFile: "/ca.pem",
  });
  assert.deepEqual(parseUrl("mysql://u@h/d?ssl-mode=VERIFY_IDENTITY&ssl-ca=/ca.pem").tls, {
    mode: "verify",
    caFile: "/ca.pem",
  });
});

const refusals: [string, RegExp][] = [
  ["mysql://us%er@h/d", /--url: user "us%er"; expected a % in it written as %25/],
  ["mysql://u@h/d%zz", /--url: database "d%zz"; expected/],
  ["mysql://u:p@ss@h/d", /MESHBENCH_DB_PASSWORD/],
  ["mysql://u:geheim/x@h/d", /%2F/],
  ["mysql://u:geheim#x@h/d", /%23/],
  ["mysql://u@h/d#x", /expected %23/],
  ["mysql://h/d", /the user is missing/],
  ["oracle://u@h/d", /mysql:\/\/ or postgres:\/\//],
  ["mysql://u@h/d?sslmod=require", /"sslmod"; expected one of role, socket, .*did you mean sslmode/],
  ["mysql://u@h/d?charset=latin1", /"charset"; expected one of/],
  ["postgres://u@h/d?sslmode=prefer", /sslmode=prefer; expected disable, require or verify-full/],
  ["postgres://u@h/d?sslmode=verify-ca", /sslmode=verify-ca; expected/],
  ["mysql://u@h/d?ssl-mode=PREFERRED", /expected DISABLED, REQUIRED or VERIFY_IDENTITY/],
  ["postgres://u@h/d?sslmode=require&sslrootcert=/ca.pem", /expected sslmode=verify-full/],
  ["mysql://u@h/d?socket=mysqld.sock", /socket=mysqld\.sock; expected the path/],
  ["mysql://u@h/d?role=master", /role=master; expected one of/],
];
for (const [url, pattern] of refusals)
  test(`refused: ${url}`, () => {
    assert.throws(
      () => parseUrl(url),
      (error: Error) =>
        pattern.test(error.message) && !error.message.includes("geheim") && !error.message.includes("\n"),
    );
  });

test("a URL's TLS and its socket get into the spec, and contradict neither flags nor each other", () => {
  const flags = (...url: string[]): Flags => ({
    url,
    threads: "1",
    time: "1",
    warmup: "0",
    repeats: "1",
    interval: "1",
    tables: "1",
    tableSize: "1",
    order: "given",
    rest: "0",
    policy: "round-robin",
    reconnect: "never",
    connectRate: "0",
    statementTimeout: "1000",
    dbPsMode: "auto",
    tls: "off",
    loadThreads: "1",
    method: "auto",
  });
  const { target, observe } = specFrom(flags("postgres://u@h/d?sslmode=verify-full&host=/run/pg"), () => false);
  assert.deepEqual(target.tls, { mode: "verify" });
  assert.deepEqual([target.endpoints[0]!.socket, observe[0]!.socket], ["/run/pg", "/run/pg"]);
  assert.throws(
    () => specFrom({ ...flags("postgres://u@h/d?sslmode=require"), tls: "verify" }, (name) => name === "tls"),
    /--tls: given beside a URL's sslmode/,
  );
  assert.throws(() => specFrom(flags("mysql://u@a/d?sslmode=require", "mysql://u@b/d"), () => false), /differ/);
  assert.throws(() => specFrom({ ...flags("mysql://u@a/d"), tlsCa: "/ca.pem" }, () => false), /--tls-ca/);
});
