/** PostgreSQL under Patroni on local nodes of two sites. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { TestStack, touched } from "../../harness/stack.ts";
import type { ConfigInput } from "../../infra/config/schema.ts";

const config = (
  database: Record<string, unknown>,
  { west = 1, proxy = "haproxy" as "haproxy" | "none" } = {},
): ConfigInput => ({
  sites: [
    { name: "east", kind: "local", nodes: 2 },
    { name: "west", kind: "local", nodes: west },
  ],
  links: [{ between: ["east", "west"], rttMs: 10 }],
  database: { engine: "postgresql", ...database },
  proxy: { kind: proxy },
  profile: {
    data: { tables: 1, tableSize: 2000 },
    steps: [
      { workload: "oltp_read_write", threads: 1, warmupSeconds: 0.5, durationSeconds: 3 },
      { workload: "oltp_read_only", threads: 2, warmupSeconds: 0.5, durationSeconds: 2 },
    ],
  },
});
const stack = new TestStack("e2e-patroni", config({ replication: "async" }));
after(() => stack.remove());

const sql = (node: string, text: string): string =>
  stack.onNode(node, "sh", "-c", `cd / && runuser -u postgres -- psql -X -A -t -c "${text}"`).trim();

test("async: the primary writes, the replicas follow and serve reads through HAProxy; a second up changes nothing", async (t) => {
  const { code, output } = await stack.up();
  assert.equal(code, 0, output.slice(-3000));
  const result = stack.result((await stack.outputs())["resultFile"]);
  assert.equal(result.complete, true);
  assert.deepEqual(result.verify?.problems, []);
  assert.equal(result.spec.context.database?.commit, "none");
  assert.deepEqual(result.steps[0]!.primaries, [{ t: 0, nodes: ["east-1"] }]);
  assert.deepEqual(
    ["east-1", "east-2", "west-1"].map((node) => sql(node, "SELECT pg_is_in_recovery()")),
    ["f", "t", "t"],
  );
  t.diagnostic(`commit ${result.steps[0]!.latency?.p50} ms per transaction`);
  for (const port of [2379, 2380, 5432, 8008]) {
    const listening = stack.onNode("east-1", "ss", "-Hltn", `sport = :${port}`);
    assert.match(listening.trim(), new RegExp(`^\\S+ +\\d+ +\\d+ +10\\.99\\.0\\.\\d+:${port} [^\\n]*$`));
  }
  const again = await stack.up();
  assert.equal(again.code, 0, again.output.slice(-3000));
  assert.doesNotMatch(again.output, /\d+ (?:created|updated|deleted|replaced)/);
});

const startedAt = (node: string): number => Number(sql(node, "SELECT EXTRACT(EPOCH FROM pg_postmaster_start_time())"));

test("sync without a proxy: servers are restarted one at a time, the primary last; commits wait for a standby", async (t) => {
  const nodes = ["east-1", "east-2", "west-1"];
  const before = nodes.map(startedAt);
  stack.configure(config({ replication: "sync", variables: { shared_buffers: "48MB" } }, { proxy: "none" }));
  const changed = await stack.up();
  assert.equal(changed.code, 0, changed.output.slice(-3000));
  for (const node of nodes) assert.equal(sql(node, "SHOW shared_buffers"), "48MB");
  const after = nodes.map(startedAt);
  for (const [i, node] of nodes.entries()) assert.ok(after[i]! > before[i]!, `${node} was not restarted`);
  assert.equal(Math.max(...after), after[0], "the primary is restarted after its standbys");
  assert.deepEqual(
    nodes.map((node) => sql(node, "SELECT pg_is_in_recovery()")),
    ["f", "t", "t"],
  );
  assert.equal(sql("east-1", "SELECT COUNT(*) FROM pg_stat_replication WHERE sync_state = 'sync'"), "1");
  const result = stack.result((await stack.outputs())["resultFile"]);
  assert.equal(result.complete, true);
  assert.deepEqual(result.verify?.problems, []);
  assert.equal(result.spec.context.database?.commit, "nearest-member");
  t.diagnostic(`commit ${result.steps[0]!.latency?.p50} ms per transaction`);
});

test("a node joins without a restart of the others; destroy leaves nothing", async (t) => {
  const nodes = ["east-1", "east-2", "west-1"];
  const before = nodes.map(startedAt);
  stack.configure(config({ replication: "sync", variables: { shared_buffers: "48MB" } }, { west: 2, proxy: "none" }));
  const grown = await stack.up();
  assert.equal(grown.code, 0, grown.output.slice(-3000));
  const servers = /^(?:local-)?(?:east-\d|west-1)(?:-(?:packages|account|guard|patroni|patroni-conf|etcd.*))?$/;
  assert.deepEqual(
    touched(grown.output).filter((name) => servers.test(name)),
    [],
  );
  assert.deepEqual(nodes.map(startedAt), before);
  assert.equal(sql("west-2", "SELECT pg_is_in_recovery()"), "t");
  assert.equal(sql("east-1", "SELECT COUNT(*) FROM pg_stat_replication WHERE state = 'streaming'"), "3");
  const result = stack.result((await stack.outputs())["resultFile"]);
  assert.equal(result.complete, true);
  assert.deepEqual(result.verify?.problems, []);
  t.diagnostic(`touched: ${touched(grown.output).length} resources`);

  const destroyed = await stack.run("destroy", "--yes");
  assert.equal(destroyed.code, 0, destroyed.output.slice(-3000));
  assert.deepEqual(Object.values(stack.leftovers()).flat(), []);
});
