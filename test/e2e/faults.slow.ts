/** Kills, cuts and Ctrl-C: each ends in a stated result or error, and nothing that was recorded is lost. */

import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { killTree, SHORT_TIMEOUTS, TestStack, TWO_SITES, until } from "../../harness/stack.ts";

const stacks: TestStack[] = [];
function stackFor(name: string, profileSeconds: number): TestStack {
  const stack = new TestStack(name, {
    ...TWO_SITES,
    database: { options: SHORT_TIMEOUTS },
    profile: {
      data: { tables: 1, tableSize: 1000 },
      steps: [{ workload: "oltp_read_write", threads: 4, warmupSeconds: 0, durationSeconds: profileSeconds }],
    },
  });
  stacks.push(stack);
  return stack;
}
after(() => {
  for (const stack of stacks) stack.remove();
});

test("killed in the middle of node creation: destroy leaves nothing", async () => {
  const stack = stackFor("e2e-kill-nodes", 3);
  const running = stack.start(["up", "--yes", "--skip-preview"]);
  await until("a node is being made", 60, () => /local-(east|west)-\d creating/.test(running.output()));
  killTree(running.child.pid!);
  await running.ended;
  const { code, output } = await stack.run("destroy", "--yes");
  assert.equal(code, 0, output.slice(-3000));
  assert.deepEqual(Object.values(stack.leftovers()).flat(), []);
});

test("Ctrl-C during up, then up again: the stack gets whole", async () => {
  const stack = stackFor("e2e-interrupt", 3);
  const running = stack.start(["up", "--yes", "--skip-preview"]);
  await until("the mesh is being made", 60, () => /-wg(-key)? creat/.test(running.output()));
  running.child.kill("SIGINT");
  const first = await running.ended;
  assert.notEqual(first.code, 0);
  assert.doesNotMatch(first.output, /\n\s+at .*\.ts:\d+/, "no stack trace");
  const { code, output } = await stack.up();
  assert.equal(code, 0, output.slice(-3000));
  assert.equal((await stack.outputs())["results"].length, 1);
  assert.equal((await stack.run("destroy", "--yes")).code, 0);
  assert.deepEqual(Object.values(stack.leftovers()).flat(), []);
});

test("killed in the middle of the load: the run goes on, and the next up brings its result home", async () => {
  const stack = stackFor("e2e-kill-load", 20);
  const running = stack.start(["up", "--yes", "--skip-preview"]);
  await until("the load runs", 180, () => /\[ *[2-9]s \]/.test(running.output()));
  killTree(running.child.pid!);
  await running.ended;
  const begun = Date.now();
  assert.equal(stack.onNode("driver", "sh", "-c", "systemctl is-active 'meshbench-run@*'").trim(), "active");

  const { code, output } = await stack.up();
  assert.equal(code, 0, output.slice(-3000));
  const result = stack.result((await stack.outputs())["resultFile"]);
  assert.ok(Date.parse(result.startedAt) < begun, "it is the run that was under way");
  assert.equal(result.complete, true);
  assert.ok(result.steps[0]!.windowSeconds >= 19, `the window was not cut: ${result.steps[0]!.windowSeconds} s`);
  assert.equal(readdirSync(join(stack.results, stack.name)).length, 1);
});

test("a node that dies during the load: the run ends, with errors and the outage in its result", async () => {
  const stack = stacks.find((s) => s.name === "e2e-kill-load")!;
  stack.configure({
    ...TWO_SITES,
    runId: "node-dies",
    database: { options: SHORT_TIMEOUTS },
    profile: {
      data: { tables: 1, tableSize: 1000 },
      steps: [{ workload: "oltp_read_write", threads: 4, warmupSeconds: 0, durationSeconds: 20 }],
    },
  });
  const running = stack.start(["up", "--yes", "--skip-preview"]);
  await until("the load runs", 120, () => /\[ *[3-9]s \]/.test(running.output()));
  stack.labCommand("node", "kill", "--lab", stack.lab, "--name", "east-1");
  const { code, output } = await running.ended;
  assert.equal(code, 0, output.slice(-3000));
  const step = stack.result((await stack.outputs())["resultFile"]).steps[0]!;
  assert.ok(step.errors.total > 0, "the writer's death is seen as errors");
  assert.ok(
    step.outage!.longestGapSeconds >= 1.5,
    `the group suspects after two seconds: ${JSON.stringify(step.outage)}`,
  );
  assert.ok(step.outage!.firstSuccessAfter !== null, "writes went on on another node");
  assert.ok(
    step.server.some((s) => s.node === "east-1" && s.error),
    "the dead node's facts say that it is dead",
  );

  stack.labCommand("node", "start", "--lab", stack.lab, "--name", "east-1");
  assert.equal((await stack.run("destroy", "--yes")).code, 0);
  assert.deepEqual(Object.values(stack.leftovers()).flat(), []);
});

test("two stacks up at once do not touch each other", async () => {
  const [a, b] = [stackFor("e2e-twin-a", 2), stackFor("e2e-twin-b", 2)];
  const ups = await Promise.all([a.up(), b.up()]);
  for (const { code, output } of ups) assert.equal(code, 0, output.slice(-3000));
  assert.equal((await a.run("destroy", "--yes")).code, 0);
  assert.deepEqual(Object.values(a.leftovers()).flat(), []);
  assert.equal(
    b
      .onNode(
        "east-1",
        "mariadb",
        "-NBe",
        "SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME = 'wsrep_cluster_size'",
      )
      .trim(),
    "3",
  );
  assert.equal((await b.run("destroy", "--yes")).code, 0);
  assert.deepEqual(Object.values(b.leftovers()).flat(), []);
});
