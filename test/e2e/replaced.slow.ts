/** Changes of a standing local stack that make its database nodes anew: refused, and carried out when confirmed. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { TestStack, touched } from "../../harness/stack.ts";
import type { ConfigInput } from "../../infra/config/schema.ts";

const SITE = { name: "east", kind: "local", nodes: 2 } as const;
const CONFIG: ConfigInput = { sites: [SITE], proxy: { kind: "none" }, profile: "smoke" };
const NODES = ["east-1", "east-2"];
const stack = new TestStack("e2e-replaced", CONFIG);
after(() => stack.remove());

const identity = (): string[] => NODES.map((node) => stack.onNode(node, "cat", "/etc/machine-id"));
async function up(): Promise<string> {
  const { code, output } = await stack.up();
  assert.equal(code, 0, output.slice(-4000));
  return output;
}

test("a site of another kind under the same name is refused before any node is touched, and undone without a trace", async () => {
  await up();
  const before = identity();
  stack.configure({
    ...CONFIG,
    preflight: false,
    proxmoxToken: "meshbench@pve!bench=00000000-0000-0000-0000-000000000000",
    sites: [
      {
        ...SITE,
        kind: "proxmox",
        endpoint: "https://192.0.2.1:8006",
        address: "192.0.2.40/24",
        gateway: "192.0.2.1",
      },
    ],
  });
  const { code, output } = await stack.up();
  assert.notEqual(code, 0, output.slice(-3000));
  assert.match(
    output,
    /was: kind = local\s+asked: kind = proxmox\s+east: this change replaces the database node and destroys its data; set meshbench:sites\[0\]\.replaceNodes to true to confirm it, or undo the change/,
  );
  assert.doesNotMatch(output, /\n\s+at /, "no stack trace");
  assert.deepEqual(identity(), before);
  stack.configure(CONFIG);
  assert.deepEqual(touched(await up()), []);
  assert.deepEqual(identity(), before);
});

test("another release with replaceNodes: all database nodes anew, a cluster, data and a run of their own", async () => {
  const before = await stack.outputs();
  const machines = identity();
  stack.configure({ ...CONFIG, sites: [{ ...SITE, debian: 13, replaceNodes: true }] });
  await up();
  for (const [i, node] of NODES.entries()) {
    assert.match(stack.onNode(node, "cat", "/etc/debian_version"), /^13/);
    assert.notEqual(identity()[i], machines[i]);
  }
  const now = await stack.outputs();
  assert.equal(now["database"].facts.size, 2);
  assert.notEqual(now["database"].facts.clusterUuid, before["database"].facts.clusterUuid);
  assert.notEqual(now["runId"], before["runId"], "another machine is another run");
  const result = stack.result(now["resultFile"]);
  assert.match(JSON.stringify(result), /11\.8\.\d+-MariaDB/);
  assert.ok(now["results"].length > 0 && now["results"].every((r: { tps: number }) => r.tps > 0));
  assert.deepEqual(touched(await up()), [], "confirmed once, it is not done again");
});

test("destroy leaves nothing", async () => {
  const { code, output } = await stack.run("destroy", "--yes", "--skip-preview");
  assert.equal(code, 0, output.slice(-2000));
  assert.deepEqual(Object.values(stack.leftovers()).flat(), []);
});
