/** MySQL as a topology: a server of Debian's unstable suite and a driver on two local nodes, HAProxy between them. */

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { TestStack } from "../../harness/stack.ts";
import type { ConfigInput } from "../../infra/config/schema.ts";

const config = (variables: Record<string, unknown>): ConfigInput => ({
  sites: [{ name: "here", kind: "local", nodes: 1 }],
  database: { engine: "mysql", variables },
  profile: {
    data: { tables: 2, tableSize: 1000 },
    steps: [
      { workload: "oltp_read_write", threads: 2, warmupSeconds: 0.5, durationSeconds: 3 },
      { workload: "oltp_read_only", threads: 2, warmupSeconds: 0.5, durationSeconds: 2 },
    ],
  },
});
const stack = new TestStack("e2e-mysql", config({ innodb_buffer_pool_size: "64M" }));
after(() => stack.remove());

const sql = (text: string): string => stack.onNode("here-1", "mysql", "-N", "-B", "-e", text).trim();

test("up: loaded, measured through HAProxy, verified; listening on the mesh only", async () => {
  const { code, output } = await stack.up();
  assert.equal(code, 0, output.slice(-3000));
  const outputs = await stack.outputs();
  const result = stack.result(outputs["resultFile"]);
  assert.equal(result.complete, true);
  assert.equal(result.verify?.ok, true);
  assert.equal(result.prepare?.rows, 2000);
  assert.ok(result.steps.every((step) => step.transactions > 0));
  // Two sessions on a thousand rows meet now and then.
  const codes = result.steps.flatMap((step) => Object.keys(step.errors.byCode));
  assert.deepEqual(
    codes.filter((code) => !["1213", "1062", "1205"].includes(code)),
    [],
  );
  assert.equal(result.spec.context.database?.engine, "mysql");
  assert.equal(result.spec.context.database?.commit, "none");
  // Which server the moving suite gave is told by the server itself.
  assert.equal(result.spec.context.database?.version, sql("SELECT VERSION()"));
  assert.doesNotMatch(String(result.spec.context.database?.version), /MariaDB/);
  assert.equal(sql("SELECT @@innodb_buffer_pool_size"), String(64 * 1024 * 1024));
  const listening = stack.onNode("here-1", "ss", "-Hltn", "sport = :3306 or sport = :33060");
  assert.match(listening.trim(), /^\S+ +\d+ +\d+ +10\.99\.0\.\d+:3306 [^\n]*$/, "one address, the mesh's");
});

test("a second up changes nothing; another setting restarts the server and measures again; a stopped server is started; destroy leaves nothing", async () => {
  const again = await stack.up();
  assert.equal(again.code, 0, again.output.slice(-3000));
  assert.match(again.output, /\d+ unchanged/);
  assert.doesNotMatch(again.output, /\d+ (?:created|updated|deleted|replaced)/);

  const before = (await stack.outputs())["runId"];
  stack.onNode("here-1", "systemctl", "stop", "mysql");
  stack.configure(config({ innodb_buffer_pool_size: "96M" }));
  const changed = await stack.up();
  assert.equal(changed.code, 0, changed.output.slice(-3000));
  assert.match(changed.output, /here-1: mysql was stopped, starting it/);
  assert.equal(sql("SELECT @@innodb_buffer_pool_size"), String(96 * 1024 * 1024));
  assert.notEqual((await stack.outputs())["runId"], before);

  const destroyed = await stack.run("destroy", "--yes");
  assert.equal(destroyed.code, 0, destroyed.output.slice(-3000));
  assert.deepEqual(Object.values(stack.leftovers()).flat(), []);
});
