// Proves on two Galera nodes of this machine (loopback, no delay): the load arrives everywhere before it is called
// done, and nodes that differ are found.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Galera, galeraPackages } from "../../../harness/servers/galera.ts";
import { PASSWORD, USER } from "../../../harness/servers/mariadb.ts";
import type { RunSpec } from "../../../workloads/contract.ts";
import { runSpecSchema } from "../../../workloads/contract.ts";
import { deltas, openObserver } from "../../../workloads/facts/observer.ts";
import { prepare, verify } from "../../../workloads/prepare/index.ts";

const packages = await galeraPackages();
const signal = new AbortController().signal;
process.env["MESHBENCH_DB_PASSWORD"] = PASSWORD;

describe("prepare on Galera", { skip: packages.ok ? false : `SKIPPED: ${packages.reason}` }, () => {
  let cluster: Galera;
  const spec = (): RunSpec =>
    runSpecSchema.parse({
      runId: "t",
      data: { tables: 2, tableSize: 50_000 },
      steps: [{ workload: "oltp_read_write", threads: 2 }],
      target: {
        driver: "mysql",
        endpoints: cluster.nodes.map(({ name, port }) => ({ name, host: "127.0.0.1", port })),
        user: USER,
      },
      observe: cluster.nodes.map(({ name, port }) => ({ name, host: "127.0.0.1", port })),
    });

  before(async () => {
    cluster = await Galera.start(2);
  });
  after(() => cluster?.stop());

  test("every node has the rows when prepare is done, and the nodes' own counters show it", async () => {
    const observer = await openObserver(spec().target, spec().observe);
    const start = await observer.sample();
    const lines: string[] = [];
    const result = await prepare(spec(), { onProgress: (line) => lines.push(line), signal });
    assert.deepEqual([result.method, result.rows], ["load-data", 100_000]);
    for (const node of cluster.nodes)
      assert.equal(node.sql("SET wsrep_sync_wait = 0; SELECT COUNT(*) FROM sbtest2", "sbtest").trim(), "50000");
    assert.ok(lines.some((line) => /all 2 observed nodes have the data/.test(line)));
    const facts = deltas("mysql", start, await observer.sample());
    observer.close();
    const [writer, other] = facts;
    assert.ok(Number(writer?.delta?.["wsrep_replicated_bytes"]) > 100_000 * 190);
    assert.ok(Number(other?.delta?.["wsrep_received_bytes"]) > 100_000 * 190);
    assert.deepEqual([writer?.end?.["wsrep_cluster_size"], writer?.end?.["wsrep_local_state_comment"]], [2, "Synced"]);
  });

  test("small writesets allowed: chunks shrink to the limit", async () => {
    for (const node of cluster.nodes) node.sql("SET GLOBAL wsrep_max_ws_rows = 3000");
    cluster.nodes[0]!.sql("DROP TABLE sbtest1", "sbtest");
    await prepare(spec(), { onProgress() {}, signal });
    assert.equal((await verify(spec(), { signal, consistency: true })).ok, true);
    for (const node of cluster.nodes) node.sql("SET GLOBAL wsrep_max_ws_rows = 0");
  });

  test("a node whose rows differ is found by its checksum", async () => {
    cluster.nodes[1]!.sql("SET wsrep_on = 0; UPDATE sbtest2 SET pad = 'x' WHERE id = 17", "sbtest");
    const result = await verify(spec(), { signal, consistency: true });
    assert.equal(result.ok, false);
    assert.match(result.problems.join(), /sbtest2: the nodes differ: n1 \d+; n2 \d+/);
  });
});
