/** A whole local stack on Debian 13: its MariaDB, Galera and HAProxy take what this project configures and runs. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { TestStack } from "../../harness/stack.ts";

const stack = new TestStack("e2e-debian-13", {
  debian: 13,
  sites: [
    { name: "east", kind: "local", nodes: 2 },
    { name: "west", kind: "local", nodes: 1 },
  ],
  links: [{ between: ["east", "west"], rttMs: 10 }],
  profile: "smoke",
});
after(() => stack.remove());

test("up on Debian 13: cluster, proxy, load, and what it ran on stands in the result", async () => {
  const { code, output } = await stack.up();
  assert.equal(code, 0, output.slice(-4000));
  const out = await stack.outputs();
  assert.ok(
    out["results"].every((r: { tps: number }) => r.tps > 0),
    JSON.stringify(out["results"]),
  );
  assert.match(stack.onNode("east-1", "cat", "/etc/debian_version"), /^13/);
  const text = JSON.stringify(stack.result(out["resultFile"]));
  assert.match(text, /11\.8\.\d+-MariaDB/);
  assert.match(text, /Debian 13/);
});
