/** What a comparison says of the nodes' own systems. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { syntheticResult } from "../../harness/synthetic.ts";
import { compare } from "../../report/compare/compare.ts";
import { busyHosts, hostFigures } from "../../report/compare/hosts.ts";
import { renderReport } from "../../report/html/report.ts";
import { subjectOf } from "../../report/model.ts";
import { renderTerminal } from "../../report/render/terminal.ts";
import type { HostLoad, RunResult } from "../../workloads/contract.ts";

const flat = (avg: number): { min: number; avg: number; max: number } => ({ min: avg, avg, max: avg });
const machine = (node: string, cpu: number, steal = 0): HostLoad => ({
  node,
  source: "machine",
  cores: 2,
  cpu: flat(cpu),
  machine: { cpu: flat(cpu), steal: flat(steal), iowait: flat(0), memoryAvailableMinMb: 512 },
  mesh: { receivedBytes: 1e6, sentBytes: 2e6 },
  samples: 10,
});
const container = (node: string, cpu: number, whole: number): HostLoad => ({
  node,
  source: "container",
  cores: 2,
  cpu: flat(cpu),
  machine: { cpu: flat(whole), steal: flat(0), iowait: flat(0) },
  samples: 10,
});

function withHosts(...hosts: HostLoad[]): RunResult {
  const result = syntheticResult({
    stack: "one",
    workloads: ["oltp_read_only"],
    threads: [4],
    repeats: 1,
    seconds: 10,
  });
  for (const step of result.steps) step.hosts = hosts;
  return result;
}
const comparison = (...hosts: HostLoad[]) => compare([subjectOf(withHosts(...hosts), "one", "one.json")]);
const reasons = (...hosts: HostLoad[]): string[] => subjectOf(withHosts(...hosts), "one", "one.json").points[0]!.busy!;

test("a node at its processor's limit is named with its role; one below it is not", () => {
  const nodes = withHosts()
    .spec.context.topology!.nodes.filter((n) => n.role === "database")
    .map((n) => n.name);
  assert.ok(nodes.length >= 2);
  assert.deepEqual(reasons(machine(nodes[0]!, 97.2), machine(nodes[1]!, 89)), [
    `database node ${nodes[0]} was at 97 % CPU: the machine, not the network, was the limit`,
  ]);
  assert.deepEqual(reasons(machine(nodes[0]!, 20, 75)), [
    `database node ${nodes[0]} was at 20 % CPU and 75 % steal: the machine, not the network, was the limit`,
  ]);
  assert.deepEqual(reasons({ node: nodes[0]!, gap: "the node does not answer" }), []);
});

test("containers: their own limit, or the machine that they share, which is named once", () => {
  assert.deepEqual(reasons(container("n1", 95, 96), container("n2", 3, 96)), [
    "node n1 was at 95 % CPU of its 2 cores: they, not the network, were the limit",
    "the machine under n2 was at 96 % CPU: it, not the network, was the limit",
  ]);
  assert.deepEqual(reasons(container("n1", 40, 99), container("n2", 50, 99)), [
    "the machine under n1, n2 was at 99 % CPU: it, not the network, was the limit",
  ]);
  assert.deepEqual(reasons(container("n1", 40, 60)), []);
});

test("figures of several windows: means, the highest peak, the lowest memory, traffic per second", () => {
  const result = withHosts(machine("n1", 50));
  const [window] = result.steps;
  const figures = hostFigures(
    [window!, { ...window!, hosts: [{ ...machine("n1", 70), gap: "samples cover 3.0 of 10.0 s" }] }],
    null,
  );
  assert.deepEqual(figures, [
    {
      node: "n1",
      role: "",
      source: "machine",
      cores: 2,
      cpu: 60,
      cpuMax: 70,
      machineCpu: 60,
      steal: 0,
      iowait: 0,
      memoryAvailableMinMb: 512,
      receivedMbit: 0.8,
      sentMbit: 1.6,
      gap: "samples cover 3.0 of 10.0 s",
    },
  ]);
  assert.deepEqual(
    busyHosts(hostFigures(syntheticResult({ threads: [4] }).steps, null)),
    [],
    "a result without samples says nothing",
  );
});

test("the terminal says why, and the page has a row per node", async () => {
  const [name] = withHosts().spec.context.topology!.nodes.map((n) => n.name);
  const made = comparison(machine(name!, 97), { node: "gone", gap: "the node does not answer" });
  assert.match(
    renderTerminal(made),
    /! one, 4 threads: .*node \S+ was at 97 % CPU: the machine, not the network, was the limit/,
  );
  const page = await renderReport(made);
  assert.match(page, new RegExp(`<tr data-host="${name}">.*?97\\.0`, "s"));
  assert.match(page, /<tr data-host="gone">.*?the node does not answer/s);
  const without = syntheticResult({ stack: "one", workloads: ["oltp_read_only"], threads: [4] });
  assert.doesNotMatch(await renderReport(compare([subjectOf(without, "one", "one.json")])), /data-host/);
});
