/** Every resource of a Proxmox site, of hosts that were there, with inputs and parents, by Pulumi's runtime mocks. */

import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { after, before, test } from "node:test";
import * as pulumi from "@pulumi/pulumi";
import { configOf } from "../infra/config/config.ts";
import { golden } from "../infra/golden.ts";
import { keyPair } from "./lab.ts";
import { proxmoxOnly } from "./stack.ts";

interface Seen {
  type: string;
  name: string;
  parent: string;
  inputs: Record<string, any>;
  clear: string;
  options: Record<string, any>;
}

interface Request {
  getName(): string;
  getType(): string;
  getParent(): string;
  getProvider(): string;
  getDependenciesList(): string[];
  getDeletedwith(): string;
  getIgnorechangesList(): string[];
  getObject(): { toJavaScript(): Record<string, unknown> } | undefined;
}

const SIGNATURE = "4dabf18193072939515e22adb298388d",
  SECRET = "1b47061264138c4ac30d75fd1eb44270";
const mapped = (value: unknown, ofSecret: (inner: unknown) => unknown): unknown => {
  if (Array.isArray(value)) return value.map((v) => mapped(v, ofSecret));
  if (typeof value !== "object" || value === null) return value;
  const all = value as Record<string, unknown>;
  if (all[SIGNATURE] === SECRET) return ofSecret(all["value"]);
  return Object.fromEntries(Object.entries(all).map(([k, v]) => [k, mapped(v, ofSecret)]));
};
const opened = (value: unknown): unknown => mapped(value, opened);
const withoutSecrets = (value: unknown): unknown => mapped(value, () => "(secret)");

const TOKEN = "meshbench@pve!bench=11111111-2222-3333-4444-555555555555";
const seen: Seen[] = [];
const keys = keyPair();

before(async () => {
  await pulumi.runtime.setMocks(
    {
      newResource: ({ type, name, inputs, id }) => {
        const more = type.endsWith("VmLegacy")
          ? { vmId: 100, macAddresses: ["BC:24:11:00:00:01"], ipv4Addresses: [["127.0.0.1"], ["192.168.1.99"]] }
          : type.endsWith("ContainerLegacy")
            ? { vmId: 100, ipv4: { eth0: "192.168.1.98" } }
            : type === "command:local:Command"
              ? { stdout: printed(name) }
              : type === "command:remote:Command"
                ? { stdout: "{}" }
                : {};
        return {
          id: id || (type.endsWith("download/file:File") ? `local:import/${String(inputs["fileName"])}` : `${name}-id`),
          state: { ...inputs, ...more },
        };
      },
      call: ({ inputs }) => inputs,
    },
    "meshbench",
    "t",
  );
  const monitor = pulumi.runtime.getMonitor() as unknown as {
    registerResource(request: Request, callback: unknown): Promise<void>;
  };
  const register = monitor.registerResource.bind(monitor);
  monitor.registerResource = (request, callback) => {
    const last = (urn: string): string => urn.split("::").at(-1) ?? "";
    const raw = request.getObject()?.toJavaScript() ?? {};
    seen.push({
      type: request.getType(),
      name: request.getName(),
      parent: last(request.getParent()),
      inputs: opened(raw) as Record<string, any>,
      clear: JSON.stringify(withoutSecrets(raw)),
      options: {
        ignoreChanges: request.getIgnorechangesList(),
        deletedWith: last(request.getDeletedwith()),
        provider: request.getProvider().split("::").at(-2),
        dependsOn: request.getDependenciesList().map(last),
      },
    });
    return register(request, callback);
  };
});
after(() => {
  pulumi.runtime.disconnect();
  rmSync(keys.directory, { recursive: true, force: true });
});

function printed(name: string): string {
  if (name.endsWith("-key"))
    return JSON.stringify({
      private: "-----BEGIN OPENSSH PRIVATE KEY-----\nSECRET\n-----END OPENSSH PRIVATE KEY-----\n",
      public: `ssh-ed25519 PUBLIC comment`,
    });
  return name.endsWith("-first-contact") ? "ssh-ed25519 SEEN" : "2026-01-02T00:00:00Z";
}

async function make(raw: object): Promise<{ nodes: Record<string, any>[]; resources: Seen[] }> {
  seen.length = 0;
  const { createSites } = await import("../../infra/sites/index.ts");
  const { planNodes } = await import("../../infra/topology.ts");
  const { operatorKey } = await import("../../infra/identity/identity.ts");
  const config = configOf(raw as Record<string, unknown>);
  const labels = {
    project: "meshbench",
    stack: "t",
    "stack-id": pulumi.output("0123456789ab"),
    owner: "ada",
    expires: pulumi.output("2026-01-02T00:00:00Z"),
  };
  const nodes = await createSites(config, planNodes(config), {
    lab: "t",
    key: operatorKey("operator-key", "t"),
    owned: { id: "0123456789ab", name: "t" },
    labels,
  });
  const plain = await Promise.all(
    nodes.map(
      (node) =>
        new Promise<Record<string, any>>((resolve) => {
          pulumi
            .all([node.lanAddress, node.publicAddress, node.facts, node.connection])
            .apply(([lanAddress, publicAddress, facts, connection]) =>
              resolve({ ...node, lanAddress, publicAddress, facts, connection }),
            );
        }),
    ),
  );
  await (pulumi.runtime as unknown as { waitForRPCs(): Promise<void> }).waitForRPCs();
  return { nodes: plain, resources: [...seen] };
}

