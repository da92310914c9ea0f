/** Which nodes there are and what they do. */

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { planNodes, withRole } from "../../infra/topology.ts";
import { configOf } from "./config/config.ts";

const site = (name: string, nodes: number): Record<string, unknown> => ({ name, kind: "local", nodes });
const plan = (raw: Record<string, unknown>): string[] =>
  planNodes(configOf(raw)).map((n) => `${n.name} in ${n.site}: ${n.roles.join("+")}`);
const SITES = { sites: [site("east", 2), site("west", 1)] };

test("by default the driver has a node of its own in the first site, and the proxy stands on it", () => {
  assert.deepEqual(plan(SITES), [
    "east-1 in east: database",
    "east-2 in east: database",
    "west-1 in west: database",
    "driver in east: driver+proxy",
  ]);
});

test("each placement of proxy and driver", () => {
  const rest = (raw: Record<string, unknown>): string[] =>
    plan({ ...SITES, ...raw }).filter((line) => !line.endsWith(": database"));
  assert.deepEqual(rest({ proxy: { kind: "none" } }), ["driver in east: driver"]);
  assert.deepEqual(rest({ proxy: { placement: "own" } }), ["proxy in east: proxy", "driver in east: driver"]);
  assert.deepEqual(
    rest({ proxy: { placement: "own", site: "west" } }),
    ["proxy in west: proxy", "driver in west: driver"],
    "the driver goes where the proxy is",
  );
  assert.deepEqual(rest({ proxy: { placement: "own", site: "west" }, driver: { site: "east" } }), [
    "proxy in west: proxy",
    "driver in east: driver",
  ]);
  assert.deepEqual(rest({ proxy: { placement: "own" }, driver: { placement: "proxy" } }), [
    "proxy in east: proxy+driver",
  ]);
  assert.deepEqual(rest({ proxy: { placement: "database" } }), [
    "east-1 in east: database+proxy",
    "driver in east: driver",
  ]);
  assert.deepEqual(rest({ proxy: { placement: "database", site: "west" }, driver: { placement: "proxy" } }), [
    "west-1 in west: database+proxy+driver",
  ]);
});

test("a site without database nodes is no home for the proxy unless it is asked for", () => {
  const sites = [site("office", 0), site("east", 1)];
  assert.deepEqual(plan({ sites }), ["east-1 in east: database", "driver in east: driver+proxy"]);
  assert.deepEqual(plan({ sites, driver: { site: "office" } }), [
    "east-1 in east: database",
    "driver in office: driver+proxy",
  ]);
});

test("several drivers stand in one site, and a further one moves nobody", () => {
  const driversOf = (raw: Record<string, unknown>, count: number): string[] =>
    planNodes(configOf({ ...SITES, ...raw, driver: { ...(raw["driver"] as object), nodes: count } }))
      .filter((n) => !n.roles.includes("database"))
      .map((n) => `${n.name} in ${n.site}: ${n.roles.join("+")} at ${n.meshAddress}`);
  assert.deepEqual(
    driversOf({}, 3).map((line) => line.replace(/ at .*/, "")),
    ["driver in east: driver+proxy", "driver-2 in east: driver", "driver-3 in east: driver"],
  );
  assert.deepEqual(
    driversOf({ proxy: { placement: "own", site: "west" }, driver: { site: "east" } }, 2).map((line) =>
      line.replace(/ at .*/, ""),
    ),
    ["proxy in west: proxy", "driver in east: driver", "driver-2 in east: driver"],
  );
  for (let count = 2; count <= 8; count++) {
    for (const raw of [{}, { proxy: { placement: "own" } }, { proxy: { kind: "none" } }]) {
      const more = driversOf(raw, count),
        fewer = driversOf(raw, count - 1);
      assert.deepEqual(more.slice(0, -1), fewer, "the last one is the new one");
      assert.equal(new Set(more.map((line) => line.split(" at ")[1])).size, more.length);
    }
  }
});

const topologies = fc
  .record({
    counts: fc.uniqueArray(fc.tuple(fc.stringMatching(/^[a-z]{1,8}$/), fc.integer({ min: 0, max: 12 })), {
      minLength: 1,
      maxLength: 6,
      selector: ([name]) => name,
    }),
    proxy: fc.constantFrom("haproxy", "none"),
    placement: fc.constantFrom("own", "driver"),
    drivers: fc.integer({ min: 1, max: 8 }),
  })
  .filter(({ counts }) => counts.some(([, n]) => n > 0));

test("names and mesh addresses differ, as many drivers as asked for, at most one proxy, whatever the topology", () => {
  fc.assert(
    fc.property(topologies, ({ counts, proxy, placement, drivers }) => {
      const home = counts.find(([, n]) => n > 0)!;
      fc.pre(home[1] + drivers <= 13 && (drivers === 1 || !counts.some(([name]) => name === "driver")));
      const nodes = planNodes(
        configOf({
          sites: counts.map(([name, n]) => site(name, n)),
          links: [],
          proxy: { kind: proxy, placement },
          driver: { nodes: drivers },
        }),
      );
      assert.equal(new Set(nodes.map((n) => n.name)).size, nodes.length);
      assert.equal(new Set(nodes.map((n) => n.meshAddress)).size, nodes.length);
      assert.equal(withRole(nodes, "driver").length, drivers);
      assert.equal(withRole(nodes, "proxy").length, proxy === "none" ? 0 : 1);
      assert.equal(
        withRole(nodes, "database").length,
        counts.reduce((sum, [, n]) => sum + n, 0),
      );
    }),
  );
});

test("a node more, or a site more, changes no other node's name or address", () => {
  fc.assert(
    fc.property(topologies, fc.nat(), ({ counts, proxy, placement }, pick) => {
      const of = (list: [string, number][]): Map<string, string> =>
        new Map(
          planNodes(
            configOf({
              sites: list.map(([name, n]) => site(name, n)),
              links: [],
              proxy: { kind: proxy, placement, site: list[0]![0] },
            }),
          ).map((n) => [n.name, n.meshAddress]),
        );
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
    }),
  );
});
