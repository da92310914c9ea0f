/** A machine may get the vendor's plugin later, or lose it: a stack goes on unchanged. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { sshdMissing, startSshd } from "./sshd.ts";
import { operations, type Plugin, type Resource, standIn, TestStack, vendor } from "./stack.ts";

const skip =
  (await sshdMissing()) ?? (vendor.folder === undefined ? "the vendor's plugin is not here: NOT CHECKED" : false);

for (const [first, second] of [
  [standIn, vendor],
  [vendor, standIn],
] as [Plugin, Plugin][]) {
  test(`a stack made with the ${first.name} is unchanged for the ${second.name}, which deletes it`, {
    skip,
  }, async (t) => {
    const sshd = await startSshd();
    t.after(() => sshd.stop());
    const stack = new TestStack(first);
    t.after(() => stack.scratch.remove());
    const connection = { host: "127.0.0.1", port: sshd.port, privateKey: sshd.privateKey, hostKey: sshd.hostKey };
    const resources: Resource[] = [
      {
        type: "local.Command",
        name: "local",
        args: { create: "echo a", triggers: [1, "two"], environment: { A: "1" }, addPreviousOutputInEnv: false },
      },
      {
        type: "remote.Command",
        name: "remote",
        args: { connection, create: "cat", stdin: { $secret: "s" }, delete: "true" },
      },
      {
        type: "remote.CopyToRemote",
        name: "copy",
        args: { connection, source: { $text: "x" }, remotePath: `${stack.scratch.root}/copy` },
      },
    ];
    const up = ["up", "--yes", "--skip-preview"];
    assert.equal((await stack.run(up, resources)).code, 0);
    const other = stack.with(second);
    const again = await other.run(up);
    assert.equal(again.code, 0, again.stdout);
    for (const name of ["local", "remote", "copy"]) assert.deepEqual(operations(again)[name], ["same"], name);
    assert.equal((await other.run(["destroy", "--yes", "--skip-preview"])).code, 0);
  });
}