const SET = { endpoint: "https://pve.example.org:8006", address: "192.168.1.40/24", gateway: "192.168.1.1" };
const shipped = (site: object = {}, more: object = {}): object =>
  proxmoxOnly({ ...SET, ...site }, { proxmoxToken: TOKEN, ...more });
const ofType = (resources: Seen[], end: string): Seen[] =>
  resources.filter((r) => r.type.endsWith(end)).sort((a, b) => (a.name < b.name ? -1 : 1));

function listing(resources: Seen[]): string {
  return resources
    .filter(
      (r) =>
        r.type.startsWith("proxmoxve:") || r.type.startsWith("meshbench:") || r.type.startsWith("pulumi:providers"),
    )
    .sort((a, b) => (a.type + a.name < b.type + b.name ? -1 : 1))
    .map(
      (r) =>
        `${r.type} ${r.name} in ${r.parent || "the stack"}\n${Object.entries(r.inputs)
          .sort(([a], [b]) => (a < b ? -1 : 1))
          .map(([k, v]) => `  ${k}: ${k === "apiToken" ? "(secret)" : JSON.stringify(v)}`)
          .join("\n")}`,
    )
    .join("\n");
}

test("proxmox-only: every resource, its inputs and its parent", async () => {
  const { resources } = await make(shipped());
  golden("proxmox-only-resources.txt", listing(resources));
  for (const r of ofType(resources, "VmLegacy")) {
    assert.deepEqual(r.options["ignoreChanges"], ["disks[0].speed"]);
    assert.equal(r.options["provider"], "home");
  }
  for (const name of ["home-1", "home-2", "home-3"])
    assert.ok(
      ofType(resources, "VmLegacy")
        .find((r) => r.name === name)!
        .options["dependsOn"].includes(`${name}-guard`),
    );
});

test("a site's own guard remembers its kind, which no guard of a node outlives", async () => {
  const { resources } = await make(shipped({ replaceNodes: true }));
  const { inputs, parent } = resources.find((r) => r.name === "home-guard")!;
  const { NODE, REPLACED, MAY_REPLACE, REPLACE_KEY } = inputs["environment"];
  assert.deepEqual(
    [parent.startsWith("meshbench:"), NODE, REPLACED, MAY_REPLACE, REPLACE_KEY],
    [false, "home", "replaced kind = proxmox", "true", "meshbench:sites[0].replaceNodes to true"],
  );
});

test("rolling: each database node waits until the one before is ready, and a node of another size is waited for anew", async () => {
  const waits = (resources: Seen[]): string[] =>
    ofType(resources, "VmLegacy").map((vm) =>
      vm.options["dependsOn"].filter((name: string) => name.endsWith("-ready")).join(),
    );
  assert.deepEqual(waits((await make(shipped())).resources), ["", "", "", ""]);
  const { resources } = await make(shipped({ rolling: true, cores: 4 }));
  assert.deepEqual(waits(resources), ["", "", "home-1-ready", "home-2-ready"], "the driver waits for nobody");
  assert.deepEqual(resources.find((r) => r.name === "home-1-ready")!.inputs["triggers"], [
    "4",
    "4096",
    "x86-64-v2-AES",
    "none",
    "on",
    "true",
    "false",
  ]);
  const guards = resources
    .filter((r) => /-\d+-guard$/.test(r.name))
    .map((r) => [
      r.name,
      r.inputs["environment"].RESTARTED,
      r.inputs["environment"].MAY_RESTART,
      r.inputs["environment"].RESTART_KEY,
    ]);
  assert.deepEqual(guards[0], [
    "home-1-guard",
    [
      "cores = 4",
      "cpuType = x86-64-v2-AES",
      "disk.cache = none",
      "disk.discard = on",
      "disk.iothread = true",
      "disk.ssd = false",
      "memoryMb = 4096",
    ]
      .map((line) => `restarted ${line}`)
      .join("\n"),
    "true",
    "meshbench:sites[0].rolling to true",
  ]);
});

