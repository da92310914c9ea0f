/**
 * `npm run test:proxmox-real`: the same program on the vendor's own plugin, against fakepve. What it proves: the
 * vendor's code accepts every input, its second run sees no change, and its destroy leaves nothing. The machines behind
 * are made up, so only what is created at the host is run: everything that would log in to a node is left out by
 * --target.
 */

import assert from "node:assert/strict";
import { delimiter } from "node:path";
import { test } from "node:test";
import { changes, TestStack, touched } from "../../harness/stack.ts";
import type { ConfigInput } from "../../infra/config/schema.ts";
import { type FakePve, fakePvePython, startFakePve } from "./fake-pve.ts";
import { proxmoxOnly, type Site } from "./stack.ts";
import { vendorFolder } from "./vendor.ts";

const vendor = vendorFolder();
const python = "reason" in vendor ? vendor : fakePvePython();
const reason = "reason" in python ? python.reason : undefined;
if (reason !== undefined)
  console.error(`\n*** SKIPPED, nothing was tried on the vendor's Proxmox plugin: ${reason} ***\n`);

const TARGETS = [
  "**proxmoxve**",
  "**::*-guard",
  "**operator-key",
  "**expiry",
  "**meshbench:sites:Proxmox**::home",
].flatMap((t) => ["--target", t]);
const profiles = { own: { sizeGb: 20, cache: "writeback", ssd: true }, root: {} };

const variants: [string, Site, string, string | undefined][] = [
  ["virtual machines as shipped", {}, "qemu", "ide2=file%3Dlocal-lvm%3Acloudinit"],
  [
    "virtual machines with ids, VLAN, name server and disks of their own",
    { vmId: 900, vlan: 20, dns: ["192.0.2.53"], profiles, storage: ["own", "own", "root"] },
    "qemu",
    "serial%3Dmeshbench-data",
  ],
  ["containers with a mount point", { guest: "lxc", profiles, storage: "own" }, "lxc", undefined],
  ["containers with /dev/net/tun, as root@pam", { guest: "lxc", wireguard: "tun" }, "lxc", undefined],
];

for (const [name, site, kind, sent] of variants) {
  test(name, { skip: reason ?? false, timeout: 900_000 }, async (t) => {
    assert.ok("folder" in vendor && "python" in python);
    const before = { ...process.env };
    const pve: FakePve = await startFakePve(python.python);
    const stack = new TestStack("proxmox-real", {} as ConfigInput);
    t.after(async () => {
      process.env = before;
      await pve.stop();
      stack.remove();
    });
    Object.assign(process.env, {
      PATH: `${vendor.folder}${delimiter}${before["PATH"] ?? ""}`,
      SSL_CERT_FILE: pve.caFile,
      NODE_EXTRA_CA_CERTS: pve.caFile,
    });
    stack.configure(
      proxmoxOnly(
        { endpoint: pve.endpoint, address: "192.0.2.40/24", gateway: "192.0.2.1", ...site },
        { proxmoxToken: pve.token, proxmoxPassword: "secret", proxy: { kind: "haproxy" }, profile: "quick" },
      ),
    );

    const run = async (...args: string[]): Promise<string> => {
      const { code, output } = await stack.run(...args);
      assert.equal(code, 0, output.slice(-4000));
      assert.match(
        output,
        new RegExp(`pulumi-resource-proxmoxve from \\$PATH at ${vendor.folder}`),
        "it is the vendor's plugin that ran",
      );
      return output;
    };
    await run("preview");
    const up = ["up", "--yes", "--skip-preview", "--suppress-outputs", ...TARGETS];
    assert.equal(changes(await run(...up)).created, 13);
    const guests = await pve.call<{ type: string; status: string }[]>("GET", "/cluster/resources?type=vm");
    assert.deepEqual(
      guests.map((g) => [g.type, g.status]),
      Array(4).fill([kind, "running"]),
    );
    if (sent !== undefined)
      assert.ok(
        (await pve.requests()).some((line) => line.startsWith("POST") && line.includes(sent)),
        sent,
      );
    assert.deepEqual(touched(await run(...up)), [], "the second run changes nothing");
    assert.deepEqual(touched(await run("refresh", "--yes", "--skip-preview")), [], "a refresh finds nothing");
    assert.deepEqual(touched(await run(...up)), []);
    await run("destroy", "--yes", "--skip-preview");
    assert.deepEqual(await pve.call("GET", "/cluster/resources?type=vm"), []);
    assert.deepEqual(await pve.call("GET", "/nodes/pve/storage/local/content"), []);
  });
}
