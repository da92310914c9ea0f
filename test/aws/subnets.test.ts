import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { formatAddress, networkOf, overlap, parseCidr } from "../../infra/config/addresses.ts";
import { vpcNetwork, zoneOf, zoneSubnet } from "../../infra/sites/aws/subnets.ts";

const letters = ["a", "b", "c", "d", "e", "f"];
const network = fc
  .tuple(fc.integer({ min: 16, max: 22 }), fc.nat(2 ** 22 - 1))
  .map(([prefix, n]) => `${formatAddress((n * 2 ** (32 - prefix)) % 2 ** 32)}/${prefix}`);

test("subnets lie in their VPC, never overlap, and are big enough for AWS", () => {
  fc.assert(
    fc.property(network, (vpc) => {
      const outer = networkOf(parseCidr(vpc)!);
      const parts = letters.map((zone) => parseCidr(zoneSubnet(vpc, zone))!);
      for (const [i, part] of parts.entries()) {
        const inner = networkOf(part);
        assert.equal(inner.first, part.address, "no host bits");
        assert.ok(inner.first >= outer.first && inner.last <= outer.last);
        assert.ok(part.prefix <= 28);
        for (const other of parts.slice(i + 1)) assert.ok(!overlap(inner, networkOf(other)));
      }
    }),
  );
});

test("a zone's subnet is the same whichever other zones there are", () => {
  assert.equal(zoneSubnet("10.64.0.0/16", "a"), "10.64.0.0/20");
  assert.equal(zoneSubnet("10.64.0.0/16", "f"), "10.64.80.0/20");
  assert.equal(zoneSubnet("10.1.4.0/22", "b"), "10.1.4.64/26");
  assert.throws(() => zoneSubnet("10.0.0.0/26", "a"), /no room for subnets/);
});

test("sixteen sites have sixteen networks, none of them the mesh's", () => {
  const all = Array.from({ length: 16 }, (_, slot) => networkOf(parseCidr(vpcNetwork({}, slot))!));
  const mesh = networkOf(parseCidr("10.99.0.0/24")!);
  for (const [i, one] of all.entries()) {
    assert.ok(!overlap(one, mesh));
    for (const other of all.slice(i + 1)) assert.ok(!overlap(one, other));
  }
});

test("database nodes go round the zones, proxy and driver stand in the first", () => {
  assert.deepEqual(
    [0, 1, 2, 3].map((i) => zoneOf(["a", "b", "c"], i)),
    ["a", "b", "c", "a"],
  );
  assert.equal(zoneOf(["b", "a"], undefined), "b");
});