test("a storage profile's options of disks count as what stops a virtual machine; a container has none", async () => {
  const profiles = { fast: { cache: "writeback", discard: false, iothread: false, ssd: true } };
  const restarted = async (more: object): Promise<string> =>
    (await make(shipped({ profiles, storage: "fast", ...more }))).resources.find((r) => r.name === "home-1-guard")!
      .inputs["environment"].RESTARTED;
  for (const line of ["cache = writeback", "discard = ignore", "iothread = false", "ssd = true"])
    assert.match(await restarted({}), new RegExp(`^restarted disk\\.${line}$`, "m"));
  assert.doesNotMatch(await restarted({ guest: "lxc" }), /disk\./);
});

test("rolling is one chain over all sites: the first node here waits for the last of the site before", async () => {
  const one = shipped({ rolling: true }) as { sites: object[] };
  const [first] = one.sites;
  const second = {
    ...first,
    name: "barn",
    endpoint: "https://barn.example.org:8006",
    address: "192.168.8.40/24",
    gateway: "192.168.8.1",
    nat: false,
  };
  const { resources } = await make({
    ...shipped({ rolling: true }),
    sites: [first, second],
    driver: { site: "home" },
  });
  const waits = Object.fromEntries(
    ofType(resources, "VmLegacy").map((vm) => [
      vm.name,
      vm.options["dependsOn"].filter((name: string) => name.endsWith("-ready")).join(),
    ]),
  );
  assert.equal(waits["barn-1"], "home-3-ready");
  assert.equal(waits["barn-2"], "barn-1-ready");
});

test("containers on a storage profile: template, mount point as text, features; the device only where asked for", async () => {
  const profiles = { slog: { datastore: "nvme", sizeGb: 40, note: "ZFS mirror, NVMe SLOG" }, plain: {} };
  const { resources, nodes } = await make(shipped({ guest: "lxc", profiles, storage: ["slog", "slog", "plain"] }));
  golden("proxmox-lxc-resources.txt", listing(resources));
  const [driver, first, , third] = ofType(resources, "ContainerLegacy");
  assert.deepEqual(first!.inputs["mountPoints"], [
    { path: "/var/lib/mysql", volume: "nvme", size: "40G", backup: false },
  ]);
  assert.equal(third!.inputs["mountPoints"], undefined);
  assert.equal(driver!.inputs["mountPoints"], undefined, "only database nodes have one");
  assert.equal(first!.inputs["devicePassthroughs"], undefined);
  assert.deepEqual(
    { ...nodes[0]!["facts"].storage },
    { name: "slog", filesystem: "ext4", cache: "none", discard: true, iothread: true, ssd: false, ...profiles.slog },
  );

  const tun = await make(shipped({ guest: "lxc", wireguard: "tun" }, { proxmoxPassword: "root's" }));
  assert.deepEqual(ofType(tun.resources, "ContainerLegacy")[0]!.inputs["devicePassthroughs"], [
    { path: "/dev/net/tun", mode: "0666" },
  ]);
  const provider = ofType(tun.resources, "providers:proxmoxve")[0]!.inputs;
  assert.deepEqual([provider["username"], provider["apiToken"]], ["root@pam", undefined]);
});

test("names of storages reach the provider as they are written, capitals included", async () => {
  const site = {
    imageDatastore: "Images",
    datastore: "ZFS_Tank-1",
    profiles: { fast: { datastore: "NVMe", sizeGb: 40 } },
  };
  const { resources } = await make(shipped({ ...site, storage: "fast" }));
  const vm = ofType(resources, "VmLegacy").find((r) => r.name === "home-1")!;
  assert.deepEqual(
    vm.inputs["disks"].map((disk: { datastoreId: string }) => disk.datastoreId),
    ["ZFS_Tank-1", "NVMe"],
  );
  assert.equal(vm.inputs["initialization"].datastoreId, "ZFS_Tank-1");
  assert.equal(resources.find((r) => r.inputs["contentType"] === "import")!.inputs["datastoreId"], "Images");
});

test("a VM's own disk for the database: options of the profile, found by its serial number", async () => {
  const { resources } = await make(
    shipped({
      profiles: {
        a: { sizeGb: 50, cache: "writeback", ssd: true, discard: false, iothread: false, filesystem: "xfs" },
      },
      storage: "a",
    }),
  );
  const vm = ofType(resources, "VmLegacy").find((r) => r.name === "home-1")!;
  assert.deepEqual(vm.inputs["disks"][1], {
    interface: "scsi1",
    datastoreId: "local-lvm",
    size: 50,
    fileFormat: "raw",
    serial: "meshbench-data",
    cache: "writeback",
    discard: "ignore",
    iothread: false,
    ssd: true,
  });
  assert.deepEqual(vm.options["ignoreChanges"], ["disks[0].speed", "disks[1].speed"]);
  const ready = resources.find((r) => r.name === "home-1-ready")!;
  assert.match(ready.inputs["stdin"], /mkfs\.xfs/);
  assert.doesNotMatch(resources.find((r) => r.name === "driver-ready")!.inputs["stdin"], /mkfs/);
});

