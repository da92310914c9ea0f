/** MySQL with a primary and its replicas on two sites of local nodes, asynchronous and then semi-synchronous; growth. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { changes, TestStack } from "../../harness/stack.ts";
import type { ConfigInput } from "../../infra/config/schema.ts";

const config = (database: Record<string, unknown>, proxy: "haproxy" | "none", west = 1): ConfigInput => ({
  sites: [
    { name: "east", kind: "local", nodes: 1 },
    { name: "west", kind: "local", nodes: west },
  ],
  links: [{ between: ["east", "west"], rttMs: 10 }],
  database: { engine: "mysql", ...database },
  proxy: { kind: proxy },
  profile: {
    data: { tables: 1, tableSize: 2000 },
    steps: [
      { workload: "oltp_write_only", threads: 1, warmupSeconds: 0.5, durationSeconds: 3 },
      { workload: "oltp_read_only", threads: 2, warmupSeconds: 0.5, durationSeconds: 2 },
    ],
  },
});
const SEMI_SYNC = { replication: "semi-sync", semiSync: { timeoutMs: 5000 } };
const stack = new TestStack("e2e-mysql-replicated", config({ replication: "async" }, "haproxy"));
after(() => stack.remove());

const sql = (node: string, text: string): string => stack.onNode(node, "mysql", "-N", "-B", "-e", text).trim();
const status = (node: string, name: string): string =>
  sql(node, `SHOW GLOBAL STATUS LIKE '${name}'`).split("\t")[1] ?? "";
const started = (node: string): string =>
  stack.onNode(node, "systemctl", "show", "-P", "ActiveEnterTimestampMonotonic", "mysql").trim();

/** Replicas apply on their own time. */
function same(...replicas: string[]): void {
  const position = sql("east-1", "SELECT @@GLOBAL.gtid_executed").replace(/\\n|\s/g, "");
  const sums = sql("east-1", "CHECKSUM TABLE sbtest.sbtest1");
  for (const node of replicas) {
    assert.equal(sql(node, `SELECT WAIT_FOR_EXECUTED_GTID_SET('${position}', 60)`), "0", `${node} is behind`);
    assert.equal(sql(node, "CHECKSUM TABLE sbtest.sbtest1"), sums);
    const own = sql(node, `SELECT GTID_SUBTRACT(@@GLOBAL.gtid_executed, '${position}')`);
    assert.equal(own, "", `${node} has transactions of its own`);
  }
}

async function up(): Promise<string> {
  const { code, output } = await stack.up();
  assert.equal(code, 0, output.slice(-3000));
  return output;
}

test("async: the primary writes, the replica follows and serves reads through HAProxy; a second up changes nothing", async (t) => {
  await up();
  const result = stack.result((await stack.outputs())["resultFile"]);
  assert.equal(result.complete, true);
  assert.deepEqual(result.verify?.problems, []);
  assert.equal(result.spec.context.database?.commit, "none");
  assert.equal(result.spec.context.database?.title, "MySQL asynchronous");
  assert.deepEqual(result.steps[0]!.primaries, [{ t: 0, nodes: ["east-1"] }]);
  const READ_ONLY = "SELECT CONCAT(@@GLOBAL.read_only, @@GLOBAL.super_read_only)";
  assert.deepEqual([sql("east-1", READ_ONLY), sql("west-1", READ_ONLY)], ["00", "11"]);
  same("west-1");
  t.diagnostic(`commit ${result.steps[0]!.latency?.p50} ms per transaction`);
  assert.doesNotMatch(await up(), /\d+ (?:created|updated|deleted|replaced)/);
});

test("semi-sync without a proxy: set node by node, commits acknowledged and none alone; one more replica joins, no server is restarted", async (t) => {
  stack.configure(config(SEMI_SYNC, "none"));
  await up();
  const result = stack.result((await stack.outputs())["resultFile"]);
  assert.deepEqual(result.verify?.problems, []);
  assert.equal(result.spec.context.database?.commit, "nearest-member");
  assert.ok(result.steps.every((step) => step.transactions > 0 && step.degraded === undefined));
  // A transaction is one commit, and each pays the link's round trip.
  assert.ok(result.steps[0]!.latency!.p50 >= 10, String(result.steps[0]!.latency?.p50));
  assert.deepEqual(
    ["yes_tx", "no_tx", "status", "clients"].map((name) => status("east-1", `Rpl_semi_sync_source_${name}`) !== "0"),
    [true, false, true, true],
  );
  assert.equal(status("west-1", "Rpl_semi_sync_replica_status"), "ON");
  assert.equal(sql("west-1", "SELECT @@rpl_semi_sync_source_enabled"), "0", "a replica waits for nobody");
  assert.equal(
    sql("east-1", "SELECT CONCAT(@@rpl_semi_sync_source_timeout, @@rpl_semi_sync_source_wait_point)"),
    "5000AFTER_SYNC",
  );
  t.diagnostic(`commit ${result.steps[0]!.latency?.p50} ms per transaction`);
  assert.doesNotMatch(await up(), /\d+ (?:created|updated|deleted|replaced)/);

  const before = ["east-1", "west-1"].map(started);
  stack.configure(config(SEMI_SYNC, "none", 2));
  await up();
  assert.deepEqual(["east-1", "west-1"].map(started), before);
  assert.equal(status("east-1", "Rpl_semi_sync_source_clients"), "2");
  same("west-1", "west-2");
});

test("what is stopped is brought back, the primary waits for a replica again; destroy leaves nothing", async () => {
  sql("west-1", "STOP REPLICA");
  stack.onNode("east-1", "systemctl", "restart", "mysql");
  assert.equal(
    sql("east-1", "SELECT @@GLOBAL.super_read_only"),
    "1",
    "nobody writes to a node that has just come back",
  );
  const healed = await up();
  assert.equal(changes(healed).updated, 0);
  assert.equal(sql("east-1", "SELECT CONCAT(@@GLOBAL.read_only, @@rpl_semi_sync_source_enabled)"), "01");
  assert.match(stack.onNode("west-1", "mysql", "-E", "-e", "SHOW REPLICA STATUS"), /Replica_SQL_Running: Yes/);
  same("west-1", "west-2");

  const destroyed = await stack.run("destroy", "--yes");
  assert.equal(destroyed.code, 0, destroyed.output.slice(-3000));
  assert.deepEqual(Object.values(stack.leftovers()).flat(), []);
});
