/** What goes wrong in AWS, on the stand-in: an instance that never answers, one that AWS has no room for. */

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { killTree, TestStack, until } from "../../harness/stack.ts";
import type { ConfigInput } from "../../infra/config/schema.ts";
import { MotoLook } from "./moto-look.ts";
import { CloudStack } from "./stand-ins.ts";

const config: ConfigInput = {
  operatorCidr: "203.0.113.7/32",
  profile: "smoke",
  proxy: { kind: "none" },
  sites: [{ name: "aws", kind: "aws", region: "eu-central-1", nodes: 1, readyTimeoutSeconds: 30 }],
};
let clouds: CloudStack, aws: MotoLook;
const stack = new TestStack("aws-failures", config);

before(async () => {
  clouds = await CloudStack.start({ stack, sites: [{ name: "aws" }] });
  aws = new MotoLook(clouds.moto.url, "eu-central-1");
});
after(() => clouds?.stop());

/** A run that failed half-way: what it left is taken away whole. */
async function destroysCleanly(): Promise<void> {
  const { code, output } = await stack.run("destroy", "--yes");
  assert.equal(code, 0, output.slice(-3000));
  assert.deepEqual(await aws.leftovers(), []);
  assert.deepEqual(clouds.labNodes(), []);
}

test("SSH that never answers ends in one sentence within the bound", async () => {
  clouds.environment({ MESHBENCH_STANDIN_SILENT: "driver" });
  const { code, output } = await stack.up();
  clouds.environment({ MESHBENCH_STANDIN_SILENT: undefined });
  assert.notEqual(code, 0);
  assert.match(output, /driver: not ready within 30 s: SSH at [\d.]+ does not answer \(.+\); is SSH open to you/);
  assert.doesNotMatch(output, /driver-wg-key.*creating/, "no step was begun on a node that is not there");
  await destroysCleanly();
});

test("no capacity: AWS's own sentence, and what was made goes away again", async () => {
  clouds.environment({ MESHBENCH_STANDIN_NO_CAPACITY: "aws-1" });
  const { code, output } = await stack.up();
  clouds.environment({ MESHBENCH_STANDIN_NO_CAPACITY: undefined });
  assert.notEqual(code, 0);
  assert.match(output, /InsufficientInstanceCapacity.*in the Availability Zone you requested \(eu-central-1a\)/);
  await destroysCleanly();
});

test("a policy that denies volumes without tags: they have theirs in the call that makes them", async () => {
  clouds.environment({ MESHBENCH_STANDIN_DENY_UNTAGGED_VOLUMES: "true", MESHBENCH_STANDIN_SILENT: "driver" });
  const { output } = await stack.up();
  clouds.environment({ MESHBENCH_STANDIN_DENY_UNTAGGED_VOLUMES: undefined, MESHBENCH_STANDIN_SILENT: undefined });
  assert.doesNotMatch(output, /UnauthorizedOperation/);
  assert.deepEqual(Object.keys(await aws.instances()).sort(), ["aws-1", "driver"]);
  await destroysCleanly();
});

test("killed while AWS made an instance: the next up takes it away and makes its own, and nothing is left in the end", async () => {
  clouds.environment({ MESHBENCH_STANDIN_HANG: "driver" });
  const running = stack.start(["up", "--yes", "--skip-preview"]);
  await until("AWS has the instance", 240, async () => (await aws.instances())["driver"] !== undefined);
  killTree(running.child.pid!);
  await running.ended;
  clouds.environment({ MESHBENCH_STANDIN_HANG: undefined });
  const { driver: lost } = await aws.instances();
  assert.ok(lost);
  // The one run here that gets as far as a working node; a bare machine's first boot takes longer than 30 s.
  const [site] = config.sites!;
  stack.configure({ ...config, sites: [{ ...site!, readyTimeoutSeconds: 300 } as typeof site & object] });
  const { code, output } = await stack.up();
  stack.configure(config);
  assert.equal(code, 0, output.slice(-3000));
  assert.match(output, new RegExp(`driver: terminating 1 instance: ${lost}`));
  const { driver } = await aws.instances();
  assert.ok(driver && driver !== lost, "a new one, which the state knows");
  await destroysCleanly();
});

test("an image that does not exist is named before anything is created", async () => {
  const [site] = config.sites!;
  stack.configure({ ...config, sites: [{ ...site!, ami: "ami-00000000000000000" } as typeof site & object] });
  const { code, output } = await stack.up();
  stack.configure(config);
  assert.notEqual(code, 0);
  assert.match(output, /meshbench:sites\[0\]\.ami: ami-00000000000000000/);
  assert.deepEqual(await aws.leftovers(), []);
});
