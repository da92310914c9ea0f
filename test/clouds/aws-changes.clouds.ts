/**
 * Changes to a running aws-only stack, on the stand-in: what each may touch and what it must not. Part of `npm run
 * test:clouds`.
 */

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { TestStack, touched } from "../../harness/stack.ts";
import type { ConfigInput } from "../../infra/config/schema.ts";
import { MotoLook } from "./moto-look.ts";
import { CloudStack, shippedConfig, updatedAsPreviewed } from "./stand-ins.ts";

const shipped = shippedConfig("aws-only");
const config: ConfigInput = {
  ...shipped,
  operatorCidr: "203.0.113.7/32",
  profile: "smoke",
  proxy: { kind: "haproxy", placement: "driver" },
};
/** The one site of the stack with something changed. */
const withSite = (more: object, rest: Partial<ConfigInput> = {}): ConfigInput => ({
  ...config,
  ...rest,
  sites: [{ ...config.sites![0]!, ...more } as ConfigInput["sites"][number] & object],
});

/** What of the site has been changed for good by the tests so far: each can be run by itself. */
let inForce: object = {};
let clouds: CloudStack, aws: MotoLook, cluster: string;
const stack = new TestStack("aws-changes", config);

before(async () => {
  clouds = await CloudStack.start({ stack, sites: [{ name: "aws" }] });
  aws = new MotoLook(clouds.moto.url);
  await up();
  cluster = (await stack.outputs())["database"].facts.clusterUuid;
});
after(async () => {
  await stack.run("destroy", "--yes");
  await clouds?.stop();
});

async function up(): Promise<string> {
  const { code, output } = await stack.up();
  assert.equal(code, 0, output.slice(-5000));
  return output;
}

/** When a node's first process began: another moment is another boot. */
const boots = (): Record<string, string> =>
  Object.fromEntries(
    ["aws-1", "aws-2", "aws-3"].map((node) => [node, stack.onNode(node, "stat", "-c", "%Z", "/proc/1").trim()]),
  );

async function sameCluster(size: number): Promise<void> {
  const { facts } = (await stack.outputs())["database"];
  assert.deepEqual([facts.clusterUuid, facts.size], [cluster, size]);
}

test("tags, the operator's address and the driver's size leave the database alone", async () => {
  const before = { instances: await aws.instances(), boots: boots() };
  stack.configure(
    withSite({ instanceTypes: { driver: "t3.large" } }, { owner: "grace", operatorCidr: "198.51.100.9/32" }),
  );
  const output = await up();
  assert.deepEqual(await aws.instances(), before.instances, "the same instances");
  assert.deepEqual(boots(), before.boots, "none was stopped");
  assert.equal(await aws.typeOf("driver"), "t3.large");
  assert.deepEqual(
    touched(output).filter((name) => /-galera$|-settings$|-mariadb-conf$|-wg/.test(name)),
    [],
    "no step of the database ran again",
  );
  await sameCluster(3);
  stack.configure(config);
  await up();
});

test("owner and expiry: the preview names the tagged resources, all of them and no other, and up does the same", async () => {
  const before = { instances: await aws.instances(), boots: boots(), run: (await stack.outputs())["runId"] };
  stack.configure({ ...config, owner: "ada", expiresHours: 100 });
  const updated = await updatedAsPreviewed(stack);
  const { resources } = JSON.parse((await stack.run("stack", "export")).output.replace(/^[^{]*/, "")).deployment as {
    resources: { urn: string; inputs?: { tags?: unknown } }[];
  };
  const tagged = resources.filter(({ inputs }) => inputs?.tags !== undefined).map(({ urn }) => urn.split("::").at(-1)!);
  assert.ok(tagged.length > 10, tagged.join());
  assert.deepEqual(updated.toSorted(), ["expiry", ...tagged].sort());
  for (const tags of await aws.tags())
    assert.ok(
      tags["owner"] === "ada" && Date.parse(tags["expires"]!) > Date.now() + 90 * 3_600_000,
      JSON.stringify(tags),
    );
  assert.deepEqual(await aws.instances(), before.instances, "the same instances");
  assert.deepEqual(boots(), before.boots, "none was stopped");
  assert.equal((await stack.outputs())["runId"], before.run, "and no new run");
  await sameCluster(3);
  stack.configure(config);
  await up();
});

test("another size for all database nodes is refused, then done node by node", async () => {
  const before = { instances: await aws.instances(), boots: boots() };
  stack.configure(withSite({ instanceType: "t3.large" }));
  const { code, output } = await stack.up();
  assert.notEqual(code, 0);
  // The engine stops at the first refusal it sees: which nodes are named is a race.
  assert.match(output, /aws-[123]: this change stops the database node.*set meshbench:sites\[0\]\.rolling to true/);
  assert.deepEqual([await aws.instances(), boots()], [before.instances, before.boots], "nothing was touched");

  inForce = { instanceType: "t3.large", rolling: true };
  stack.configure(withSite(inForce));
  await up();
  assert.deepEqual(await aws.instances(), before.instances, "changed, not replaced");
  for (const [node, boot] of Object.entries(boots())) {
    assert.notEqual(boot, before.boots[node], `${node} was restarted`);
    assert.equal(await aws.typeOf(node), "t3.large");
  }
  await sameCluster(3);
});

test("a change that makes database nodes anew is refused", async () => {
  const before = await aws.instances();
  stack.configure(withSite({ ...inForce, zones: ["b"] }));
  const { code, output } = await stack.up();
  assert.notEqual(code, 0);
  assert.match(
    output,
    /this change replaces the database node and destroys its data; set meshbench:sites\[0\]\.replaceNodes to true/,
  );
  const now = await aws.instances();
  for (const node of ["aws-1", "aws-2", "aws-3"]) assert.equal(now[node], before[node]);
  stack.configure(withSite(inForce));
  await up();
  await sameCluster(3);
});

test("an instance that vanishes behind our back is noticed by refresh, made anew and joins the same cluster", async () => {
  const before = await aws.instances();
  await aws.terminate("aws-2");
  stack.labCommand("node", "delete", "--lab", stack.lab, "--name", "aws-2", "--grace", "0");
  const refreshed = await stack.run("refresh", "--yes");
  assert.equal(refreshed.code, 0, refreshed.output.slice(-3000));
  await up();
  const now = await aws.instances();
  assert.ok(now["aws-2"] && now["aws-2"] !== before["aws-2"], "a new instance");
  for (const node of ["aws-1", "aws-3", "driver"]) assert.equal(now[node], before[node], `${node} stays`);
  await sameCluster(3);
  assert.equal(
    stack.onNode("aws-2", "mariadb", "-NBe", "SELECT COUNT(*) > 0 FROM sbtest.sbtest1").trim(),
    "1",
    "with the data",
  );
});

test("one node more is one instance more, and touches no other", async () => {
  const before = { instances: await aws.instances(), boots: boots() };
  stack.configure(withSite({ ...inForce, nodes: 4 }));
  await up();
  const { "aws-4": added, ...others } = await aws.instances();
  assert.ok(added);
  assert.deepEqual(others, before.instances);
  assert.deepEqual(boots(), before.boots);
  await sameCluster(4);
});
