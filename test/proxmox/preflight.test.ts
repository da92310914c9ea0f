/**
 * What a Proxmox host answers, and what is made of it. The answers are made up here; against fakepve it runs in the
 * stacks' own tests.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import { checkProxmoxSites } from "../../infra/preflight/proxmox.ts";
import { type Ask, callProxmox, ProxmoxError } from "../../infra/sites/proxmox/api.ts";
import { planNodes } from "../../infra/topology.ts";
import { configOf } from "../infra/config/config.ts";
import { proxmoxOnly } from "./stack.ts";

const TOKEN = "meshbench@pve!bench=11111111-2222-3333-4444-555555555555";
/** Documentation's addresses: nobody is there to answer. */
const SET = {
  endpoint: "https://pve.example.org:8006",
  address: "192.0.2.40/24",
  gateway: "192.0.2.1",
  jump: { host: "gate.example.org", hostKey: "ssh-ed25519 AAAA" },
};

/** Containers, with storages that hold them. */
const LXC = { guest: "lxc" };

/** As Proxmox answers: by privilege, whether it holds below the path too. */
const EVERYTHING = Object.fromEntries(
  [
    ...["Allocate", "Audit", "PowerMgmt"].map((name) => `VM.${name}`),
    ...["CDROM", "CPU", "Cloudinit", "Disk", "HWType", "Memory", "Network", "Options"].map((n) => `VM.Config.${n}`),
    ...["AllocateSpace", "AllocateTemplate", "Audit"].map((name) => `Datastore.${name}`),
  ].map((name) => [name, 1]),
);

type Answers = Record<string, unknown>;
const GOOD: Answers = {
  "/version": { version: "8.4.1" },
  "/nodes": [{ node: "pve", status: "online", maxmem: 64 * 2 ** 30, maxcpu: 16 }],
  "/nodes/pve/storage": [
    { storage: "local", content: "iso,vztmpl,import,backup", active: 1, avail: 2 ** 40 },
    { storage: "local-lvm", content: "images,rootdir", active: 1, avail: 2 ** 40 },
  ],
  "/nodes/pve/network": [{ iface: "vmbr0", type: "bridge" }],
  "/nodes/pve/storage/local/content": [],
  "/nodes/pve/query-url-metadata": { size: 1 },
  "/cluster/resources": [],
  "/pools": [],
};

async function ask(answers: Answers, site: object = {}): Promise<{ ok: boolean; skipped: boolean; message: string }[]> {
  const config = configOf(
    proxmoxOnly({ ...SET, ...site }, { proxmoxToken: TOKEN }) as unknown as Record<string, unknown>,
  );
  const all: Answers = { ...GOOD, ...answers };
  const open: Ask = async <T>(path: string): Promise<T> => {
    // The host answers for the path that is asked for.
    const about = new URLSearchParams(path.split("?")[1]).get("path");
    if (about !== null && !("/access/permissions" in answers)) return { [about]: EVERYTHING } as T;
    const answer = all[path.split("?")[0]!];
    if (answer instanceof Error) throw answer;
    return answer as T;
  };
  const checks = await checkProxmoxSites(config, planNodes(config), { id: "0123456789ab", name: "t" }, () => open);
  return checks.map(({ ok, skipped = false, message }) => ({ ok, skipped, message }));
}

/** Exactly one check fails, with these words in its sentence. */
async function fails(answers: Answers, site: object, ...words: string[]): Promise<void> {
  const failures = (await ask(answers, site)).filter((c) => !c.ok);
  assert.equal(failures.length, 1, JSON.stringify(failures));
  for (const word of words) assert.ok(failures[0]!.message.includes(word), `"${word}" in: ${failures[0]!.message}`);
  assert.ok(!failures[0]!.message.includes(TOKEN.split("=")[1]!), "no token is shown");
}

