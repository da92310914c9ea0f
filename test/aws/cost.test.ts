import assert from "node:assert/strict";
import { test } from "node:test";
import { costOf } from "../../infra/cost/cost.ts";
import { runCost } from "../../infra/cost/run.ts";
import { planNodes } from "../../infra/topology.ts";
import type { RunResult } from "../../workloads/contract.ts";
import { configOf } from "../infra/config/config.ts";

const AWS = { name: "aws", kind: "aws", nodes: 2, region: "us-east-1" };
const cost = (raw: object) => {
  const config = configOf({ operatorCidr: "203.0.113.7/32", ...raw });
  return costOf(config, planNodes(config));
};

test("compute, volume and address of every node, by list price", () => {
  const found = cost({ sites: [AWS] })!;
  // Two database nodes and the driver: 0.0416 + 32 x 0.08 / 730 + 0.005 each.
  assert.equal(found.items.length, 9);
  assert.ok(Math.abs(found.perHour - 3 * (0.0416 + (32 * 0.08) / 730 + 0.005)) < 1e-5, String(found.perHour));
  assert.equal(found.currency, "USD");
  assert.match(found.date, /^\d{4}-\d\d-\d\d$/);
  assert.match(found.source, /check yours/);
  assert.ok(found.notes.some((n) => n.includes("CPU credits")));
});

test("a private site's nodes have no address to pay for, and the way out is said to be left out", () => {
  const found = cost({
    sites: [
      {
        ...AWS,
        vpcId: "vpc-0123456789abcdef0",
        subnetIds: { a: "subnet-0123456789abcdef0" },
        private: true,
        jump: { host: "gate.example.org", hostKey: "ssh-ed25519 AAAA" },
        operatorCidr: "10.1.0.9/32",
      },
    ],
  })!;
  assert.equal(found.items.length, 6);
  assert.ok(!found.items.some(({ what }) => what.includes("IPv4")));
  assert.ok(found.notes.some((n) => n.includes('the way out of "aws", a NAT gateway')));
});

test("given prices win, and what is not known is said and not invented", () => {
  const found = cost({
    sites: [{ ...AWS, instanceType: "c9i.large", disk: { iops: 4000, throughputMiBs: 225 } }],
    cost: { prices: { "gp3-gb-month": 0.1 }, asOf: "2026-01-31", currency: "EUR" },
  })!;
  assert.equal(found.items[0]!.perHour, null);
  assert.ok(found.notes.some((n) => n.includes('meshbench:cost.prices["c9i.large"]')));
  assert.ok(Math.abs(found.items[1]!.perHour! - (32 * 0.1 + 1000 * 0.005 + 100 * 0.04) / 730) < 1e-6);
  assert.deepEqual([found.currency, found.date], ["EUR", "2026-01-31"]);
  assert.ok(cost({ sites: [{ ...AWS, region: "eu-west-1" }] })!.notes.some((n) => n.includes("prices of us-east-1")));
});

test("a date may stand unquoted in a stack's file", () => {
  assert.equal(cost({ sites: [AWS], cost: { asOf: "2026-01-31 00:00:00 +0000 UTC" } })!.date, "2026-01-31");
  assert.throws(
    () => cost({ sites: [AWS], cost: { asOf: "last week" } }),
    /meshbench:cost.asOf: "last week"; expected a date such as 2026-01-31/,
  );
});

test("a topology without any price has no cost, rather than one of nought", () => {
  const local = { sites: [{ name: "home", kind: "local", nodes: 1 }] };
  assert.equal(cost(local), undefined);
  assert.equal(cost({ ...local, cost: { nodeHour: { home: 0.02 } } })!.perHour, 0.04);
});

const run = (more: object): RunResult =>
  ({
    startedAt: "2026-01-01T00:00:00Z",
    finishedAt: "2026-01-01T00:30:00Z",
    steps: [],
    spec: {
      observe: [
        { name: "aws-1", site: "aws" },
        { name: "aws-2", site: "aws" },
        { name: "home-1", site: "home" },
      ],
      context: {},
    },
    ...more,
  }) as unknown as RunResult;

test("a run costs its time, and the writesets that crossed a priced border", () => {
  const priced = { currency: "USD", perHour: 0.2, perGbTraffic: { "aws home": 0.09 }, notes: [] };
  const spec = { ...run({}).spec, context: { cost: priced } };
  const server = [
    { node: "aws-1", delta: { wsrep_replicated_bytes: 2e9 } },
    { node: "home-1", delta: { wsrep_replicated_bytes: 1e9 } },
  ];
  const found = runCost(run({ spec, steps: [{ server }] }))!;
  // 2 GB from AWS to one node at home; 1 GB from home to two nodes in AWS.
  assert.deepEqual(found.traffic, { gb: 4, cost: 0.36 });
  assert.equal(found.standing, 0.1);
  assert.equal(found.total, 0.46);
  assert.equal(runCost(run({ spec }))!.traffic, null);
  assert.equal(runCost(run({})), undefined, "without prices there is no cost");
});

test("surplus CPU credits: what can be used at most is told beforehand, what was used is in the run's cost", () => {
  const found = cost({ sites: [AWS] })!;
  // Three t3.medium: two vCPUs each, of which a fifth is earned, at 0.05 USD per vCPU-hour.
  assert.ok(Math.abs(found.surplusPerHourAtMost! - 3 * 2 * 0.8 * 0.05) < 1e-9, String(found.surplusPerHourAtMost));
  assert.equal(cost({ sites: [{ ...AWS, credits: "standard" }] })!.surplus, undefined, "standard mode slows down");
  assert.equal(cost({ sites: [{ ...AWS, instanceType: "m6i.large" }] })!.surplus, undefined);
  assert.equal(cost({ sites: [{ ...AWS, instanceType: "t4g.medium" }] })!.surplus![0]!.perVcpuHour, 0.04);

  const spec = { ...run({}).spec, context: { cost: found } };
  const window = (avg: number) => ({
    server: [],
    windowSeconds: 1800,
    hosts: [{ node: "aws-1", cpu: { min: avg, avg, max: avg } }],
  });
  // Half an hour of two vCPUs at 70 %, less the earned 20 %: half a vCPU-hour.
  const busy = runCost(run({ spec, steps: [window(70)] }))!;
  assert.deepEqual(busy.surplus, { vcpuHours: 0.5, cost: 0.025 });
  assert.ok(Math.abs(busy.total - busy.standing - 0.025) < 1e-4);
  assert.deepEqual(runCost(run({ spec, steps: [window(10)] }))!.surplus, { vcpuHours: 0, cost: 0 });
  const blind = runCost(run({ spec }))!;
  assert.equal(blind.surplus, null);
  assert.ok(blind.notes.some((n) => n.includes("not measured")));
});