test("DHCP with an agent: the address is the one reported, and the agent is asked for the host key", async () => {
  const { resources, nodes } = await make(
    shipped({ address: "dhcp", gateway: undefined, agent: true, hostKeys: "agent" }),
  );
  assert.deepEqual(
    nodes.map((n) => n["lanAddress"]),
    Array(4).fill("192.168.1.99"),
  );
  const vm = ofType(resources, "VmLegacy")[0]!;
  assert.deepEqual(vm.inputs["initialization"].ipConfigs, [{ ipv4: { address: "dhcp" } }]);
  assert.equal(vm.inputs["agent"].enabled, true);
  const contact = JSON.parse(resources.find((r) => r.name === "home-1-first-contact")!.inputs["stdin"]);
  assert.deepEqual([contact.verify.hypervisor, contact.verify.vmId], ["pve", 100]);
});

test("snippets: the host key is handed over, and nothing is taken as first seen", async () => {
  const { resources, nodes } = await make(shipped({ hostKeys: "snippets", snippets: "local" }));
  const file = ofType(resources, "FileLegacy")[0]!;
  assert.match(file.inputs["sourceRaw"].data, /ed25519_private/);
  const vm = ofType(resources, "VmLegacy")[0]!;
  assert.equal(vm.inputs["initialization"].userAccount, undefined);
  assert.equal(
    resources.some((r) => r.name.endsWith("-first-contact")),
    false,
  );
  assert.equal(nodes[0]!["connection"].hostKey, "ssh-ed25519 PUBLIC");
});

test("nodes: who is where, behind NAT or not, with jump host and pinned key", async () => {
  const jump = {
    host: "gate.example.org",
    user: "ops",
    privateKeyFile: keys.privateKeyFile,
    hostKey: "ssh-ed25519 AAAA",
  };
  const { nodes } = await make(shipped({ nat: false, publicAddress: "203.0.113.10", jump, vmId: 900 }));
  assert.deepEqual(
    nodes.map((n) => [n["name"], n["lanAddress"], n["publicAddress"], n["behindNat"], n["sudo"]]),
    [
      ["home-1", "192.168.1.40", "203.0.113.10", false, true],
      ["home-2", "192.168.1.41", "203.0.113.11", false, true],
      ["home-3", "192.168.1.42", "203.0.113.12", false, true],
      ["driver", "192.168.1.53", "203.0.113.23", false, true],
    ],
  );
  const { connection } = nodes[0]!;
  assert.deepEqual(
    [connection.user, connection.hostKey, connection.proxy.host, connection.proxy.user],
    ["debian", "ssh-ed25519 SEEN", "gate.example.org", "ops"],
  );
});

test("hosts that were there: nothing but steps, a way back, and no deletedWith", async () => {
  const host = (n: number, more: object = {}): object => ({
    address: `203.0.113.${n}`,
    hostKey: "ssh-ed25519 AAAA",
    ...more,
  });
  const { resources, nodes } = await make({
    sites: [
      {
        name: "racks",
        kind: "ssh",
        nodes: 1,
        user: "ops",
        privateKeyFile: keys.privateKeyFile,
        hosts: [host(1, { lanAddress: "10.0.0.1" }), host(2)],
        note: "bare metal",
      },
    ],
    proxy: { kind: "none" },
  });
  assert.deepEqual(
    resources
      .filter((r) => r.type.includes("racks") || r.parent === "racks")
      .map((r) => r.name)
      .sort(),
    ["driver-first-contact", "driver-found", "racks-1-first-contact", "racks-1-found"],
  );
  const found = resources.find((r) => r.name === "racks-1-found")!;
  assert.equal(
    found.inputs["delete"],
    "sudo -n bash -c 'if [ -e /var/lib/meshbench-host/leave ]; then bash /var/lib/meshbench-host/leave; fi'",
  );
  assert.equal(found.options["deletedWith"], "");
  assert.deepEqual(
    [nodes[0]!["lanAddress"], nodes[0]!["publicAddress"], nodes[0]!["facts"].note],
    ["10.0.0.1", "203.0.113.1", "bare metal"],
  );
});

test("token and keys are secrets wherever they go", async () => {
  const { resources } = await make(shipped({ agent: true, hostKeys: "agent" }));
  const holding = resources
    .filter((r) => JSON.stringify(r.inputs).includes(TOKEN))
    .map((r) => r.name)
    .sort();
  assert.deepEqual(holding, [
    "driver-first-contact",
    "home",
    "home-1-first-contact",
    "home-2-first-contact",
    "home-3-first-contact",
  ]);
  for (const r of resources) assert.doesNotMatch(r.clear, new RegExp(`PRIVATE KEY|${TOKEN.split("=")[1]}`), r.name);
});
