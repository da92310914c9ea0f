/** What is said about MySQL before anything is created. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { componentOf } from "../../../infra/databases/mysql/install.ts";
import { configOf, problemsOf } from "./config.ts";

const local = (nodes: number) => ({ name: "here", kind: "local", nodes });
const host = { name: "there", kind: "ssh", nodes: 1, scanHostKeys: true, hosts: [{ address: "192.0.2.7" }] };

test("MySQL without a word about the replication is one server of what local nodes have", () => {
  const { database } = configOf({ sites: [local(1)], database: { engine: "mysql" } });
  assert.deepEqual(database, { engine: "mysql", replication: "none", version: "debian", variables: {} });
  assert.match(
    problemsOf({ sites: [local(3)], database: { engine: "mysql" } }).join("\n"),
    /^meshbench:database\.replication: "none", one mysql server, with 3 database nodes .*; expected 1$/,
  );
});

test("a version that the nodes can't have is refused, for local nodes and for hosts", () => {
  assert.deepEqual(problemsOf({ sites: [local(1)], database: { engine: "mysql", version: "8.4.6" } }), [
    'meshbench:database.version: 8.4.6; expected "debian" with local nodes (here), which have the MySQL of Debian\'s unstable suite; the result says which one that was',
  ]);
  const onHost = problemsOf({ sites: [host], database: { engine: "mysql" } });
  assert.equal(
    onHost.filter((line) => line.startsWith("meshbench:database.version")).join(),
    'meshbench:database.version: "debian"; expected an exact version of the vendor\'s repository such as 8.4.6 on there, since no release of Debian has MySQL',
  );
  assert.match(
    problemsOf({ sites: [local(1)], database: { engine: "mysql", version: "8.4" } }).join(),
    /database\.version: "8\.4"; expected .*exact version such as 8\.4\.6/,
  );
});

test("what the topology sets can't be given; MaxScale does not stand before MySQL", () => {
  const asked = (variables: object, more: object = {}) =>
    problemsOf({ sites: [local(1)], database: { engine: "mysql", variables }, ...more }).join("\n");
  assert.match(asked({ gtid_mode: "ON" }), /variables\.gtid_mode: given; expected no such key: the topology sets it/);
  assert.match(asked({}, { proxy: { kind: "maxscale" } }), /"maxscale"; expected "haproxy" or "none" before MySQL/);
});

test("each version's component of the vendor's repository", () => {
  assert.deepEqual(["8.0.43", "8.4.6", "9.4.0", "9.7.1"].map(componentOf), [
    "mysql-8.0",
    "mysql-8.4-lts",
    "mysql-innovation",
    "mysql-9.7-lts",
  ]);
});
