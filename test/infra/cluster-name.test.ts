import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { clusterName } from "../../infra/databases/galera-conf.ts";

test("a cluster's name fits into gcomm's 32 bytes and tells stacks apart that begin alike", () => {
  assert.equal(clusterName("meshbench", "local"), "meshbench-local");
  const long = ["study-hybrid-galera-proxmox-only", "study-hybrid-galera-proxmox-onto"].map((stack) =>
    clusterName("meshbench", stack),
  );
  assert.notEqual(long[0], long[1]);
  fc.assert(
    fc.property(fc.stringMatching(/^[a-zA-Z0-9_.-]{1,100}$/), (stack) => {
      const name = clusterName("meshbench", stack);
      assert.ok(Buffer.byteLength(name) <= 32, name);
      assert.match(name, /^[a-zA-Z0-9_.-]+$/);
      assert.equal(name, clusterName("meshbench", stack));
    }),
  );
});
