/**
 * The whole chain on local nodes, by the real engine: what a user does with one stack from its first up to its destroy.
 */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { changes, TestStack, TWO_SITES, touched } from "../../harness/stack.ts";

const stack = new TestStack("e2e-local", TWO_SITES);
after(() => stack.remove());
let logs = "";

async function up(...more: string[]): Promise<string> {
  const { code, output } = await stack.up(...more);
  logs += output;
  assert.equal(code, 0, output.slice(-4000));
  return output;
}

test("preview shows every resource and creates nothing", async () => {
  const { code, output } = await stack.run("preview");
  assert.equal(code, 0, output);
  for (const name of [
    "local-network",
    "local-east-1",
    "local-east-2",
    "local-west-1",
    "local-driver",
    "west-1-galera",
    "haproxy",
    "driver-throughput",
    "run",
  ])
    assert.match(output, new RegExp(`\\b${name} create`), `${name} in the preview`);
  assert.deepEqual(Object.values(stack.leftovers()).flat(), [], "a preview leaves the machine alone");
});

test("up: from nothing to results", async () => {
  await up();
  const out = await stack.outputs();
  assert.deepEqual(
    out["results"].map((r: { workload: string }) => r.workload),
    ["oltp_read_only", "oltp_write_only", "oltp_read_write"],
  );
  for (const r of out["results"]) {
    assert.ok(
      r.tps > 0 && r.latency.avg > 0 && r.latency.p95 <= r.latency.p99 && r.latency.p99 <= r.latency.max,
      JSON.stringify(r),
    );
  }
  assert.equal(out["database"].facts.size, 3);
  assert.equal(out["proxy"].kind, "haproxy");
  assert.deepEqual(
    out["proxy"].facts.servers.map((s: { name: string }) => s.name),
    ["east-1", "east-2", "west-1"],
  );

  const pairs = new Map<string, any>(
    out["rttMatrix"].map((p: { from: string; to: string }) => [`${p.from} ${p.to}`, p]),
  );
  assert.equal(pairs.size, 4 * 3, "every ordered pair of four nodes");
  const far = pairs.get("east-1 west-1"),
    near = pairs.get("east-1 east-2");
  assert.ok(far.rttMs.avg >= 10 && far.rttMs.avg < 40, `10 ms between the sites, measured ${far.rttMs.avg}`);
  assert.ok(near.rttMs.avg < far.rttMs.avg, `within a site it is nearer: ${near.rttMs.avg}`);
  assert.equal(far.pathMtu, 1420);
  assert.ok(far.mbitPerSecond > 0 && near.mbitPerSecond > 0);

  const result = stack.result(out["resultFile"]);
  assert.equal(result.complete, true);
  assert.equal(result.runId, out["runId"]);
  assert.deepEqual(result.spec.context.rttMatrix, out["rttMatrix"], "the result can be judged alone");
  assert.equal(result.verify?.ok, true);
  for (const s of result.steps) {
    assert.ok(s.windowSeconds >= 2, "long enough for samples of every second");
    assert.deepEqual(s.hosts!.map((h) => h.node).sort(), ["driver", "east-1", "east-2", "west-1"]);
    for (const h of s.hosts!) {
      assert.equal(h.gap, undefined, JSON.stringify(h));
      assert.ok(
        h.source === "container" &&
          h.samples! >= 1 &&
          h.cpu!.avg > 0 &&
          h.machine!.cpu.avg > 0 &&
          h.mesh!.receivedBytes > 0 &&
          h.mesh!.sentBytes > 0,
        JSON.stringify(h),
      );
    }
  }
  for (const node of ["east-1", "driver"])
    assert.equal(
      stack
        .onNode(
          node,
          "sh",
          "-c",
          "ls -d /run/meshbench-hosts 2>/dev/null; systemctl list-units --no-legend 'meshbench-hosts*'",
        )
        .trim(),
      "",
      "the samplers are gone",
    );
  // Two threads on a thousand rows do meet now and then: sysbench ignores these codes, anything else is a fault.
  for (const s of result.steps)
    assert.deepEqual(
      Object.keys(s.errors.byCode).filter((code) => !["1213", "1020", "1205"].includes(code)),
      [],
      JSON.stringify(s.errors),
    );
  const write = result.steps.find((s) => s.workload === "oltp_write_only")!;
  assert.ok(write.latency!.avg >= 10, `a commit crosses the WAN at least once: ${write.latency!.avg} ms`);
});

test("a second up changes nothing", async () => {
  const output = await up();
  assert.deepEqual(touched(output), []);
  assert.equal(changes(output).unchanged > 30, true, output.slice(-500));
});

