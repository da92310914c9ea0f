/** What is said about a Proxmox or ssh site before anything is created: one sentence per mistake. */

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { formatAddress, networkOf, overlap, parseAddress, parseCidr } from "../../infra/config/addresses.ts";
import { checkConfig } from "../../infra/config/check.ts";
import type { ProxmoxSite } from "../../infra/config/sites/proxmox.ts";
import { guestName, planGuests } from "../../infra/sites/proxmox/plan.ts";
import { planNodes } from "../../infra/topology.ts";
import { proxmoxOnly } from "./stack.ts";

const TOKEN = "meshbench@pve!bench=11111111-2222-3333-4444-555555555555";
const good = { endpoint: "https://pve.example.org:8006", address: "192.168.1.40/24", gateway: "192.168.1.1" };

function problems(site: object, more: object = {}): string[] {
  const checked = checkConfig(
    proxmoxOnly({ ...good, ...site }, { proxmoxToken: TOKEN, ...more }) as unknown as Record<string, unknown>,
  );
  return "problems" in checked ? checked.problems : [];
}

test("the shipped stack with what a user sets is accepted", () => assert.deepEqual(problems({}), []));

const cases: [string, object, object, RegExp][] = [
  [
    "http",
    { endpoint: "http://pve:8006" },
    {},
    /sites\[0\]\.endpoint: "http:\/\/pve:8006"; expected https, over which alone/,
  ],
  ["no scheme", { endpoint: "pve:8006" }, {}, /expected https:\/\/, a host and a port/],
  ["a path in the endpoint", { endpoint: "https://pve:8006/api2" }, {}, /no path/],
  [
    "no token",
    {},
    { proxmoxToken: undefined },
    /proxmoxToken: missing; expected an API token, set with `config set --secret/,
  ],
  [
    "no token for this site",
    {},
    { proxmoxToken: { other: TOKEN } },
    /meshbench:proxmoxToken\.home: missing; expected an API token, set with `config set --secret --path meshbench:proxmoxToken\.home '/,
  ],
  [
    "a token of another form for this site",
    {},
    { proxmoxToken: { home: "hush-hush" } },
    /meshbench:proxmoxToken\.home: not an API token/,
  ],
  [
    "a token of another form",
    {},
    { proxmoxToken: "hush-hush" },
    /proxmoxToken: not an API token; expected USER@REALM!ID=SECRET/,
  ],
  ["no address", { address: undefined }, {}, /sites\[0\]\.address: missing; expected "dhcp", or/],
  ["an address without mask", { address: "192.168.1.40" }, {}, /address: "192\.168\.1\.40"; expected /],
  [
    "a range that leaves the network",
    { address: "192.168.1.250/24" },
    {},
    /the 13 addresses after it inside the network/,
  ],
  ["no gateway", { gateway: undefined }, {}, /gateway: missing/],
  ["a gateway elsewhere", { gateway: "10.0.0.1" }, {}, /expected an address in the network of 192\.168\.1\.40\/24/],
  ["a name server by name", { dns: ["dns.example.org"] }, {}, /dns\[0\]: "dns\.example\.org"; expected an address/],
  [
    "DHCP for VMs without agent",
    { address: "dhcp" },
    {},
    /expected static addresses, or an image with the guest agent/,
  ],
  ["an agent in a container", { guest: "lxc", agent: true }, {}, /for a container, which has no guest agent/],
  [
    "snippets without a storage",
    { hostKeys: "snippets" },
    {},
    /snippets: missing; expected .* a storage with content type snippets/,
  ],
  ["a storage for snippets that nobody uses", { snippets: "local" }, {}, /expected with .*hostKeys "snippets" only/],
  [
    "the device without root's password",
    { guest: "lxc", wireguard: "tun" },
    {},
    /proxmoxPassword: missing; expected .*only root@pam with its password/,
  ],
  [
    "a latest image",
    { image: { url: "https://x.example/latest/d.qcow2", checksum: "0".repeat(64) } },
    {},
    /a path with "latest"/,
  ],
  [
    "a profile that is not there",
    { storage: "slog" },
    {},
    /storage: "slog"; expected one of meshbench:sites\[0\]\.profiles: none are given/,
  ],
  [
    "too few profiles",
    { profiles: { a: {} }, storage: ["a"] },
    {},
    /storage: 1 profiles; expected one for all or one for each of 3 nodes/,
  ],
  ["a public address behind NAT", { publicAddress: "203.0.113.1" }, {}, /nodes behind NAT have none/],
  [
    "a small disk",
    { diskGb: 8 },
    { profile: { data: { tables: 10, tableSize: 5_000_000 }, steps: [{ workload: "oltp_read_only", threads: 1 }] } },
    /diskGb: 8; expected at least \d+ for the .* rows/,
  ],
  [
    "a small data disk",
    { profiles: { a: { sizeGb: 8 } }, storage: "a" },
    { profile: { data: { tables: 10, tableSize: 5_000_000 }, steps: [{ workload: "oltp_read_only", threads: 1 }] } },
    /profiles\.a\.sizeGb: 8; expected at least/,
  ],
  [
    "the mesh over the LAN",
    { address: "10.99.0.40/24", gateway: "10.99.0.1" },
    {},
    /mesh\.network: 10\.99\.0\.0\/24, which overlaps/,
  ],
];
test("everything that a user has not set is said at once, and so is what is wrong beside it", () => {
  const named = (site: object, more: object): string[] =>
    problems(site, more).map((p) => p.split(": ")[0]!.replace("meshbench:sites[0].", ""));
  const nothing = { endpoint: undefined, address: undefined, gateway: undefined };
  assert.deepEqual(named(nothing, { proxmoxToken: undefined }), [
    "endpoint",
    "meshbench:proxmoxToken",
    "address",
    "gateway",
  ]);
  assert.deepEqual(named({ ...nothing, gateway: "router", dns: ["dns"], publicAddress: "here" }, {}), [
    "endpoint",
    "address",
    "gateway",
    "dns[0]",
    "publicAddress",
    "publicAddress",
  ]);
  assert.deepEqual(named({ address: "192.168.1.40", gateway: undefined }, {}), ["address", "gateway"]);
  assert.deepEqual(
    named({ guest: "lxc", address: "dhcp", gateway: undefined }, {}),
    [],
    "who asks a DHCP server needs no router's address",
  );
});

