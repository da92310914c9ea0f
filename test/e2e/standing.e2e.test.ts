/** A local stack that stands and is changed: what has to be is done, no more, and the preview says so. */
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { changes, TestStack, touched } from "../../harness/stack.ts";
import type { ConfigInput } from "../../infra/config/schema.ts";

const SITE = { name: "east", kind: "local", nodes: 1 } as const;
const CONFIG: ConfigInput = {
  sites: [SITE],
  profile: {
    data: { tables: 1, tableSize: 100 },
    steps: [{ workload: "oltp_point_select", threads: 1, warmupSeconds: 0, durationSeconds: 1 }],
  },
};
const LIMITS = { cpus: 1, memoryMb: 640 };

const stack = new TestStack("e2e-standing", CONFIG);
after(() => stack.remove());

async function up(): Promise<string> {
  const { code, output } = await stack.up();
  assert.equal(code, 0, output.slice(-4000));
  return output;
}

const steps = (output: string): string[] => touched(output).filter((name) => !/^e2e-|^meshbench-/.test(name));

/** Names of the resources that a preview says would be made, changed or replaced. */
async function previewed(): Promise<string[]> {
  const { code, output } = await stack.run("preview");
  assert.equal(code, 0, output.slice(-3000));
  const names = [
    ...output
      .slice(0, output.indexOf("Resources:"))
      .matchAll(/^ *(?:\+|~|\+-) +\S+ +(\S+) +(?:create|update|replace)\b/gm),
  ].map((m) => m[1]!);
  return [...new Set(names)].filter((name) => !/^e2e-|^meshbench-/.test(name)).sort();
}

interface Listed {
  lab: string;
  nodes: { name: string; labels: Record<string, string> }[];
}
const listed = (): Listed =>
  (JSON.parse(stack.labCommand("list", "--json")) as Listed[]).find(({ lab }) => lab === stack.lab)!;

/** As the kernel has it, in either layout of control groups. */
function kernelLimits(node: string): string[] {
  const group = (controller: string, file: string): string => {
    const first = join("/sys/fs/cgroup", controller, "meshbench", stack.lab, node, file);
    const unified = join("/sys/fs/cgroup/meshbench", stack.lab, node, file);
    return existsSync(first)
      ? readFileSync(first, "utf8").trim()
      : existsSync(unified)
        ? readFileSync(unified, "utf8").trim()
        : "";
  };
  return [
    group("memory", "memory.limit_in_bytes") || group("", "memory.max"),
    group("cpu", "cpu.cfs_quota_us") || group("", "cpu.max").split(" ")[0]!,
  ];
}

test("owner and expiry: the preview says the few steps that are taken, the lab's list has them, no run is repeated", async () => {
  await up();
  const before = await stack.outputs();
  stack.configure({ ...CONFIG, owner: "ada", expiresHours: 100 });
  assert.deepEqual(await previewed(), ["expiry", "local-labels"]);
  const output = await up();
  assert.deepEqual(steps(output), ["expiry", "local-labels"]);
  for (const { labels } of listed().nodes) {
    assert.equal(labels["owner"], "ada");
    assert.ok(Date.parse(labels["expires"]!) > Date.now() + 90 * 3_600_000, labels["expires"]);
    assert.match(labels["stack-id"]!, /^[0-9a-f]{12}$/);
  }
  const now = await stack.outputs();
  assert.equal(now["runId"], before["runId"]);
});

test("processors and memory of nodes that stand are applied as they run, and measured anew", async () => {
  const before = await stack.outputs();
  stack.configure({ ...CONFIG, owner: "ada", expiresHours: 100, sites: [{ ...SITE, ...LIMITS }] });
  await up();
  const now = await stack.outputs();
  assert.notEqual(now["runId"], before["runId"]);
  assert.equal(now["database"].facts.clusterUuid, before["database"].facts.clusterUuid, "no node was made anew");
  const facts = now["nodes"].map((n: { facts: { limits: string } }) => n.facts.limits);
  for (const limits of facts) {
    assert.ok(limits === "applied" || /not applied: /.test(limits), limits);
    if (limits !== "applied") console.error(`NOT LOOKED AT: this machine's kernel sets no limits (${limits})`);
    else assert.deepEqual(kernelLimits("east-1"), [String(LIMITS.memoryMb * 2 ** 20), "100000"]);
  }
  if (facts[0] === "applied" && existsSync("/sys/fs/cgroup/memory/meshbench")) {
    const inside = readFileSync(`/sys/fs/cgroup/memory/meshbench/${stack.lab}/east-1/cgroup.procs`, "utf8");
    assert.ok(inside.trim().split("\n").length > 5, "the running processes are in the group");
  }
});