test("databases listen on the mesh only, and SSH and WireGuard are all that is open beside it", () => {
  for (const node of ["east-1", "west-1", "driver"]) {
    const open = stack
      .onNode(node, "ss", "-Hltun")
      .trim()
      .split("\n")
      .map((line) => line.split(/\s+/)[4]!)
      .filter((address) => !/^(127\.|\[::1\]|10\.99\.0\.)/.test(address))
      .map((address) => address.replace(/^.*:(\d+)$/, "$1"));
    assert.deepEqual([...new Set(open)].sort(), ["22", "51820"], `${node} listens on ${open}`);
  }
});

test("another run id: one more run, and nothing else is touched", async () => {
  const before = await stack.outputs();
  stack.configure({ ...TWO_SITES, runId: "again" });
  const output = await up();
  assert.deepEqual(
    touched(output).filter((name) => !/-(rtt|throughput)$|^run(-spec)?$|^e2e|^meshbench-/.test(name)),
    [],
  );
  const now = await stack.outputs();
  assert.equal(now["runId"], "again");
  assert.notEqual(now["resultFile"], before["resultFile"]);
  assert.equal(now["database"].facts.clusterUuid, before["database"].facts.clusterUuid);
  assert.deepEqual(readdirSync(join(stack.results, "e2e-local")).length, 2, "the first result is still there");
});

test("changed server settings restart the members one by one, and never found a second cluster", async () => {
  const before = await stack.outputs();
  stack.configure({
    ...TWO_SITES,
    runId: "again",
    database: { variables: { innodb_flush_log_at_trx_commit: 2 }, options: { "gcs.fc_limit": 64 } },
  });
  await up();
  const now = await stack.outputs();
  assert.equal(now["database"].facts.clusterUuid, before["database"].facts.clusterUuid);
  assert.equal(now["database"].facts.size, 3);
  for (const node of ["east-1", "east-2", "west-1"]) {
    assert.equal(stack.onNode(node, "mariadb", "-NBe", "SELECT @@innodb_flush_log_at_trx_commit").trim(), "2");
    assert.match(stack.onNode(node, "mariadb", "-NBe", "SELECT @@wsrep_provider_options"), /gcs\.fc_limit = 64/);
  }
});

test("one more node in the configuration is one more member; no other node is replaced", async () => {
  const before = await stack.outputs();
  const [east, west] = TWO_SITES.sites!;
  stack.configure({ ...TWO_SITES, runId: "more", sites: [east!, { ...west!, nodes: 2 } as typeof west & object] });
  const output = await up();
  const now = await stack.outputs();
  assert.equal(now["database"].facts.size, 4);
  assert.equal(now["database"].facts.clusterUuid, before["database"].facts.clusterUuid);
  assert.deepEqual(
    touched(output).filter((name) => name.startsWith("local-")),
    ["local-limits", "local-west-2"],
    "a node of its own, and the one step that knows the limits of all",
  );
  assert.match(output, /an even number/, "an even number of members is warned about");
});

test("no secret in state, results, logs or on a command line", async () => {
  const { output: secret } = await stack.run("stack", "export", "--show-secrets");
  const state = JSON.parse(secret.slice(secret.indexOf("{")));
  const stdout = (name: string): string =>
    state.deployment.resources.find((r: { urn: string }) => r.urn.endsWith(`::${name}`)).outputs.stdout;
  const plain = (value: any): string => (typeof value === "string" ? value : JSON.parse(value.plaintext));
  const password = plain(stdout("database-password")),
    key = (JSON.parse(plain(stdout("operator-key"))) as { private: string }).private;
  assert.ok(password.length >= 32 && key.includes("PRIVATE KEY"), "the test knows what it looks for");
  const hidden = [password, key.split("\n")[2]!];

  const { output: shown } = await stack.run("stack", "export");
  const files = readdirSync(join(stack.results, "e2e-local")).map((f) =>
    readFileSync(join(stack.results, "e2e-local", f), "utf8"),
  );
  const onNodes = ["east-1", "driver"].map((n) =>
    stack.onNode(
      n,
      "sh",
      "-c",
      "cat /proc/[0-9]*/cmdline | tr '\\0' ' '; journalctl --no-pager -o cat; cat /var/lib/meshbench/runs/*/* 2>/dev/null; true",
    ),
  );
  for (const [what, text] of Object.entries({
    state: shown,
    logs,
    results: files.join(),
    nodes: onNodes.join(),
    outputs: JSON.stringify(await stack.outputs()),
  }))
    for (const value of hidden) assert.ok(!text.includes(value), `a secret stands in the ${what}`);
});

test("destroy, with one node gone behind its back, leaves nothing", async () => {
  stack.labCommand("node", "delete", "--lab", stack.lab, "--name", "east-2");
  const { code, output } = await stack.run("destroy", "--yes");
  assert.equal(code, 0, output.slice(-3000));
  assert.deepEqual(Object.values(stack.leftovers()).flat(), []);
});