test("a host that can do it passes every check; what cannot be asked from here is said", async () => {
  const checks = await ask({});
  assert.ok(checks.length >= 6 && checks.every((c) => c.ok), JSON.stringify(checks));
  assert.deepEqual(
    checks.filter((c) => c.skipped).map((c) => c.message),
    ["lie behind a jump host"],
  );
});

test("the API: a token that is wrong or has expired, an untrusted certificate, nobody there, too old - and nothing else is asked then", async () => {
  const rest = { "/nodes": new Error("must not be asked") };
  await fails(
    { ...rest, "/version": new ProxmoxError(401, "authentication failure") },
    {},
    "meshbench:proxmoxToken is not accepted by https://pve.example.org:8006",
    "has expired",
    "--secret",
  );
  await fails(
    { ...rest, "/version": new ProxmoxError(0, "self-signed certificate") },
    {},
    "meshbench:sites[0].endpoint",
    "not trusted",
    "NODE_EXTRA_CA_CERTS",
    "meshbench:sites[0].insecure",
  );
  await fails(
    { ...rest, "/version": new ProxmoxError(0, "connect ECONNREFUSED") },
    {},
    "meshbench:sites[0].endpoint",
    "does not answer as a Proxmox API",
    "ECONNREFUSED",
  );
  for (const version of ["7.4-3", "8.0", "8.3.5"])
    await fails({ ...rest, "/version": { version } }, {}, `Proxmox VE ${version}`, '8.4 or newer for guest "vm"');
  await fails({ ...rest, "/version": { version: "7.4-3" } }, LXC, '8.0 or newer for guest "lxc"');
});

test("the version: 8.4 imports images of virtual machines, containers need no import", async () => {
  for (const version of ["8.4", "8.4.1", "8.10", "9.0.3", "10.0"])
    assert.ok(
      (await ask({ "/version": { version } })).every((c) => c.ok),
      version,
    );
  assert.ok((await ask({ "/version": { version: "8.2.4" } }, LXC)).every((c) => c.ok));
});

test("the host: absent, offline, too small", async () => {
  await fails({}, { hypervisor: "elsewhere" }, 'meshbench:sites[0].hypervisor: "elsewhere"; expected one of pve');
  await fails(
    { "/nodes": [{ node: "pve", status: "offline" }] },
    {},
    'meshbench:sites[0].hypervisor: "pve", which is offline',
  );
  await fails({}, { memoryMb: 32_768 }, "meshbench:sites[0].memoryMb", "32768 for each of 4 guests", "65536 MiB");
  await fails({}, { cores: 32 }, "meshbench:sites[0].cores: 32; expected at most 16");
});

test("storages: absent, out of service, without the content type - import, snippets, a container's template and root", async () => {
  await fails({}, { datastore: "tank" }, 'meshbench:sites[0].datastore: "tank"; expected one of local, local-lvm');
  await fails(
    {},
    { imageDatastore: "local-lvm" },
    'meshbench:sites[0].imageDatastore: "local-lvm"',
    'expected "import" among them',
  );
  await fails(
    {},
    { hostKeys: "snippets", snippets: "local" },
    'meshbench:sites[0].snippets: "local"',
    'expected "snippets" among them',
  );
  await fails({}, { guest: "lxc", imageDatastore: "local-lvm" }, 'expected "vztmpl" among them');
  await fails(
    {},
    { guest: "lxc", datastore: "local" },
    'meshbench:sites[0].datastore: "local"',
    'expected "rootdir" among them',
  );
  await fails(
    {},
    { profiles: { slog: { datastore: "nvme", sizeGb: 40 } }, storage: "slog" },
    'meshbench:sites[0].profiles.slog.datastore: "nvme"',
  );
  const [local, lvm] = GOOD["/nodes/pve/storage"] as object[];
  await fails(
    { "/nodes/pve/storage": [local, { ...lvm, active: 0 }] },
    {},
    'meshbench:sites[0].datastore: "local-lvm"',
    "not in service",
  );
});

