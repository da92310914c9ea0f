/**
 * The shipped proxmox-only stack on the real engine, with a stand-in for the Proxmox plugin: fakepve keeps the books,
 * local nodes boot with the user data that Proxmox would make. It proves the program and its order of things, not
 * Proxmox.
 */

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { touched } from "../../harness/stack.ts";
import { previewed, withoutRuns } from "../clouds/stand-ins.ts";
import { golden } from "../infra/golden.ts";
import { ProxmoxStack } from "./stand-in.ts";

const nodes = ["driver", "home-1", "home-2", "home-3"];
let proxmox: ProxmoxStack;
before(async () => {
  proxmox = await ProxmoxStack.start("proxmox-e2e");
  proxmox.configure();
});
after(() => proxmox?.stop());

async function up(): Promise<string> {
  const { code, output } = await proxmox.stack.up();
  assert.equal(code, 0, output.slice(-4000));
  return output;
}

test("as it is shipped, the stack names what is missing, one sentence each, before anything is created", async () => {
  proxmox.configureAsShipped();
  const { code, output } = await proxmox.stack.run("preview");
  assert.notEqual(code, 0);
  for (const key of ["sites\\[0\\].endpoint", "sites\\[0\\].address", "sites\\[0\\].gateway", "proxmoxToken"])
    assert.match(output, new RegExp(`meshbench:${key}: missing; expected `));
  assert.doesNotMatch(output, /\n\s+at /, "no stack trace");
});

test("a host that has not what is asked for is named by preflight, and no token is shown", async () => {
  proxmox.configure({ hypervisor: "elsewhere" });
  const { code, output } = await proxmox.stack.run("preview");
  assert.notEqual(code, 0);
  assert.match(output, /meshbench:sites\[0\]\.hypervisor: "elsewhere"; expected one of pve/);
  assert.ok(!output.includes(proxmox.pve.token.split("=")[1]!));
  proxmox.configure();
});

test("preview shows every resource", async () => {
  golden("proxmox-only-preview.txt", await previewed(proxmox.stack));
  assert.deepEqual(await proxmox.guests(), []);
});

test("up: from nothing to results, which say what stood in for what", async () => {
  await up();
  const out = await proxmox.stack.outputs();
  assert.deepEqual(
    [...new Set(out["results"].map((r: { workload: string }) => r.workload))],
    ["oltp_read_only", "oltp_write_only", "oltp_read_write"],
  );
  // Two writers may meet in a certification conflict: an error of the load, and no fault of the stack.
  assert.ok(
    out["results"].every((r: { tps: number }) => r.tps > 0),
    JSON.stringify(out["results"]),
  );
  assert.equal(out["database"].facts.size, 3);
  assert.equal(out["nodes"].length, 4);
  assert.ok(
    out["nodes"].every(
      (n: { facts: { kind: string; vmId: number } }) =>
        n.facts.kind === "Proxmox virtual machine" && n.facts.vmId >= 100,
    ),
  );
  assert.ok(
    out["standIns"].some((s: string) => s.includes("fakepve")),
    JSON.stringify(out["standIns"]),
  );
  assert.deepEqual(proxmox.labNodes(), nodes);
  assert.deepEqual(
    (await proxmox.guests()).map((g) => [g.name, g.status, g.tags?.replace(/^id-[0-9a-f]{12};/, "id;")]).sort(),
    nodes.map((n) => [`proxmox-e2e-${n}`, "running", "id;meshbench;site-home;stack-proxmox-e2e"]),
  );
});

test("the guests were made by the user data: the login has no password, and the mesh crosses on the addresses given", () => {
  assert.match(proxmox.stack.onNode("home-1", "cloud-init", "status"), /status: done/);
  assert.match(proxmox.stack.onNode("home-1", "getent", "shadow", "debian"), /^debian:[!*]/);
  assert.match(proxmox.stack.onNode("home-1", "cat", "/etc/wireguard/wg0.conf"), /Endpoint = [\d.]+\.101:51820/);
});

test("the token stands in no state in clear", async () => {
  const { output } = await proxmox.stack.run("stack", "export");
  assert.ok(output.includes('"apiToken"'));
  assert.ok(!output.includes(proxmox.pve.token.split("=")[1]!));
});

test("a second up changes nothing, and neither does one after a refresh", async () => {
  assert.deepEqual(withoutRuns(touched(await up())), []);
  const { code, output } = await proxmox.stack.run("refresh", "--yes");
  assert.equal(code, 0, output.slice(-3000));
  assert.deepEqual(touched(output), []);
  assert.deepEqual(withoutRuns(touched(await up())), []);
});

test("destroy leaves nothing, on the host or here", async () => {
  const { code, output } = await proxmox.stack.run("destroy", "--yes");
  assert.equal(code, 0, output.slice(-3000));
  assert.deepEqual(await proxmox.guests(), []);
  assert.deepEqual(proxmox.labNodes(), []);
});
