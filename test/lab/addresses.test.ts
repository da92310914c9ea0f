import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import {
  chooseBlock,
  FIRST_HOST,
  LAST_HOST,
  MAX_SITES,
  names,
  nodeAddress,
  operatorAddresses,
  overlaps,
  POOL,
  parseRange,
  siteAddresses,
} from "../../lab/network/addresses.ts";
import { LabError } from "../../lab/run.ts";

const address = fc
  .tuple(fc.constant(10), fc.integer({ min: 60, max: 130 }), fc.nat(255), fc.nat(255))
  .map((octets) => octets.join("."));
const route = fc.tuple(address, fc.integer({ min: 11, max: 32 })).map(([host, prefix]) => `${host}/${prefix}`);

test("a block never touches a route the machine has, nor another lab's block", () => {
  fc.assert(
    fc.property(fc.array(route, { maxLength: 8 }), fc.integer({ min: 1, max: 12 }), (routes, labs) => {
      const taken = [...routes];
      for (let i = 0; i < labs; i++) {
        let block: string;
        try {
          block = chooseBlock(taken);
        } catch (error) {
          // Only a pool that the routes cover may be full.
          assert.ok(error instanceof LabError);
          return routes.some((text) => Number(text.split("/")[1]) <= 16);
        }
        assert.ok(parseRange(block).first >= parseRange(POOL).first && parseRange(block).last <= parseRange(POOL).last);
        for (const other of taken)
          assert.ok(!overlaps(parseRange(block), parseRange(other)), `${block} overlaps ${other}`);
        taken.push(block);
      }
      return true;
    }),
  );
});

test("a machine whose routes cover the pool gets an error, not a block", () => {
  assert.throws(() => chooseBlock(["10.0.0.0/8"]), /no free addresses .* 10\.64\.0\.0\/10/);
});

test("no two things of a lab share an address, and all are inside of its block", () => {
  const block = chooseBlock([]);
  const operator = operatorAddresses(block);
  const all = [operator.core, operator.operator];
  for (let index = 1; index <= MAX_SITES; index++) {
    const site = siteAddresses(block, index);
    all.push(site.gateway, site.coreSide, site.siteSide, site.natAddress);
    for (let host = FIRST_HOST; host <= LAST_HOST; host++) {
      const node = nodeAddress(block, index, host);
      assert.ok(overlaps(parseRange(site.subnet), parseRange(node)));
      all.push(node);
    }
  }
  assert.equal(new Set(all).size, all.length);
  for (const one of all) assert.ok(overlaps(parseRange(block), parseRange(one)), one);
});

test("interface names fit the kernel's 15 characters whatever the lab is called", () => {
  const long = "a".repeat(40);
  for (const name of [names.operatorLink(long), names.uplink(MAX_SITES), names.port(LAST_HOST)])
    assert.ok(name.length <= 15, name);
  assert.notEqual(names.operatorLink("demo"), names.operatorLink("demo-2"));
});
