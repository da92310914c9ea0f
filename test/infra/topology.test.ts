/** Which nodes there are and what they do. */
import { test } from "node:test";
import assert from "node:assert/strict";
import fc from "fast-check";
import { planNodes, withRole } from "../../infra/topology.ts";
import { configOf } from "./config.ts";

const site = (name: string, nodes: number): Record<string, unknown> => ({ name, kind: "local", nodes });
const plan = (raw: Record<string, unknown>): string[] => planNodes(configOf(raw)).map((n) => `${n.name} in ${n.site}: ${n.roles.join("+")}`);
const SITES = { sites: [site("east", 2), site("west", 1)] };

test("by default the driver has a node of its own in the first site, and the proxy stands on it", () => {
  assert.deepEqual(plan(SITES), ["east-1 in east: database", "east-2 in east: database", "west-1 in west: database", "driver in east: driver+proxy"]);
});

test("each placement of proxy and driver", () => {
  const rest = (raw: Record<string, unknown>): string[] => plan({ ...SITES, ...raw }).filter((line) => !line.endsWith(": database"));
  assert.deepEqual(rest({ proxy: { kind: "none" } }), ["driver in east: driver"]);
  assert.deepEqual(rest({ proxy: { placement: "own" } }), ["proxy in east: proxy", "driver in east: driver"]);
  assert.deepEqual(rest({ proxy: { placement: "own", site: "west" } }), ["proxy in west: proxy", "driver in west: driver"], "the driver goes where the proxy is");
  assert.deepEqual(rest({ proxy: { placement: "own", site: "west" }, driver: { site: "east" } }), ["proxy in west: proxy", "driver in east: driver"]);
  assert.deepEqual(rest({ proxy: { placement: "own" }, driver: { placement: "proxy" } }), ["proxy in east: proxy+driver"]);
  assert.deepEqual(rest({ proxy: { placement: "database" } }), ["east-1 in east: database+proxy", "driver in east: driver"]);
  assert.deepEqual(rest({ proxy: { placement: "database", site: "west" }, driver: { placement: "proxy" } }), ["west-1 in west: database+proxy+driver"]);
});

test("a site without database nodes is no home for the proxy unless it is asked for", () => {
  const sites = [site("office", 0), site("east", 1)];
  assert.deepEqual(plan({ sites }), ["east-1 in east: database", "driver in east: driver+proxy"]);
  assert.deepEqual(plan({ sites, driver: { site: "office" } }), ["east-1 in east: database", "driver in office: driver+proxy"]);
});

const topologies = fc.record({
  counts: fc.uniqueArray(fc.tuple(fc.stringMatching(/^[a-z]{1,8}$/), fc.integer({ min: 0, max: 12 })), { minLength: 1, maxLength: 6, selector: ([name]) => name }),
  proxy: fc.constantFrom("haproxy", "none"), placement: fc.constantFrom("own", "driver"),
}).filter(({ counts }) => counts.some(([, n]) => n > 0));

test("names and mesh addresses differ, one driver, at most one proxy, whatever the topology", () => {
  fc.assert(fc.property(topologies, ({ counts, proxy, placement }) => {
    const nodes = planNodes(configOf({ sites: counts.map(([name, n]) => site(name, n)), links: [], proxy: { kind: proxy, placement } }));
    assert.equal(new Set(nodes.map((n) => n.name)).size, nodes.length);
    assert.equal(new Set(nodes.map((n) => n.meshAddress)).size, nodes.length);
    assert.equal(withRole(nodes, "driver").length, 1);
    assert.equal(withRole(nodes, "proxy").length, proxy === "none" ? 0 : 1);
    assert.equal(withRole(nodes, "database").length, counts.reduce((sum, [, n]) => sum + n, 0));
  }));
});

test("a node more, or a site more, changes no other node's name or address", () => {
  fc.assert(fc.property(topologies, fc.nat(), ({ counts, proxy, placement }, pick) => {
    const of = (list: [string, number][]): Map<string, string> =>
      new Map(planNodes(configOf({ sites: list.map(([name, n]) => site(name, n)), links: [], proxy: { kind: proxy, placement, site: list[0]![0] } })).map((n) => [n.name, n.meshAddress]));
    const i = pick % counts.length;
    fc.pre(counts[i]![1] < 12 && !counts.some(([name]) => name === "newcomer"));
    const before = of(counts);
    const grown = of(counts.map(([name, n], j): [string, number] => [name, j === i ? n + 1 : n]));
    const wider = of([...counts, ["newcomer", 1]]);
    for (const [name, address] of before) {
      assert.equal(grown.get(name), address);
      assert.equal(wider.get(name), address);
    }
    assert.equal(grown.size, before.size + 1);
  }));
});
