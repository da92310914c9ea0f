/** PostgreSQL as a topology: a server and a driver on two local nodes, HAProxy between them. */

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { TestStack } from "../../harness/stack.ts";
import type { ConfigInput } from "../../infra/config/schema.ts";

const config = (variables: Record<string, unknown>): ConfigInput => ({
  sites: [{ name: "here", kind: "local", nodes: 1 }],
  database: { engine: "postgresql", variables },
  profile: {
    data: { tables: 2, tableSize: 1000 },
    steps: [
      { workload: "oltp_read_write", threads: 2, warmupSeconds: 0.5, durationSeconds: 3 },
      { workload: "oltp_read_only", threads: 2, warmupSeconds: 0.5, durationSeconds: 2 },
    ],
  },
});
const stack = new TestStack("e2e-postgresql", config({ work_mem: "8MB" }));
after(() => stack.remove());

const sql = (text: string): string =>
  stack.onNode("here-1", "sh", "-c", `cd / && runuser -u postgres -- psql -X -A -t -c "${text}"`).trim();

test("up: loaded, measured through HAProxy, verified; listening on the mesh only", async () => {
  const { code, output } = await stack.up();
  assert.equal(code, 0, output.slice(-3000));
  const outputs = await stack.outputs();
  const result = stack.result(outputs["resultFile"]);
  assert.equal(result.complete, true);
  assert.equal(result.verify?.ok, true);
  assert.equal(result.prepare?.rows, 2000);
  assert.ok(result.steps.every((step) => step.transactions > 0));
  // Two sessions on a thousand rows meet now and then: a deadlock, or a row that the other one has just inserted.
  const codes = result.steps.flatMap((step) => Object.keys(step.errors.byCode));
  assert.deepEqual(
    codes.filter((code) => !["40P01", "23505", "40001"].includes(code)),
    [],
  );
  assert.match(JSON.stringify(result.server), /PostgreSQL/);
  assert.equal(result.spec.context.database?.engine, "postgresql");
  assert.equal(result.spec.context.database?.commit, "none");
  assert.match(String(result.spec.context.database?.version), /^\d+\.\d+/);
  assert.equal(sql("SHOW work_mem"), "8MB");
  const listening = stack.onNode("here-1", "ss", "-Hltn", "sport = :5432");
  assert.match(listening.trim(), /^\S+ +\d+ +\d+ +10\.99\.0\.\d+:5432 [^\n]*$/, "one address, the mesh's");
});

test("a second up changes nothing; another setting restarts the server and measures again; destroy leaves nothing", async () => {
  const again = await stack.up();
  assert.equal(again.code, 0, again.output.slice(-3000));
  assert.match(again.output, /\d+ unchanged/);
  assert.doesNotMatch(again.output, /\d+ (?:created|updated|deleted|replaced)/);

  const before = (await stack.outputs())["runId"];
  stack.configure(config({ work_mem: "16MB" }));
  const changed = await stack.up();
  assert.equal(changed.code, 0, changed.output.slice(-3000));
  assert.equal(sql("SHOW work_mem"), "16MB");
  assert.notEqual((await stack.outputs())["runId"], before);

  const destroyed = await stack.run("destroy", "--yes");
  assert.equal(destroyed.code, 0, destroyed.output.slice(-3000));
  assert.deepEqual(Object.values(stack.leftovers()).flat(), []);
});
