/** Changes to a running proxmox-only stack, on the stand-in: what is refused, and a guest that disappears. Part of `npm run test:clouds`. */
import { after, before, test } from "node:test";
import assert from "node:assert/strict";
import { touched } from "../e2e/stack.ts";
import { lab } from "./lab.ts";
import { ProxmoxStack } from "./stand-in.ts";

const SMALL = { profile: "smoke" };
let proxmox: ProxmoxStack;
before(async () => {
  proxmox = await ProxmoxStack.start("proxmox-changes");
  proxmox.configure({}, SMALL);
  await up();
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

test("a change that would make database nodes anew is refused, and nothing is touched", async () => {
  const was = await proxmox.guests();
  proxmox.configure({ vmId: 500 }, SMALL);
  const { code, output } = await proxmox.stack.up();
  proxmox.configure({}, SMALL);
  assert.notEqual(code, 0);
  assert.match(output, /this change makes the database node anew and its data is lost; set meshbench:sites\[0\]\.replaceNodes to true/);
  assert.deepEqual((await proxmox.guests()).filter((g) => /home-/.test(g.name)).map((g) => g.vmid).sort(), was.filter((g) => /home-/.test(g.name)).map((g) => g.vmid).sort());
  await up();
});

test("a guest deleted behind the stack's back is noticed by refresh, made anew and joins again", async () => {
  const lost = (await proxmox.guests()).find((g) => g.name.endsWith("-home-3"))!;
  const upid = await proxmox.pve.call<string>("POST", `/nodes/pve/qemu/${lost.vmid}/status/stop`);
  assert.match(upid, /^UPID/);
  await proxmox.pve.call("DELETE", `/nodes/pve/qemu/${lost.vmid}?purge=1`);
  lab(["node", "delete", "--lab", proxmox.stack.lab, "--name", "home-3", "--grace", "0"]);
  const before = (await proxmox.stack.outputs())["database"].facts.clusterUuid;

  const refreshed = await proxmox.stack.run("refresh", "--yes");
  assert.equal(refreshed.code, 0, refreshed.output.slice(-3000));
  const output = await up();
  assert.ok(touched(output).includes("home-3"), "the guest is made again");
  assert.ok(!touched(output).some((n) => n === "home-1" || n === "home-2"), "no other guest is touched");
  assert.equal(proxmox.stack.onNode("home-3", "mariadb", "-NBe", "SHOW STATUS LIKE 'wsrep_local_state_comment'").split(/\s+/)[1], "Synced");
  assert.equal(proxmox.stack.onNode("home-3", "mariadb", "-NBe", "SHOW STATUS LIKE 'wsrep_cluster_state_uuid'").split(/\s+/)[1], before);
});
