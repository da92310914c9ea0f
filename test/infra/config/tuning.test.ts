import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { checkConfig } from "../../../infra/config/check.ts";
import { checkGaleraOptions } from "../../../infra/config/galera-options.ts";
import { galeraWan } from "../../../infra/config/tuning.ts";

const config = (over: Record<string, unknown>) => {
  const checked = checkConfig({
    sites: [
      { name: "a", kind: "local", nodes: 2 },
      { name: "b", kind: "local", nodes: 1 },
    ],
    links: [{ between: ["a", "b"], rttMs: 400 }],
    ...over,
  });
  assert.ok("config" in checked, JSON.stringify(checked));
  assert.ok(checked.config.database.replication === "galera");
  return { ...checked.config, database: checked.config.database };
};

test("the set keeps every bound of the provider at any round trip", () => {
  fc.assert(
    fc.property(fc.double({ min: 0, max: 20_000, noNaN: true }), (rttMs) => {
      assert.deepEqual(checkGaleraOptions(galeraWan(rttMs), rttMs), []);
    }),
  );
});

test("periods are left alone while the defaults exceed three round trips, and follow them beyond", () => {
  assert.deepEqual(Object.keys(galeraWan(80)), ["evs.send_window", "evs.user_send_window", "gcache.size"]);
  const far = galeraWan(600);
  assert.equal(far["evs.keepalive_period"], "PT1.8S");
  assert.equal(far["evs.join_retrans_period"], "PT1.8S");
  assert.equal(far["evs.suspect_timeout"], "PT9S");
  assert.equal(far["evs.inactive_timeout"], "PT27S");
});

test("galera-wan is spelled out in the configuration: by the highest round trip, a segment per site, given values win", () => {
  const { database, sites } = config({
    database: { replication: "galera", tuning: "galera-wan", options: { "gcache.size": "2G" } },
  });
  assert.equal(database.options["gcache.size"], "2G");
  assert.equal(database.options["evs.user_send_window"], "512");
  assert.equal(database.options["evs.keepalive_period"], "PT1.2S");
  assert.deepEqual(
    sites.map((site) => site.segment),
    [0, 1],
  );
});

test("segments that are given stay, and without the set nothing changes", () => {
  const sites = [
    { name: "a", kind: "local", nodes: 2, segment: 7 },
    { name: "b", kind: "local", nodes: 1 },
  ];
  const given = config({ sites, database: { replication: "galera", tuning: "galera-wan" } });
  assert.deepEqual(
    given.sites.map((site) => site.segment),
    [7, 0],
  );
  const plain = config({ database: { replication: "galera" } });
  assert.deepEqual(plain.database.options, {});
  assert.deepEqual(
    plain.sites.map((site) => site.segment),
    [0, 0],
  );
});

test("an unknown set is refused with those there are; another design has no such key", () => {
  const problems = (database: Record<string, unknown>) => {
    const checked = checkConfig({ sites: [{ name: "a", kind: "local", nodes: 1 }], database });
    return "problems" in checked ? checked.problems : [];
  };
  assert.match(
    problems({ replication: "galera", tuning: "wan" }).join("\n"),
    /meshbench:database\.tuning.*"wan".*galera-wan/,
  );
  assert.match(
    problems({ engine: "postgresql", tuning: "galera-wan" }).join("\n"),
    /meshbench:database\.tuning: given for postgresql/,
  );
});
