/** MySQL Group Replication on local nodes: members, settings, the group's own settings, growth. */

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { TestStack } from "../../harness/stack.ts";
import type { ConfigInput } from "../../infra/config/schema.ts";

const config = (database: Record<string, unknown>, west = 1): ConfigInput => ({
  sites: [
    { name: "east", kind: "local", nodes: 2 },
    { name: "west", kind: "local", nodes: west },
  ],
  links: [{ between: ["east", "west"], rttMs: 10 }],
  database: { engine: "mysql", replication: "group", ...database },
  profile: {
    data: { tables: 2, tableSize: 1000 },
    steps: [
      { workload: "oltp_write_only", threads: 2, warmupSeconds: 0.5, durationSeconds: 3 },
      { workload: "oltp_read_only", threads: 2, warmupSeconds: 0.5, durationSeconds: 2 },
    ],
  },
});
const stack = new TestStack("e2e-mysql-group", config({}));
after(() => stack.remove());

const sql = (node: string, text: string): string => stack.onNode(node, "mysql", "-N", "-B", "-e", text).trim();
const members = (node: string): string[] =>
  sql(
    node,
    "SELECT CONCAT(MEMBER_STATE, ' ', MEMBER_ROLE) FROM performance_schema.replication_group_members ORDER BY 1",
  ).split("\n");
const ROLE =
  "SELECT MEMBER_ROLE FROM performance_schema.replication_group_members WHERE MEMBER_ID = @@server_uuid AND MEMBER_STATE = 'ONLINE'";
const started = (node: string): string =>
  stack.onNode(node, "systemctl", "show", "-P", "ActiveEnterTimestampMonotonic", "mysql").trim();

/** Secondaries apply on their own time. */
function caughtUp(...nodes: string[]): void {
  const position = sql("east-1", "SELECT @@GLOBAL.gtid_executed").replace(/\\n|\s/g, "");
  for (const node of nodes)
    assert.equal(sql(node, `SELECT WAIT_FOR_EXECUTED_GTID_SET('${position}', 60)`), "0", `${node} is behind`);
}

async function up(): Promise<string> {
  const { code, output } = await stack.up();
  assert.equal(code, 0, output.slice(-3000));
  return output;
}

test("up: members come in one by one, the first is the primary; loaded, measured, the same everywhere", async () => {
  await up();
  const result = stack.result((await stack.outputs())["resultFile"]);
  assert.equal(result.complete, true);
  assert.equal(result.verify?.ok, true);
  assert.ok(result.steps.every((step) => step.transactions > 0));
  assert.equal(result.spec.context.database?.replication, "group");
  assert.deepEqual(members("west-1"), ["ONLINE PRIMARY", "ONLINE SECONDARY", "ONLINE SECONDARY"]);
  assert.equal(sql("east-1", ROLE), "PRIMARY");
  for (const { lag = [] } of result.steps)
    assert.deepEqual(
      lag.map(({ node, beats }) => [node, beats > 0]),
      [
        ["east-2", true],
        ["west-1", true],
      ],
      JSON.stringify(lag),
    );
  caughtUp("east-2", "west-1");
  const gtids = ["east-1", "east-2", "west-1"].map((node) => sql(node, "SELECT @@GLOBAL.gtid_executed"));
  assert.equal(new Set(gtids).size, 1, "no member has a transaction of its own");
  assert.match(gtids[0]!, new RegExp(String(result.spec.context.database?.clusterUuid)));
});

test("a second up changes nothing; a server's setting restarts members one by one, and the first is the primary again", async () => {
  const again = await up();
  assert.doesNotMatch(again, /\d+ (?:created|updated|deleted|replaced)/);
  stack.configure(config({ variables: { innodb_buffer_pool_size: "96M" } }));
  await up();
  for (const node of ["east-1", "east-2", "west-1"])
    assert.equal(sql(node, "SELECT @@innodb_buffer_pool_size"), String(96 * 1024 * 1024));
  assert.equal(sql("east-1", ROLE), "PRIMARY");
});

test("a setting of the group itself: founded again on the same data", async () => {
  const name = sql("east-1", "SELECT @@group_replication_group_name");
  const rows = sql("east-1", "SELECT COUNT(*) FROM sbtest.sbtest1");
  stack.configure(
    config({
      options: { group_replication_paxos_single_leader: true },
      variables: { innodb_buffer_pool_size: "96M" },
    }),
  );
  await up();
  assert.deepEqual(members("east-2"), ["ONLINE PRIMARY", "ONLINE SECONDARY", "ONLINE SECONDARY"]);
  for (const node of ["east-1", "east-2", "west-1"])
    assert.equal(sql(node, "SELECT @@group_replication_paxos_single_leader"), "1");
  assert.equal(sql("east-1", "SELECT @@group_replication_group_name"), name);
  caughtUp("west-1");
  assert.equal(sql("west-1", "SELECT COUNT(*) FROM sbtest.sbtest1"), rows);
});

test("one more node joins what is there; no other is restarted; destroy leaves nothing", async () => {
  const before = ["east-1", "east-2", "west-1"].map(started);
  stack.configure(
    config(
      {
        options: { group_replication_paxos_single_leader: true },
        variables: { innodb_buffer_pool_size: "96M" },
      },
      2,
    ),
  );
  const output = await up();
  assert.match(output, /4 database nodes: an even number can split into two halves/);
  assert.equal(members("west-2").filter((member) => member.startsWith("ONLINE")).length, 4);
  assert.deepEqual(["east-1", "east-2", "west-1"].map(started), before);
  caughtUp("west-2");
  assert.equal(
    sql("west-2", "SELECT COUNT(*) FROM sbtest.sbtest1"),
    sql("east-1", "SELECT COUNT(*) FROM sbtest.sbtest1"),
  );

  const destroyed = await stack.run("destroy", "--yes");
  assert.equal(destroyed.code, 0, destroyed.output.slice(-3000));
  assert.deepEqual(Object.values(stack.leftovers()).flat(), []);
});
