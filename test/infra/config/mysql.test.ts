/** What is said about MySQL before anything is created. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { engineOf } from "../../../infra/databases/index.ts";
import { type GroupConfig, groupName, groupSettings } from "../../../infra/databases/mysql/group-conf.ts";
import { componentOf } from "../../../infra/databases/mysql/install.ts";
import { configOf, problemsOf, warningsOf } from "./config.ts";

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

test("a group's options: names and bounds, the topology's own, at most nine members, an even number", () => {
  const asked = (options: object, nodes = 3): string[] =>
    problemsOf({ sites: [local(nodes)], database: { engine: "mysql", replication: "group", options } });
  assert.deepEqual(
    asked({
      group_replication_consistency: "AFTER",
      group_replication_paxos_single_leader: true,
      group_replication_member_expel_timeout: 0,
      group_replication_autorejoin_tries: 2016,
      group_replication_flow_control_mode: "disabled",
    }),
    [],
  );
  assert.deepEqual(asked({ group_replication_member_expel_timeout: 3601 }), [
    "meshbench:database.options.group_replication_member_expel_timeout: 3601; expected a whole number from 0 to 3600",
  ]);
  assert.deepEqual(asked({ group_replication_consistency: "STRONG" }), [
    "meshbench:database.options.group_replication_consistency: STRONG; expected one of EVENTUAL, BEFORE_ON_PRIMARY_FAILOVER, BEFORE, AFTER, BEFORE_AND_AFTER",
  ]);
  assert.match(
    asked({ group_replication_group_name: "x" }).join(),
    /group_name: x; expected no such key: the topology/,
  );
  assert.match(
    asked({ "gcs.fc_limit": 1 }).join(),
    /options\.gcs\.fc_limit: unknown option of Group Replication; expected/,
  );
  assert.match(asked({}, 10).join(), /"group" with 10 database nodes .*; expected at most 9/);
  const even = { sites: [local(4)], database: { engine: "mysql", replication: "group" } };
  assert.match(warningsOf(even).join(), /4 database nodes: an even number/);
});

test("MaxScale does not stand before a group; options belong to designs that have some", () => {
  const group = { engine: "mysql", replication: "group" };
  assert.match(
    problemsOf({ sites: [local(3)], database: group, proxy: { kind: "maxscale" } }).join(),
    /"maxscale"; expected "haproxy" or "none" before MySQL Group Replication/,
  );
  assert.match(
    problemsOf({ sites: [local(1)], database: { engine: "mysql", primaries: "multi" } }).join(),
    /database\.primaries: given for mysql with replication none; expected with mysql with replication group only/,
  );
});

test("a named set is what was published, and gives way to what is given beside it", () => {
  const { database } = configOf({
    sites: [local(3)],
    database: {
      engine: "mysql",
      replication: "group",
      tuning: "published-003",
      variables: { replica_parallel_workers: 8 },
    },
  });
  assert.deepEqual(groupSettings(database as GroupConfig), {
    options: { group_replication_flow_control_mode: "DISABLED" },
    variables: { replica_parallel_workers: "8" },
  });
});

test("group-wan has the primary alone propose: a commit then waits for a majority, and several primaries are refused", () => {
  const group = { engine: "mysql", replication: "group" };
  const commit = (database: object): string =>
    engineOf(configOf({ sites: [local(3)], database: { ...group, ...database } }).database).commit;
  assert.equal(commit({}), "farthest-member");
  assert.equal(commit({ tuning: "group-wan" }), "majority");
  assert.equal(commit({ options: { group_replication_paxos_single_leader: true } }), "majority");
  assert.equal(
    commit({ tuning: "group-wan", options: { group_replication_paxos_single_leader: false } }),
    "farthest-member",
  );
  const multi = { ...group, primaries: "multi" };
  assert.deepEqual(problemsOf({ sites: [local(3)], database: { ...multi, tuning: "group-wan" } }), [
    'meshbench:database.tuning: "group-wan" with primaries "multi"; expected with primaries "single" only',
  ]);
  assert.deepEqual(
    problemsOf({
      sites: [local(3)],
      database: { ...multi, options: { group_replication_paxos_single_leader: true } },
    }),
    [
      'meshbench:database.options.group_replication_paxos_single_leader: ON with primaries "multi"; expected with primaries "single" only',
    ],
  );
});

test("a group's name is a UUID that belongs to the stack", () => {
  assert.match(groupName("0123456789ab"), /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-9[0-9a-f]{3}-[0-9a-f]{12}$/);
  assert.equal(groupName("0123456789ab"), groupName("0123456789ab"));
  assert.notEqual(groupName("0123456789ab"), groupName("0123456789ac"));
});

test("replicas: at least one, MySQL's own version rule, what the topology sets, no MaxScale; semi-sync's keys are its own", () => {
  const asked = (database: object, nodes = 2, more: object = {}): string =>
    problemsOf({ sites: [local(nodes)], database: { engine: "mysql", ...database }, ...more }).join("\n");
  const { database } = configOf({ sites: [local(2)], database: { engine: "mysql", replication: "semi-sync" } });
  assert.deepEqual(database, {
    engine: "mysql",
    replication: "semi-sync",
    version: "debian",
    variables: {},
    semiSync: { waitPoint: "AFTER_SYNC", timeoutMs: 10_000 },
  });
  for (const replication of ["async", "semi-sync"]) {
    assert.equal(asked({ replication }), "");
    assert.equal(
      asked({ replication }, 1),
      `meshbench:database.replication: "${replication}" with 1 database node in meshbench:sites; expected at least 2, a primary and a replica`,
    );
    assert.match(asked({ replication, version: "8.4.6" }), /^meshbench:database\.version: 8\.4\.6; expected "debian"/);
    for (const name of ["gtid_mode", "super_read_only", "rpl_semi_sync_source_timeout"])
      assert.match(
        asked({ replication, variables: { [name]: "1" } }),
        new RegExp(`variables\\.${name}: given; expected no such key`),
      );
    assert.match(
      asked({ replication }, 2, { proxy: { kind: "maxscale" } }),
      /"maxscale"; expected "haproxy" or "none" before MySQL/,
    );
  }
  assert.match(
    asked({ replication: "async", semiSync: {} }),
    /semiSync: given for mysql with replication async; expected with mariadb with replication semi-sync, mysql with replication semi-sync only/,
  );
  assert.match(asked({ replication: "semi-sync", semiSync: { timeoutMs: 0 } }), /semiSync\.timeoutMs: 0; expected/);
  assert.match(asked({ replication: "semi-sync", semiSync: { waitPoint: "NEVER" } }), /semiSync\.waitPoint: "NEVER"/);
});
