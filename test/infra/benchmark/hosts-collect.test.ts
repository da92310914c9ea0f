/** Nodes that cannot be reached: the run goes on, and its result says what is missing. */

import assert from "node:assert/strict";
import { test } from "node:test";
import ssh2 from "ssh2";
import { syntheticResult } from "../../../harness/synthetic.ts";
import { addHosts, type HostNode, startSampling } from "../../../infra/benchmark/hosts-collect.ts";
import { runResultSchema } from "../../../workloads/contract.ts";

const keys = ssh2.utils.generateKeyPairSync("ed25519");
/** Nothing listens on port 1. */
const node = (name: string, role: "database" | "driver"): HostNode => ({
  name,
  roles: [role],
  sudo: false,
  connection: { host: "127.0.0.1", port: 1, user: "nobody", privateKey: keys.private, hostKey: keys.public },
});

test("a node that does not answer is a gap in every window, never an error", async () => {
  const nodes = [node("east-1", "database"), node("driver", "driver")];
  await startSampling(nodes, "0123456789ab");
  const result = syntheticResult({ workloads: ["oltp_read_only"], threads: [1, 4], repeats: 1 });
  await addHosts(result, nodes, "0123456789ab");
  assert.equal(result.steps.length, 2);
  for (const step of result.steps) {
    assert.deepEqual(
      step.hosts!.map((h) => h.node),
      ["east-1", "driver"],
    );
    for (const host of step.hosts!) assert.match(host.gap!, /^the node does not answer: .*ECONNREFUSED/);
  }
  runResultSchema.parse(result);
  assert.ok(!JSON.stringify(result).includes("PRIVATE KEY"));
});

test("without a driver no window can be placed: the result is left as it is", async () => {
  const result = syntheticResult({ workloads: ["oltp_read_only"], threads: [1], repeats: 1 });
  await addHosts(result, [node("east-1", "database")], "0123456789ab");
  assert.equal(result.steps[0]!.hosts, undefined);
});
