import assert from "node:assert/strict";
import { test } from "node:test";
import { plannedKey } from "../../infra/benchmark/run-key.ts";
import { planSpec } from "../../infra/benchmark/spec.ts";
import { planNodes } from "../../infra/topology.ts";
import { configOf } from "../infra/config/config.ts";

const keyOf = (site: object, more: object = {}): string => {
  const config = configOf({
    operatorCidr: "203.0.113.7/32",
    sites: [{ name: "a", kind: "aws", nodes: 1, region: "us-east-1", ...site }],
    ...more,
  });
  return plannedKey(planSpec(config, planNodes(config), { endpoints: [], policy: "round-robin" }), [], config);
};

test("another machine is another run; a tag, a price or who may log in is not", () => {
  assert.notEqual(keyOf({ instanceType: "t3.large" }), keyOf({}));
  assert.notEqual(keyOf({ disk: { iops: 6000 } }), keyOf({}));
  assert.equal(keyOf({}, { owner: "ada" }), keyOf({}));
  assert.equal(keyOf({}, { cost: { prices: { "t3.medium": 1 } } }), keyOf({}));
  assert.equal(keyOf({}, { operatorCidr: "198.51.100.0/24" }), keyOf({}));
});
