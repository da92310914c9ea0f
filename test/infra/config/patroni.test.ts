/** What is said about PostgreSQL under Patroni before anything is created, and what its times are made from. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { engineOf } from "../../../infra/databases/index.ts";
import { checkEtcd, etcdTimes, membersOf } from "../../../infra/databases/patroni/etcd-conf.ts";
import { configOf, problemsOf, warningsOf } from "./config.ts";

const sites = (east: number, west = 0) => [
  { name: "east", kind: "local", nodes: east },
  ...(west === 0 ? [] : [{ name: "west", kind: "local", nodes: west }]),
];
const links = [{ between: ["east", "west"], rttMs: 80 }];
const said = (database: object, more: object = {}): string =>
  problemsOf({ sites: sites(2, 1), links, database: { engine: "postgresql", ...database }, ...more }).join("\n");

test("a primary needs a standby; two nodes are warned about, three are not", () => {
  for (const replication of ["async", "sync"])
    assert.deepEqual(problemsOf({ sites: sites(1), database: { engine: "postgresql", replication } }), [
      `meshbench:database.replication: "${replication}" with 1 database node in meshbench:sites; expected at least 2, a primary and a standby`,
    ]);
  const of = (nodes: number) =>
    warningsOf({ sites: sites(nodes), database: { engine: "postgresql", replication: "async" } }).filter((w) =>
      /etcd/.test(w),
    );
  assert.match(of(2).join(), /the first alone keeps the cluster's state in etcd; expected at least 3/);
  assert.deepEqual(of(3), []);
});

test("standbys are database nodes other than the first, and as many as are asked for", () => {
  assert.equal(
    said({ replication: "sync", standbys: ["west-2"] }),
    'meshbench:database.standbys: "west-2"; expected database nodes: east-1, east-2, west-1',
  );
  assert.match(said({ replication: "sync", standbys: ["east-1"] }), /begins as the primary; expected another/);
  assert.match(
    said({ replication: "sync", standbys: ["west-1"], options: { synchronous_node_count: 2 } }),
    /synchronous_node_count: 2; expected at most 1/,
  );
  assert.match(
    said({ replication: "sync", variables: { synchronous_commit: "local" } }),
    /synchronous_commit: local; expected on, remote_write, remote_apply/,
  );
  assert.equal(said({ replication: "sync", standbys: ["west-1"] }), "");
});

test("Patroni's settings have its own names and bounds; those of another engine are told whose they are", () => {
  const asked = (options: object, replication = "async"): string => said({ replication, options });
  assert.match(asked({ ttl: 10 }), /options\.ttl: 10; expected a whole number from 20 to 86400/);
  assert.match(asked({ retry_timeout: 15 }), /options\.ttl: 30; expected at least 40: loop_wait \(10\) and twice/);
  assert.match(asked({ ttll: 40 }), /options\.ttll: unknown setting of Patroni; expected one of check_timeline/);
  assert.match(asked({ synchronous_mode: true }, "sync"), /expected no such key: the topology sets it/);
  assert.match(asked({ synchronous_mode_strict: true }), /expected with replication "sync" only/);
  assert.equal(asked({ synchronous_mode_strict: true }, "sync"), "");
  assert.match(said({ replication: "async", standbys: ["east-2"] }), /postgresql with replication sync/);
  assert.match(said({ replication: "async", sstMethod: "rsync" }), /mariadb with replication galera/);
  assert.match(said({ replication: "async", variables: { wal_level: "logical" } }), /wal_level: given; expected no/);
  assert.match(said({ replication: "async" }, { proxy: { kind: "maxscale" } }), /expected "haproxy" or "none" before/);
});

test("etcd's times come from the round trip, and are refused below it", () => {
  assert.deepEqual(etcdTimes(0.3), { heartbeatMs: 100, electionMs: 1000 });
  assert.deepEqual(etcdTimes(80), { heartbeatMs: 150, electionMs: 1500 });
  assert.deepEqual(etcdTimes(80, { heartbeatMs: 90 }), { heartbeatMs: 90, electionMs: 900 });
  assert.deepEqual(checkEtcd({ heartbeatMs: 50 }, 80), [
    "meshbench:database.etcd.heartbeatMs: 50; expected at least 80, the highest round trip between sites",
  ]);
  assert.match(checkEtcd({ electionMs: 700 }, 80).join(), /electionMs: 700; expected at least 800: 5 heartbeats/);
  assert.match(said({ replication: "async", etcd: { heartbeatMs: 79 } }), /heartbeatMs: 79; expected at least 80/);
  assert.equal(said({ replication: "async", etcd: { heartbeatMs: 80, electionMs: 800 } }), "");
});

test("an odd number of nodes keeps etcd's state, and a site that grows leaves the members where they are", () => {
  const of = (...counts: number[]): string[] =>
    membersOf(
      counts.flatMap((count, s) =>
        Array.from({ length: count }, (_, i) => ({ site: `s${s}`, name: `s${s}-${i + 1}` })),
      ),
    ).map(({ name }) => name);
  assert.deepEqual(of(2), ["s0-1"]);
  assert.deepEqual(of(2, 1), ["s0-1", "s1-1", "s0-2"]);
  assert.deepEqual(of(3, 1), ["s0-1", "s1-1", "s0-2"]);
  assert.deepEqual(of(3, 2), ["s0-1", "s1-1", "s0-2", "s1-2", "s0-3"]);
});

test("patroni-wan: times for the distance, WAL that is small on the wire and kept longer; what is given wins", () => {
  const of = (rttMs: number, more: object = {}) => {
    const { database } = configOf({
      sites: sites(2, 1),
      links: [{ between: ["east", "west"], rttMs }],
      database: { engine: "postgresql", replication: "sync", tuning: "patroni-wan", ...more },
    });
    return engineOf(database).settings(database);
  };
  assert.deepEqual(of(80), { wal_compression: "on", wal_keep_size: "512MB" });
  assert.deepEqual(of(300), { retry_timeout: "18", ttl: "46", wal_compression: "on", wal_keep_size: "512MB" });
  assert.equal(of(300, { options: { ttl: 60 }, variables: { wal_keep_size: "2GB" } })["ttl"], "60");
});
