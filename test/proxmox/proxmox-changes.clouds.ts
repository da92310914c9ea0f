/**
 * Changes to a running proxmox-only stack, on the stand-in: what is refused, and a guest that disappears. Part of `npm
 * run test:clouds`.
 */

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { touched } from "../../harness/stack.ts";
import { updatedAsPreviewed } from "../clouds/stand-ins.ts";
import { lab } from "./lab.ts";
import { ProxmoxStack } from "./stand-in.ts";

const SMALL = { profile: "smoke" };
let proxmox: ProxmoxStack, cluster: string;
before(async () => {
  proxmox = await ProxmoxStack.start("proxmox-changes");
  proxmox.configure({}, SMALL);
  await up();
  cluster = (await proxmox.stack.outputs())["database"].facts.clusterUuid;
});
after(async () => {
  await proxmox?.stack.run("destroy", "--yes");
  await proxmox?.stop();
});

async function up(): Promise<string> {
  const { code, output } = await proxmox.stack.up();
  assert.equal(code, 0, output.slice(-4000));
  return output;
}

/** When a node's first process began: another moment is another boot. */
const boots = (): Record<string, string> =>
  Object.fromEntries(
    ["home-1", "home-2", "home-3"].map((node) => [
      node,
      proxmox.stack.onNode(node, "stat", "-c", "%Z", "/proc/1").trim(),
    ]),
  );

const status = (node: string, name: string): string =>
  proxmox.stack.onNode(node, "mariadb", "-NBe", `SHOW STATUS LIKE '${name}'`).split(/\s+/)[1] ?? "";

/** Asked of the nodes: what the stack's outputs say may be of an earlier run. */
async function sameCluster(): Promise<void> {
  for (const node of ["home-1", "home-2", "home-3"])
    assert.deepEqual(
      [
        status(node, "wsrep_cluster_state_uuid"),
        status(node, "wsrep_cluster_size"),
        status(node, "wsrep_local_state_comment"),
      ],
      [cluster, "3", "Synced"],
      node,
    );
}

test("a change that would make database nodes anew is refused, and nothing is touched", async () => {
  const was = await proxmox.guests();
  proxmox.configure({ vmId: 500 }, SMALL);
  const { code, output } = await proxmox.stack.up();
  proxmox.configure({}, SMALL);
  assert.notEqual(code, 0);
  assert.match(
    output,
    /this change replaces the database node and destroys its data; set meshbench:sites\[0\]\.replaceNodes to true/,
  );
  assert.deepEqual(
    (await proxmox.guests())
      .filter((g) => /home-/.test(g.name))
      .map((g) => g.vmid)
      .sort(),
    was
      .filter((g) => /home-/.test(g.name))
      .map((g) => g.vmid)
      .sort(),
  );
  await up();
});

test("owner and expiry: the preview names the guests and nothing else, and up does the same, as they run", async () => {
  const was = { boots: boots(), run: (await proxmox.stack.outputs())["runId"] };
  proxmox.configure({}, { ...SMALL, owner: "grace", expiresHours: 100 });
  const updated = await updatedAsPreviewed(proxmox.stack);
  assert.deepEqual(updated.toSorted(), ["driver", "expiry", "home-1", "home-2", "home-3"]);
  for (const { vmid } of await proxmox.guests()) {
    const { description } = await proxmox.pve.call<{ description: string }>("GET", `/nodes/pve/qemu/${vmid}/config`);
    const expires = /owner grace, expires (\S+)/.exec(description)?.[1];
    assert.ok(Date.parse(expires ?? "") > Date.now() + 90 * 3_600_000, description);
  }
  assert.deepEqual(boots(), was.boots);
  assert.equal((await proxmox.stack.outputs())["runId"], was.run, "and no new run");
  await sameCluster();
});

test("another size for all database nodes is refused, then done node by node", async () => {
  const was = { boots: boots(), guests: await proxmox.guests() };
  proxmox.configure({ cores: 4 }, SMALL);
  const { code, output } = await proxmox.stack.up();
  assert.notEqual(code, 0);
  // The engine stops at the first refusal it sees: which nodes are named is a race.
  assert.match(output, /home-[123]: this change stops the database node.*set meshbench:sites\[0\]\.rolling to true/);
  assert.deepEqual(boots(), was.boots, "nothing was touched");
  proxmox.configure({ profiles: { fast: { cache: "writeback" } }, storage: "fast" }, SMALL);
  const cached = await proxmox.stack.up();
  assert.notEqual(cached.code, 0);
  assert.match(
    cached.output,
    /was: disk\.cache = none\s+asked: disk\.cache = writeback\s+home-[123]: this change stops the database node/,
  );
  assert.deepEqual(boots(), was.boots, "nothing was touched");

  proxmox.configure({ cores: 4, rolling: true }, SMALL);
  await up();
  assert.deepEqual(
    (await proxmox.guests()).map((g) => g.vmid).sort(),
    was.guests.map((g) => g.vmid).sort(),
    "changed, not replaced",
  );
  for (const [node, boot] of Object.entries(boots())) assert.notEqual(boot, was.boots[node], `${node} was restarted`);
  await sameCluster();
});

test("a guest deleted behind the stack's back is noticed by refresh, made anew and joins again", async () => {
  const lost = (await proxmox.guests()).find((g) => g.name.endsWith("-home-3"))!;
  const upid = await proxmox.pve.call<string>("POST", `/nodes/pve/qemu/${lost.vmid}/status/stop`);
  assert.match(upid, /^UPID/);
  await proxmox.pve.call("DELETE", `/nodes/pve/qemu/${lost.vmid}?purge=1`);
  lab(["node", "delete", "--lab", proxmox.stack.lab, "--name", "home-3", "--grace", "0"]);

  const refreshed = await proxmox.stack.run("refresh", "--yes");
  assert.equal(refreshed.code, 0, refreshed.output.slice(-3000));
  const output = await up();
  assert.ok(touched(output).includes("home-3"), "the guest is made again");
  assert.ok(!touched(output).some((n) => n === "home-1" || n === "home-2"), "no other guest is touched");
  await sameCluster();
});