for (const [name, site, more, expected] of cases) {
  test(`refused in one sentence: ${name}`, () => {
    const found = problems(site, more);
    assert.equal(found.length, 1, found.join("\n"));
    assert.match(found[0]!, expected);
    assert.ok(!found[0]!.includes("hush-hush"), "no token is shown");
  });
}

const second = { ...good, name: "attic", kind: "proxmox", nodes: 1, endpoint: "https://other.example.org:8006" };
const two = (one: object, other: object): string[] => {
  const shipped = proxmoxOnly({ ...good, ...one }, { proxmoxToken: TOKEN }) as { sites: object[] };
  const checked = checkConfig({ ...shipped, sites: [...shipped.sites, { ...second, ...other }] });
  return "problems" in checked ? checked.problems : [];
};

test("two sites with overlapping networks, and two behind NAT, are refused", () => {
  assert.match(
    two({ nat: false }, {})[0]!,
    /: 192\.168\.1\.40\/24, which overlaps 192\.168\.1\.40\/24 of meshbench:sites\[\d\]/,
  );
  const apart = { address: "192.168.2.40/24", gateway: "192.168.2.1" };
  assert.deepEqual(two({}, apart), [
    'sites "home" and "attic" are both behind NAT: neither can call the other; one of them needs nat false and an address that the other reaches',
  ]);
  assert.deepEqual(two({ nat: false }, apart), []);
});

test("hosts that were there: enough of them, each with a key", () => {
  const site = (more: object): string[] => {
    const checked = checkConfig({
      sites: [
        {
          name: "racks",
          kind: "ssh",
          nodes: 1,
          hosts: [{ address: "a.example.org", hostKey: "ssh-ed25519 AAAA" }],
          ...more,
        },
      ],
      proxy: { kind: "none" },
    });
    return "problems" in checked ? checked.problems : [];
  };
  assert.match(site({})[0]!, /sites\[0\]\.hosts: 1 hosts; expected 2/);
  assert.match(
    site({ hosts: [{ address: "a" }, { address: "b", hostKey: "ssh-ed25519 AAAA" }] })[0]!,
    /hosts\[0\]\.hostKey: missing; expected the host's key \(`ssh-keyscan/,
  );
  assert.match(
    site({ hosts: [{ address: "a" }, { address: "a" }], scanHostKeys: true })[0]!,
    /hosts\[1\]\.address: "a", as in hosts\[0\]\.address/,
  );
});

test("addresses: of any site all differ, lie inside the network, and adding a node moves nobody", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 230 }),
      fc.integer({ min: 1, max: 11 }),
      fc.constantFrom("own", "driver", "database"),
      (host, nodes, placement) => {
        const config = (count: number) => {
          const checked = checkConfig({
            ...(proxmoxOnly(
              { ...good, address: `192.168.1.${host}/24`, gateway: "192.168.1.254", nodes: count, vmId: 700 },
              { proxmoxToken: TOKEN, proxy: { kind: "haproxy", placement } },
            ) as object),
          });
          assert.ok("config" in checked, JSON.stringify(checked));
          return checked.config;
        };
        const plan = (count: number) => {
          const c = config(count);
          return planGuests(c.sites[0] as ProxmoxSite, planNodes(c), "s");
        };
        const guests = plan(nodes),
          network = networkOf(parseCidr("192.168.1.1/24")!);
        for (const list of [guests.map((g) => g.lanAddress), guests.map((g) => g.vmId), guests.map((g) => g.name)])
          assert.equal(new Set<unknown>(list).size, guests.length);
        for (const g of guests) {
          const a = parseAddress(g.lanAddress!)!;
          assert.ok(a > network.first && a < network.last);
        }
        for (const g of plan(nodes + 1)) {
          const was = guests.find((o) => o.node.name === g.node.name);
          if (was) assert.equal(was.address, g.address);
        }
      },
    ),
  );
});

test("arithmetic of addresses: there and back, and overlap is what sharing an address is", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 2 ** 32 - 1 }), (n) => assert.equal(parseAddress(formatAddress(n)), n)),
  );
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 2 ** 32 - 1 }),
      fc.integer({ min: 8, max: 32 }),
      fc.integer({ min: 0, max: 2 ** 32 - 1 }),
      fc.integer({ min: 8, max: 32 }),
      (a, p, b, q) => {
        const one = networkOf({ address: a, prefix: p }),
          other = networkOf({ address: b, prefix: q });
        assert.equal(
          overlap(one, other),
          (one.first <= other.first && other.last <= one.last) || (other.first <= one.first && one.last <= other.last),
        );
      },
    ),
  );
});

test("a guest's name is a DNS label whatever the stack is called", () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 100 }), (stack) =>
      assert.match(guestName(stack, "home-1"), /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])$/),
    ),
  );
});
