/**
 * The shipped aws-only stack on the real engine, with a stand-in for AWS (moto keeps the books, local nodes boot as
 * instances) and HAProxy for MaxScale, which no package registry has. It proves the program and its order of things,
 * not AWS.
 */

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { TestStack, touched } from "../../harness/stack.ts";
import type { ConfigInput } from "../../infra/config/schema.ts";
import { golden } from "../infra/golden.ts";
import { MotoLook } from "./moto-look.ts";
import { CloudStack, previewed, shippedConfig, withoutRuns } from "./stand-ins.ts";

const shipped = shippedConfig("aws-only");
const config: ConfigInput = {
  ...shipped,
  operatorCidr: "203.0.113.7/32",
  profile: "smoke",
  proxy: { ...shipped.proxy, kind: "haproxy" },
};
let clouds: CloudStack, aws: MotoLook;
const stack = new TestStack("aws-only", config);

before(async () => {
  clouds = await CloudStack.start({ stack, sites: [{ name: "aws" }] });
  aws = new MotoLook(clouds.moto.url);
});
after(() => clouds?.stop());

async function up(): Promise<string> {
  const { code, output } = await stack.up();
  assert.equal(code, 0, output.slice(-4000));
  return output;
}

test("as it is shipped, the stack names what is missing before anything is created", async () => {
  stack.configure(shipped);
  const { code, output } = await stack.run("preview");
  stack.configure(config);
  assert.notEqual(code, 0);
  assert.match(output, /meshbench:operatorCidr: missing/);
  assert.doesNotMatch(output, /\n\s+at /, "no stack trace");
});

test("preview shows every resource", async () => {
  golden("aws-only-preview.txt", await previewed(stack));
  assert.deepEqual(await aws.leftovers(), []);
});

test("up: from nothing to results, which say what stood in for what and what it would cost", async () => {
  await up();
  const out = await stack.outputs();
  assert.deepEqual(
    out["results"].map((r: { workload: string }) => r.workload),
    ["oltp_read_only", "oltp_write_only", "oltp_read_write"],
  );
  // Two threads on a thousand rows may well meet in the same one: that is an error that Galera counts, and no failure.
  assert.ok(
    out["results"].every((r: { tps: number }) => r.tps > 0),
    JSON.stringify(out["results"]),
  );
  assert.equal(out["database"].facts.size, 3);
  assert.deepEqual(Object.keys(await aws.instances()).sort(), ["aws-1", "aws-2", "aws-3", "driver"]);
  assert.ok(
    out["standIns"].some((s: string) => s.includes("stands in for each EC2 instance of aws")),
    JSON.stringify(out["standIns"]),
  );
  const { context } = stack.result(out["resultFile"]).spec;
  assert.deepEqual(context.standIns, out["standIns"]);
  const cost = context.cost as { perHour: number; currency: string; date: string; items: unknown[] };
  assert.ok(
    cost.perHour > 0.2 && cost.perHour < 0.21 && cost.currency === "USD" && cost.items.length === 12,
    JSON.stringify(cost),
  );
});

test("user data ran: the login has no password, root is closed, the host key is the pinned one", () => {
  assert.match(stack.onNode("aws-1", "getent", "shadow", "admin"), /^admin:!/);
  assert.match(stack.onNode("aws-1", "sh", "-c", "sshd -T"), /^passwordauthentication no$/m);
  assert.equal(stack.onNode("aws-1", "sh", "-c", "ls /etc/ssh/ssh_host_*_key").trim(), "/etc/ssh/ssh_host_ed25519_key");
  assert.match(stack.onNode("aws-1", "cloud-init", "status"), /status: done/);
});

test("a second up changes nothing, and neither does one after a refresh", async () => {
  assert.deepEqual(withoutRuns(touched(await up())), []);
  const { code, output } = await stack.run("refresh", "--yes");
  assert.equal(code, 0, output.slice(-3000));
  assert.deepEqual(touched(output), []);
  assert.deepEqual(withoutRuns(touched(await up())), []);
});

test("destroy leaves nothing, in AWS or here", async () => {
  const { code, output } = await stack.run("destroy", "--yes");
  assert.equal(code, 0, output.slice(-3000));
  assert.deepEqual(await aws.leftovers(), []);
  assert.deepEqual(clouds.labNodes(), []);
});
