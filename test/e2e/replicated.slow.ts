/** MariaDB with a primary and two replicas on two sites of local nodes, asynchronous and then semi-synchronous. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { changes, TestStack } from "../../harness/stack.ts";
import type { ConfigInput } from "../../infra/config/schema.ts";

const config = (database: Record<string, unknown>, proxy: "haproxy" | "none"): ConfigInput => ({
  sites: [
    { name: "east", kind: "local", nodes: 2 },
    { name: "west", kind: "local", nodes: 1 },
  ],
  links: [{ between: ["east", "west"], rttMs: 10 }],
  database: { engine: "mariadb", ...database },
  proxy: { kind: proxy },
  profile: {
    data: { tables: 1, tableSize: 2000 },
    steps: [
      { workload: "oltp_write_only", threads: 1, warmupSeconds: 0.5, durationSeconds: 3 },
      { workload: "oltp_read_only", threads: 2, warmupSeconds: 0.5, durationSeconds: 2 },
    ],
  },
});
const stack = new TestStack("e2e-replicated", config({ replication: "async" }, "haproxy"));
after(() => stack.remove());

const sql = (node: string, text: string): string => stack.onNode(node, "mariadb", "-N", "-B", "-e", text).trim();

test("async: the primary writes, the replicas follow and serve reads through HAProxy; a second up changes nothing", async (t) => {
  const { code, output } = await stack.up();
  assert.equal(code, 0, output.slice(-3000));
  const result = stack.result((await stack.outputs())["resultFile"]);
  assert.equal(result.complete, true);
  assert.deepEqual(result.verify?.problems, []);
  assert.equal(result.spec.context.database?.commit, "none");
  assert.deepEqual(result.steps[0]!.primaries, [{ t: 0, nodes: ["east-1"] }]);
  assert.deepEqual(
    ["east-1", "east-2", "west-1"].map((node) => sql(node, "SELECT @@global.read_only")),
    ["0", "1", "1"],
  );
  t.diagnostic(`commit ${result.steps[0]!.latency?.p50} ms per transaction`);
  const again = await stack.up();
  assert.equal(again.code, 0, again.output.slice(-3000));
  assert.doesNotMatch(again.output, /\d+ (?:created|updated|deleted|replaced)/);
});

test("semi-sync without a proxy: set node by node, commits acknowledged; what is stopped is brought back; destroy leaves nothing", async (t) => {
  stack.configure(config({ replication: "semi-sync", semiSync: { timeoutMs: 5000 } }, "none"));
  const changed = await stack.up();
  assert.equal(changed.code, 0, changed.output.slice(-3000));
  const result = stack.result((await stack.outputs())["resultFile"]);
  assert.deepEqual(result.verify?.problems, []);
  assert.equal(result.spec.context.database?.commit, "nearest-member");
  assert.ok(Number(sql("east-1", "SHOW STATUS LIKE 'Rpl_semi_sync_master_yes_tx'").split("\t")[1]) > 0);
  assert.equal(sql("east-1", "SELECT @@rpl_semi_sync_master_timeout"), "5000");
  t.diagnostic(`commit ${result.steps[0]!.latency?.p50} ms per transaction`);

  sql("east-2", "STOP SLAVE");
  stack.onNode("east-1", "systemctl", "restart", "mariadb");
  assert.equal(sql("east-1", "SELECT @@global.read_only"), "1", "nobody writes to a node that has just come back");
  const healed = await stack.up();
  assert.equal(healed.code, 0, healed.output.slice(-3000));
  assert.equal(changes(healed.output).updated, 0);
  assert.equal(sql("east-1", "SELECT @@global.read_only"), "0");
  assert.match(stack.onNode("east-2", "mariadb", "-e", "SHOW SLAVE STATUS\\G"), /Slave_SQL_Running: Yes/);

  const destroyed = await stack.run("destroy", "--yes");
  assert.equal(destroyed.code, 0, destroyed.output.slice(-3000));
  assert.deepEqual(Object.values(stack.leftovers()).flat(), []);
});
