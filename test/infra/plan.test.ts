/** Addresses and peers of the mesh: properties that hold for every topology. */

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import {
  begins,
  type MeshNode,
  meshAddress,
  meshSlots,
  peersOf,
  SLOTS,
  unreachablePairs,
} from "../../infra/mesh/plan.ts";

const siteName = fc.stringMatching(/^[a-z][a-z0-9-]{0,14}$/);
const site = fc.record({
  name: siteName,
  meshSlot: fc.option(fc.integer({ min: 0, max: SLOTS - 1 }), { nil: undefined }),
});
/** Sites whose names and given slots all differ, as the configuration asks for. */
const sites = fc.uniqueArray(site, { minLength: 1, maxLength: SLOTS, selector: (s) => s.name }).filter((list) => {
  const given = list.map((s) => s.meshSlot).filter((s) => s !== undefined);
  return new Set(given).size === given.length;
});

const nodes: fc.Arbitrary<MeshNode[]> = fc
  .uniqueArray(fc.record({ site: siteName, behindNat: fc.boolean(), count: fc.integer({ min: 1, max: 4 }) }), {
    minLength: 1,
    maxLength: 5,
    selector: (s) => s.site,
  })
  .map((list) =>
    list.flatMap(({ site: name, behindNat, count }, s) =>
      Array.from({ length: count }, (_, i) => ({
        name: `${name}-${i + 1}`,
        site: name,
        behindNat,
        meshAddress: meshAddress("10.99.0.0/24", s, i + 1),
        lanAddress: `192.168.${s}.${i + 1}`,
        publicAddress: `203.0.113.${s * 16 + i}`,
      })),
    ),
  );

test("every site has a slot of its own, given ones are kept", () => {
  fc.assert(
    fc.property(sites, (list) => {
      const slots = meshSlots(list);
      assert.deepEqual(Object.keys(slots).sort(), list.map((s) => s.name).sort());
      assert.equal(new Set(Object.values(slots)).size, list.length);
      for (const s of list) {
        assert.ok(slots[s.name]! >= 0 && slots[s.name]! < SLOTS);
        if (s.meshSlot !== undefined) assert.equal(slots[s.name], s.meshSlot);
      }
    }),
  );
});

test("a site added at the end moves nobody", () => {
  fc.assert(
    fc.property(sites, (list) => {
      const last = list.at(-1)!;
      // A given slot can be one that an older site has by its name; that is the operator's own choice.
      fc.pre(last.meshSlot === undefined);
      const before = list.length > 1 ? meshSlots(list.slice(0, -1)) : {};
      const after = meshSlots(list);
      for (const [name, slot] of Object.entries(before)) assert.equal(after[name], slot);
    }),
  );
});

test("all addresses of a mesh differ and none is the network's or the broadcast address", () => {
  fc.assert(
    fc.property(sites, (list) => {
      const slots = Object.values(meshSlots(list));
      const addresses = slots.flatMap((slot) =>
        Array.from({ length: 14 }, (_, i) => meshAddress("10.42.7.0/24", slot, i + 1)),
      );
      assert.equal(new Set(addresses).size, addresses.length);
      for (const address of addresses) assert.match(address, /^10\.42\.7\.([1-9]|[1-9]\d|1\d\d|2[0-4]\d|25[0-4])$/);
    }),
  );
});

test("a host number out of range, a slot given twice and too many sites are refused in a sentence", () => {
  assert.throws(() => meshAddress("10.99.0.0/24", 0, 0), /14 mesh addresses/);
  assert.throws(() => meshAddress("10.99.0.0/24", 15, 15), /14 mesh addresses/);
  assert.throws(
    () =>
      meshSlots([
        { name: "a", meshSlot: 3 },
        { name: "b", meshSlot: 3 },
      ]),
    /meshSlot 3 of both "a" and "b"/,
  );
  assert.throws(
    () => meshSlots(Array.from({ length: 17 }, (_, i) => ({ name: `s${i}` }))),
    /17 sites; expected at most 16/,
  );
});

test("a node has every other node as a peer, at that node's own address", () => {
  fc.assert(
    fc.property(nodes, (all) => {
      for (const self of all) {
        const peers = peersOf(self, all, 51820, 25);
        assert.deepEqual(
          peers.map((p) => p.name),
          all.filter((n) => n !== self).map((n) => n.name),
        );
        for (const peer of peers)
          assert.equal(peer.allowedIp, `${all.find((n) => n.name === peer.name)!.meshAddress}/32`);
      }
    }),
  );
});

test("endpoints and keepalives follow from who can be reached", () => {
  fc.assert(
    fc.property(nodes, (all) => {
      for (const self of all) {
        for (const peer of peersOf(self, all, 51820, 25)) {
          const node = all.find((n) => n.name === peer.name)!;
          const same = node.site === self.site;
          if (same)
            assert.equal(
              peer.endpoint,
              `${node.lanAddress}:51820`,
              "inside a site by its own network, also behind NAT",
            );
          else assert.equal(peer.endpoint, node.behindNat ? undefined : `${node.publicAddress}:51820`);
          assert.equal(
            peer.keepaliveSeconds,
            self.behindNat && !same ? 25 : undefined,
            "only a mapping has to be kept open",
          );
        }
      }
    }),
  );
});

test("of a pair that can meet, at least one side knows where to call, and that side is the one that begins", () => {
  fc.assert(
    fc.property(nodes, (all) => {
      for (const a of all)
        for (const b of all) {
          if (a === b) continue;
          const knows = (from: MeshNode, to: MeshNode): boolean =>
            peersOf(from, all, 51820, 25).find((p) => p.name === to.name)!.endpoint !== undefined;
          assert.notEqual(begins(a, b), begins(b, a), "exactly one side begins");
          if (a.behindNat && b.behindNat && a.site !== b.site) continue;
          assert.ok(knows(a, b) || knows(b, a));
          if (begins(a, b)) assert.ok(knows(a, b), `${a.name} begins but does not know where ${b.name} is`);
        }
    }),
  );
});

test("two sites behind NAT cannot call each other, and are named", () => {
  const pairs = unreachablePairs([
    { name: "home", behindNat: true },
    { name: "cloud", behindNat: false },
    { name: "office", behindNat: true },
  ]);
  assert.deepEqual(pairs, [["home", "office"]]);
  assert.deepEqual(
    unreachablePairs([
      { name: "home", behindNat: true },
      { name: "cloud", behindNat: false },
    ]),
    [],
  );
});
