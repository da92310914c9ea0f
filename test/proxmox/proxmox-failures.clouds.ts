/**
 * An `up` that is killed while the Proxmox host makes a guest, on the stand-in: the host has it, no state knows it. Part of
 * `npm run test:clouds`.
 */

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { killTree, until } from "../../harness/stack.ts";
import { ProxmoxStack } from "./stand-in.ts";

const ONE = { nodes: 1 };
const MORE = { profile: "smoke", proxy: { kind: "none" } };
let proxmox: ProxmoxStack;

before(async () => {
  proxmox = await ProxmoxStack.start("proxmox-failures");
});
after(async () => {
  delete process.env["MESHBENCH_STANDIN_HANG"];
  await proxmox?.stop();
});

const driver = async (): Promise<number | undefined> =>
  (await proxmox.guests()).find(({ name }) => name.endsWith("-driver"))?.vmid;

const images = async (): Promise<string[]> =>
  (await proxmox.pve.call<{ volid: string }[]>("GET", "/nodes/pve/storage/local/content"))
    .map(({ volid }) => volid)
    .filter((volume) => volume.includes("proxmox-failures"));

/** Kills an `up` when the host has the driver's guest, and only the host. */
async function killedWhileMade(): Promise<number> {
  process.env["MESHBENCH_STANDIN_HANG"] = "driver";
  const running = proxmox.stack.start(["up", "--yes", "--skip-preview"]);
  await until("the host has the guest", 240, async () => (await driver()) !== undefined);
  killTree(running.child.pid!);
  await running.ended;
  delete process.env["MESHBENCH_STANDIN_HANG"];
  return (await driver())!;
}

async function destroysCleanly(): Promise<string> {
  const { code, output } = await proxmox.stack.run("destroy", "--yes");
  assert.equal(code, 0, output.slice(-3000));
  assert.deepEqual(await proxmox.guests(), []);
  assert.deepEqual(await images(), []);
  assert.deepEqual(proxmox.labNodes(), []);
  return output;
}

test("killed while the host made a virtual machine: the next up takes it away and makes its own, nothing is left in the end", async () => {
  proxmox.configure(ONE, MORE);
  const lost = await killedWhileMade();
  const { code, output } = await proxmox.stack.up();
  assert.equal(code, 0, output.slice(-3000));
  assert.match(output, new RegExp(`driver: deleting ${lost}`));
  const names = (await proxmox.guests()).map(({ name, status }) => `${name} ${status}`).sort();
  assert.deepEqual(names, ["proxmox-failures-driver running", "proxmox-failures-home-1 running"]);
  assert.equal((await proxmox.stack.outputs())["results"].length > 0, true);
  await destroysCleanly();
});

test("killed while the host made a container, then destroyed: the container goes, and its template", async () => {
  proxmox.configure({ ...ONE, guest: "lxc" }, MORE);
  const lost = await killedWhileMade();
  assert.equal((await images()).length, 1);
  assert.match(await destroysCleanly(), new RegExp(`driver: deleting ${lost}`));
});
