/** PostgreSQL under Patroni on local nodes of two sites. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { TestStack } from "../../harness/stack.ts";
import type { ConfigInput } from "../../infra/config/schema.ts";

const config = (
  database: Record<string, unknown>,
  { east = 2, proxy = "haproxy" as "haproxy" | "none" } = {},
): ConfigInput => ({
  sites: [
    { name: "east", kind: "local", nodes: east },
    { name: "west", kind: "local", nodes: 1 },
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