test("a renamed stack keeps its nodes, its data and its lab", async () => {
  const before = await stack.outputs();
  const { code, output } = await stack.run("stack", "rename", "e2e-standing-renamed");
  assert.equal(code, 0, output);
  stack.name = "e2e-standing-renamed";
  stack.configure({ ...CONFIG, owner: "ada", expiresHours: 100, sites: [{ ...SITE, ...LIMITS }] });
  const done = await up();
  const { replaced, created, deleted } = changes(done);
  assert.deepEqual({ replaced, created, deleted }, { replaced: 0, created: 0, deleted: 0 }, done.slice(-2000));
  const now = await stack.outputs();
  assert.equal(now["lab"], before["lab"]);
  assert.equal(now["database"].facts.clusterUuid, before["database"].facts.clusterUuid);
  assert.equal(now["runId"], before["runId"], "the run is the same one");
  for (const { labels } of listed().nodes) assert.equal(labels["stack"], "e2e-standing-renamed");
  assert.deepEqual(steps(await up()), [], "and then nothing is left to do");
});

test("a database node that was made anew is measured anew", async () => {
  const before = await stack.outputs();
  const { output: state } = await stack.run("stack", "export");
  const urn = /urn:[^"]*::local-east-1(?=")/.exec(state)![0];
  const destroyed = await stack.run("destroy", "--yes", "--skip-preview", "--target", urn, "--target-dependents");
  assert.equal(destroyed.code, 0, destroyed.output.slice(-2000));
  await up();
  const now = await stack.outputs();
  assert.notEqual(now["database"].facts.clusterUuid, before["database"].facts.clusterUuid);
  assert.notEqual(now["runId"], before["runId"]);
  assert.equal(
    stack.result(now["resultFile"]).spec.context["database"]!["clusterUuid"],
    now["database"].facts.clusterUuid,
    "the result is of the cluster that stands",
  );
});

test("another release would destroy the database node: refused before any node is touched, and undone without a trace", async () => {
  const standingConfig: ConfigInput = { ...CONFIG, owner: "ada", expiresHours: 100, sites: [{ ...SITE, ...LIMITS }] };
  const identity = (): string =>
    ["east-1", "driver"].map((node) => stack.onNode(node, "cat", "/etc/machine-id")).join();
  stack.onNode("east-1", "mariadb", "-e", "CREATE TABLE sbtest.kept (id INT)");
  const before = identity();
  const standing = await stack.run("stack", "output", "--json");
  stack.configure({ ...standingConfig, debian: 13 });
  const { code, output } = await stack.up();
  assert.notEqual(code, 0, output.slice(-3000));
  assert.match(
    output,
    /was: debian = 12\s+asked: debian = 13\s+east-1: this change replaces the database node and destroys its data; set meshbench:sites\[0\]\.replaceNodes to true to confirm it, or undo the change/,
  );
  assert.equal(identity(), before);
  stack.configure(standingConfig);
  assert.deepEqual(steps(await up()), []);
  assert.equal(stack.onNode("east-1", "mariadb", "-NBe", "SELECT COUNT(*) FROM sbtest.kept").trim(), "0");
  assert.equal((await stack.run("stack", "output", "--json")).output, standing.output);
});

test("destroy leaves nothing", async () => {
  const { code, output } = await stack.run("destroy", "--yes", "--skip-preview");
  assert.equal(code, 0, output.slice(-2000));
  assert.deepEqual(Object.values(stack.leftovers()).flat(), []);
});
