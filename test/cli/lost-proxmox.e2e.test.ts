/** What a killed run was making on a Proxmox host (fakepve): found by what tells it from a namesake's, and taken away. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { checkout, nodeBinary } from "../../tools/paths.ts";
import { fakePvePython, startFakePve } from "../proxmox/fake-pve.ts";

/** cli/leftovers/lost.ts, as the engine's wrapper starts it. */
function lookForLost(root: string, lost: object[]): Promise<{ status: number | null; stderr: string }> {
  const child = spawn(nodeBinary(), [join(checkout, "cli/leftovers/lost.ts")]);
  child.stdin.end(JSON.stringify({ root, stack: "hybrid", lost }));
  let stderr = "";
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  return new Promise((resolve) => child.once("close", (status) => resolve({ status, stderr })));
}

const python = fakePvePython();

test("Proxmox (fakepve): what a killed run was making is waited for, known by name and all of its tags, and goes", {
  skip: "reason" in python ? `SKIPPED: ${python.reason}` : false,
}, async () => {
  if (!("python" in python)) return;
  const root = mkdtempSync(join(tmpdir(), "meshbench-lost-"));
  // The host goes on with what it was asked for.
  const pve = await startFakePve(python.python, { FAKE_PVE_MAKING_SECONDS: "3" });
  try {
    copyFileSync(join(checkout, "Pulumi.yaml"), join(root, "Pulumi.yaml"));
    const site = { name: "home", kind: "proxmox", nodes: 1, endpoint: pve.endpoint, insecure: true };
    writeFileSync(
      join(root, "Pulumi.hybrid.yaml"),
      JSON.stringify({ config: { "meshbench:sites": [site], "meshbench:proxmoxToken": pve.token } }),
    );
    const look = (lost: object[]) => lookForLost(root, lost);
    const provider = { endpoint: pve.endpoint };
    const tags = ["id-0123456789ab", "meshbench", "site-home", "stack-hybrid"];
    const image = { nodeName: "pve", datastoreId: "local", contentType: "import", fileName: "debian-hybrid.qcow2" };
    const lost = [
      { name: "home-image", type: "proxmoxve:download/file:File", inputs: image, provider },
      {
        name: "home-1",
        type: "proxmoxve:index/vmLegacy:VmLegacy",
        inputs: { nodeName: "pve", name: "hybrid-home-1", tags },
        provider,
      },
      {
        name: "home-2",
        type: "proxmoxve:index/containerLegacy:ContainerLegacy",
        inputs: { nodeName: "pve", initialization: { hostname: "hybrid-home-2" }, tags },
        provider,
      },
      { name: "home", type: "pulumi:providers:proxmoxve", inputs: {}, provider },
    ];
    const made = (name: string, vmid: number, tagged: string[]) =>
      pve.call("POST", "/nodes/pve/qemu", { vmid, name, memory: 512, tags: tagged.join(";") });
    const left = async (): Promise<unknown[]> => [
      (await pve.call<{ vmid: number }[]>("GET", "/cluster/resources?type=vm")).map(({ vmid }) => vmid).sort(),
      (await pve.call<{ volid: string }[]>("GET", "/nodes/pve/storage/local/content"))
        .map(({ volid }) => volid)
        .filter((id) => id.startsWith("local:import/")),
    ];
    await made("hybrid-home-1", 301, ["id-ba9876543210", ...tags.slice(1)]);
    await made("hybrid-home-9", 302, tags);
    await made("hybrid-home-1", 303, tags);
    await pve.call("POST", "/nodes/pve/lxc", {
      vmid: 304,
      hostname: "hybrid-home-2",
      ostemplate: "local:vztmpl/debian-12-standard_12.7-1_amd64.tar.zst",
      rootfs: "local-lvm:4",
      "ssh-public-keys": "",
      tags: tags.join(";"),
    });
    const url = { url: "https://example.org/debian.qcow2", content: "import" };
    for (const filename of [image.fileName, "debian-other.qcow2"])
      await pve.call("POST", "/nodes/pve/storage/local/download-url", { ...url, filename });
    const { status, stderr } = await look(lost);
    assert.equal(status, 0, stderr);
    assert.match(stderr, /^home-image: waiting for what pve still does: download local/);
    assert.match(stderr, /^home-image: deleting local:import\/debian-hybrid\.qcow2$/m);
    assert.match(stderr, /^home-1: deleting 303$/m);
    assert.match(stderr, /^home-2: deleting 304$/m);
    const others = [[301, 302], ["local:import/debian-other.qcow2"]];
    assert.deepEqual(await left(), others, "a namesake's, another node's and another's image stay");
    assert.deepEqual(await look(lost), { status: 0, stderr: "" }, "gone is gone");

    // Under way while it is asked for: until then it has neither name nor tags.
    await made("hybrid-home-1", 305, tags);
    const late = await look(lost);
    assert.equal(late.status, 0, late.stderr);
    assert.match(late.stderr, /^home-1: waiting for what pve still does: qmcreate 305\nhome-1: deleting 305\n$/);
    assert.deepEqual(await left(), others);
    // What its task has left locked no token may take away.
    await made("hybrid-home-1", 306, tags);
    while (!(await pve.call<{ tags?: string }>("GET", "/nodes/pve/qemu/306/config")).tags) await sleep(200);
    await pve.call("PUT", "/nodes/pve/qemu/306/config", { lock: "create" });
    const locked = await look(lost);
    assert.equal(locked.status, 1);
    assert.match(
      locked.stderr,
      /^stack hybrid: an earlier run was killed while it made home-1 .*virtual machine 306 .* is locked by a task \(create\).*qm unlock 306/m,
    );
    await pve.stop();
    const deaf = await look(lost.slice(1, 2));
    assert.equal(deaf.status, 1);
    assert.match(
      deaf.stderr,
      /^stack hybrid: .*whether it exists could not be found out.*ECONNREFUSED.*--clear-pending-creates/,
    );
  } finally {
    await pve.stop();
    rmSync(root, { recursive: true, force: true });
  }
});