test("a storage's name is taken as it is written, capitals included", async () => {
  const named = {
    "/nodes/pve/storage": [
      { storage: "Images", content: "import", active: 1 },
      { storage: "ZFS_Tank-1", content: "images", active: 1 },
    ],
    "/nodes/pve/storage/Images/content": [],
  };
  const site = { imageDatastore: "Images", datastore: "ZFS_Tank-1" };
  const checks = await ask(named, site);
  assert.deepEqual(
    checks.filter((c) => !c.ok),
    [],
  );
  await fails(named, { ...site, datastore: "zfs_tank-1" }, '"zfs_tank-1"; expected one of Images, ZFS_Tank-1');
});

test("privileges that the token lacks are named with the path, those from the pool counted; who answers nothing is believed", async () => {
  const { "VM.PowerMgmt": _, "VM.Config.Cloudinit": __, ...some } = EVERYTHING;
  const on = (vms: object, pool: object = {}): Answers => ({
    "/pools": [{ poolid: "bench" }],
    "/access/permissions": {
      "/vms": vms,
      "/pool/bench": pool,
      "/storage/local": { "Datastore.Audit": 1 },
      "/storage/local-lvm": EVERYTHING,
    },
  });
  await fails(
    on(some),
    {},
    "meshbench:proxmoxToken: lacks VM.Config.Cloudinit, VM.PowerMgmt on /vms; Datastore.AllocateTemplate on /storage/local at https://pve.example.org:8006; expected a token with the role of docs/proxmox.md",
  );
  await fails(
    on(some, EVERYTHING),
    { pool: "bench" },
    "meshbench:proxmoxToken: lacks Datastore.AllocateTemplate on /storage/local at",
  );
  await fails(on(some), LXC, "lacks VM.PowerMgmt on /vms; Datastore.AllocateTemplate on /storage/local at");
  const silent = await ask({ "/access/permissions": {} });
  assert.ok(silent.every((c) => c.ok) && silent.some((c) => /says nothing of what its login may do/.test(c.message)));
});

test("bridge, pool, an image that the host cannot fetch", async () => {
  await fails({}, { bridge: "vmbr9" }, 'meshbench:sites[0].bridge: "vmbr9"; expected one of vmbr0');
  await fails({}, { pool: "bench" }, 'meshbench:sites[0].pool: "bench"', "there is no pool");
  await fails(
    { "/nodes/pve/query-url-metadata": new ProxmoxError(500, "404 Not Found") },
    {},
    "meshbench:sites[0].image.url",
    "404 Not Found",
  );
});

test("an id that another guest has is refused, the stack's own is none", async () => {
  const other = { vmid: 901, name: "shop", node: "pve" };
  await fails(
    { "/cluster/resources": [other] },
    { vmId: 900 },
    'meshbench:sites[0].vmId: 901 for home-2, which "shop" on pve has',
  );
  const own = { vmid: 901, name: "t-home-2", tags: "id-0123456789ab;meshbench;site-home;stack-t", node: "pve" };
  const namesake = { ...own, tags: own.tags.replace("0123456789ab", "ba9876543210") };
  await fails({ "/cluster/resources": [namesake] }, { vmId: 900 }, "vmId: 901");
  assert.ok((await ask({ "/cluster/resources": [own] }, { vmId: 900 })).every((c) => c.ok));
});

test("what the token may not ask is said and stops nobody", async () => {
  const checks = await ask({
    "/nodes/pve/query-url-metadata": new ProxmoxError(403, "Permission check failed"),
    "/nodes/pve/network": [],
  });
  assert.ok(
    checks.every((c) => c.ok),
    JSON.stringify(checks),
  );
  assert.equal(checks.filter((c) => c.skipped).length, 3);
});

test("the real client says that nothing was reached where nothing listens", async () => {
  const login = { apiToken: TOKEN };
  await assert.rejects(
    callProxmox({ endpoint: "https://127.0.0.1:9", login, insecure: false }, "GET", "/version"),
    (error: ProxmoxError) => error.status === 0 && /ECONNREFUSED/.test(error.message),
  );
});
