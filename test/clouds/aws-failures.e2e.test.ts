/** What goes wrong in AWS, on the stand-in: an instance that never answers, one that AWS has no room for. */

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { ConfigInput } from "../../infra/config/schema.ts";
import { TestStack } from "../e2e/stack.ts";
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
  assert.match(output, /InsufficientInstanceCapacity/);
  await destroysCleanly();
});

test("an image that does not exist is named before anything is created", async () => {
  const [site] = config.sites!;
  stack.configure({ ...config, sites: [{ ...site!, ami: "ami-00000000000000000" } as typeof site & object] });
  const { code, output } = await stack.up();
  stack.configure(config);
  assert.notEqual(code, 0);
  assert.match(output, /meshbench:sites\[0\]\.ami is ami-00000000000000000/);
  assert.deepEqual(await aws.leftovers(), []);
});
