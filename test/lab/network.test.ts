import assert from "node:assert/strict";
import { test } from "node:test";
import { changeLink } from "../../lab/network/links.ts";
import { natRules, planLab } from "../../lab/network/network.ts";
import { parseCounters, renderConfig } from "../../lab/network/wan.ts";
import { type Lab, networkRequest, parse } from "../../lab/schema.ts";

const empty: Lab = { version: 1, lab: "demo", block: "10.64.0.0/20", createdAt: "", sites: [], links: [] };
const request = (sites: unknown[], links: unknown[] = []) =>
  parse(networkRequest, { lab: "demo", sites, links }, "network");
const demo = planLab(
  empty,
  request(
    [{ name: "rome" }, { name: "oslo" }, { name: "home", nat: true }],
    [
      { between: ["rome", "oslo"], rttMs: 11 },
      { between: ["home", "rome"], rttMs: 25.5, jitterMs: 0.25, lossPct: 0.5, rateMbit: 40 },
    ],
  ),
);

test("the relay gets one-way delays in microseconds and a NAT site's public address only", () => {
  assert.equal(
    renderConfig(demo),
    `net 10.64.1.0/24 1
net 10.64.2.0/24 2
net 10.64.0.131/32 3
link 1 2 5500 0 0 0 1
link 3 1 12750 250 5000 40000 1
`,
  );
});

test("sites keep their numbers, hence their addresses, when others come and go", () => {
  const without = planLab(demo, request([{ name: "home", nat: true }, { name: "rome" }]));
  assert.deepEqual(
    without.sites.map(({ name, index }) => [name, index]),
    [
      ["home", 3],
      ["rome", 1],
    ],
  );
  const again = planLab(without, request([{ name: "rome" }, { name: "lima" }, { name: "home" }]));
  assert.deepEqual(
    again.sites.map(({ name, index, nat }) => [name, index, nat]),
    [
      ["rome", 1, false],
      ["lima", 2, false],
      ["home", 3, false],
    ],
  );
});

test("a link that was cut stays cut when the network is applied again", () => {
  const cut = changeLink(demo, "oslo,rome", { cut: true });
  const again = planLab(cut, request([{ name: "rome" }, { name: "oslo" }], [{ between: ["oslo", "rome"], rttMs: 20 }]));
  assert.deepEqual(
    again.links.map(({ rttMs, cut: isCut }) => [rttMs, isCut]),
    [[20, true]],
  );
});

test("link set changes what was asked for and nothing else", () => {
  const changed = changeLink(demo, "rome, home", { rttMs: 30, rateMbit: 0 });
  const link = changed.links.find(({ between }) => between.includes("home"));
  assert.deepEqual(link, { between: ["home", "rome"], rttMs: 30, jitterMs: 0.25, lossPct: 0.5, cut: false });
  assert.deepEqual(
    changed.links.find(({ between }) => between.includes("oslo")),
    demo.links[0],
  );
});

test("link set names the sites there are, and the figure that is out of range", () => {
  assert.throws(
    () => changeLink(demo, "rome,paris", {}),
    /--between: two sites of the lab.*"rome,paris".*rome, oslo, home/,
  );
  assert.throws(() => changeLink(demo, "rome,rome", {}), /--between: two sites/);
  assert.throws(() => changeLink(demo, "rome,oslo", { lossPct: 101 }), /link: lossPct: .*<=100.*given: 101/);
});

test("errors in a network name the key", () => {
  assert.throws(() => request([{ name: "Rome" }]), /network: sites\.0\.name: .*lower-case.*given: "Rome"/);
  assert.throws(() => request([{ name: "rome" }, { name: "rome" }]), /sites\.1\.name: site "rome" is there twice/);
  assert.throws(
    () => request([{ name: "rome" }], [{ between: ["rome", "oslo"], rttMs: 1 }]),
    /links\.0\.between: no site "oslo"; sites are rome/,
  );
  assert.throws(
    () => request([{ name: "rome" }, { name: "oslo" }], [{ between: ["rome", "oslo"], rtt: 1, rttMs: 1 }]),
    /links\.0: .*"rtt"/,
  );
  assert.throws(
    () =>
      request(
        [{ name: "a" }, { name: "b" }],
        [
          { between: ["a", "b"], rttMs: 1 },
          { between: ["b", "a"], rttMs: 2 },
        ],
      ),
    /links\.1\.between: the link between a and b is there twice/,
  );
});

test("a NAT site drops what comes unasked, except from the operator", () => {
  const home = demo.sites[2];
  assert.ok(home);
  const rules = natRules(demo, home);
  assert.match(
    rules,
    /-A POSTROUTING -s 10\.64\.3\.0\/24 -o up0 ! -d 10\.64\.0\.0\/30 -j SNAT --to-source 10\.64\.0\.131/,
  );
  assert.match(rules, /-A FORWARD -i up0 ! -s 10\.64\.0\.0\/30 .*NEW,INVALID -j DROP/);
  assert.doesNotMatch(natRules(demo, { ...home, nat: false }), /-A/);
});

test("counters are read per direction, those of a site that is gone left out", () => {
  const text = "serial 4\nlink 1 2 10 8400 1 2 3 4\nlink 9 1 1 1 1 1 1 1\n";
  assert.deepEqual(parseCounters(text, demo), [
    { from: "rome", to: "oslo", packets: 10, bytes: 8400, lost: 1, overflow: 2, cut: 3, held: 4 },
  ]);
});
