/** A mistake in the configuration ends in one sentence that names the key, what was given and what is allowed. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { CONNECTION_HEADROOM } from "../../../infra/config/counts.ts";
import { PROFILES } from "../../../infra/config/profiles.ts";
import { configOf, problemsOf, warningsOf } from "./config.ts";

const site = (name: string, nodes: number, more: Record<string, unknown> = {}): Record<string, unknown> => ({
  name,
  kind: "local",
  nodes,
  ...more,
});
const three = [site("east", 2), site("west", 1)];
const profile = (steps: unknown[], more: Record<string, unknown> = {}): Record<string, unknown> => ({ steps, ...more });
const step = { workload: "oltp_read_only", threads: 4 };

test("debian: 12 unless said, for the stack or for a site; hosts that are there have their own", () => {
  const releases = (raw: Record<string, unknown>): unknown =>
    configOf(raw).sites.map((s) => (s as { debian?: number }).debian);
  assert.deepEqual(releases({ sites: three }), [12, 12]);
  assert.deepEqual(releases({ debian: 13, sites: [site("east", 2), site("west", 1, { debian: 12 })] }), [13, 12]);
  assert.deepEqual(problemsOf({ debian: 11, sites: three }).length, 1);
  assert.match(problemsOf({ debian: 11, sites: three })[0]!, /^meshbench:debian\b.*11/);
  const host = { address: "192.0.2.1", hostKey: "ssh-ed25519 AAAA" };
  assert.match(
    problemsOf({ sites: [{ name: "own", kind: "ssh", nodes: 1, hosts: [host, host], debian: 13 }] })[0]!,
    /meshbench:sites\[0\]\.debian/,
  );
});

/** what, configuration, the key that must be named, then what else the sentence must say. */
const MISTAKES: [string, Record<string, unknown>, string, ...RegExp[]][] = [
  ["an unknown key", { databse: {} }, "meshbench:databse", /unknown key/, /expected one of .*database/],
  [
    "an unknown key further down",
    { proxy: { knd: "haproxy" } },
    "meshbench:proxy.knd",
    /unknown key/,
    /expected one of .*kind/,
  ],
  ["an unknown key of a site", { sites: [site("east", 1, { cpu: 2 })] }, "meshbench:sites[0].cpu", /unknown key/],
  ["a number where a list belongs", { sites: 3 }, "meshbench:sites", /\b3\b/, /a list/],
  [
    "a text where a number belongs",
    { sites: [site("east", "two" as never)] },
    "meshbench:sites[0].nodes",
    /"two"/,
    /number/,
  ],
  ["no sites", { sites: [] }, "meshbench:sites", /\[\]/, /at least 1 entry/],
  ["no database node at all", { sites: [site("east", 0)] }, "meshbench:sites", /0/, /at least one node/],
  ["a negative number of nodes", { sites: [site("east", -1)] }, "meshbench:sites[0].nodes", /-1/, /at least 0/],
  [
    "more nodes than a site has addresses",
    { sites: [site("east", 13)] },
    "meshbench:sites[0].nodes",
    /13/,
    /at most 12/,
  ],
  ["half a node", { sites: [site("east", 1.5)] }, "meshbench:sites[0].nodes", /1\.5/, /a whole number/],
  [
    "a kind that there is not",
    { sites: [site("east", 1, { kind: "gcp" })] },
    "meshbench:sites[0].kind",
    /"gcp"/,
    /local/,
  ],
  ["a site without a kind", { sites: [{ name: "east", nodes: 1 }] }, "meshbench:sites[0].kind", /missing/, /local/],
  ["a name that no host can have", { sites: [site("East_1", 1)] }, "meshbench:sites[0].name", /"East_1"/, /lower-case/],
  [
    "two sites of one name",
    { sites: [site("east", 1), site("west", 1), site("east", 1)] },
    "meshbench:sites[2].name",
    /"east"/,
    /sites\[0\]/,
  ],
  [
    "two sites of one mesh slot",
    { sites: [site("east", 1, { meshSlot: 4 }), site("west", 1, { meshSlot: 4 })] },
    "meshSlot",
    /4/,
    /"east" and "west"/,
  ],
  [
    "too many sites",
    { sites: Array.from({ length: 17 }, (_, i) => site(`s${i}`, 1)) },
    "meshbench:sites",
    /17/,
    /at most 16/,
  ],
  [
    "a link to a site that there is not",
    { sites: three, links: [{ between: ["east", "north"], rttMs: 1 }] },
    "meshbench:links[0].between",
    /"north"/,
    /east, west/,
  ],
  [
    "a link from a site to itself",
    { sites: three, links: [{ between: ["east", "east"], rttMs: 1 }] },
    "meshbench:links[0].between",
    /"east" twice/,
  ],
  [
    "one link twice",
    {
      sites: three,
      links: [
        { between: ["east", "west"], rttMs: 1 },
        { between: ["west", "east"], rttMs: 2 },
      ],
    },
    "meshbench:links[1]",
    /east and west/,
  ],
  [
    "a link without an RTT",
    { sites: three, links: [{ between: ["east", "west"] }] },
    "meshbench:links[0].rttMs",
    /missing/,
    /number/,
  ],
  [
    "a loss above everything",
    { sites: three, links: [{ between: ["east", "west"], rttMs: 1, lossPercent: 101 }] },
    "meshbench:links[0].lossPercent",
    /101/,
    /at most 100/,
  ],
  [
    "a mesh network that is no /24",
    { mesh: { network: "10.99.0.0/16" } },
    "meshbench:mesh.network",
    /10\.99\.0\.0\/16/,
    /\/24/,
  ],
  ["a mesh network that is no network", { mesh: { network: "999.1.2.0/24" } }, "meshbench:mesh.network", /999/],
  ["an MTU too small for IPv6", { mesh: { mtu: 576 } }, "meshbench:mesh.mtu", /576/, /at least 1280/],
  [
    "an engine that there is not",
    { database: { engine: "oracle" } },
    "meshbench:database.engine",
    /"oracle"/,
    /mariadb/,
    /postgresql/,
  ],
  [
    "a standalone server on three nodes",
    { sites: three, database: { engine: "mariadb" } },
    "meshbench:database.replication",
    /3 database nodes/,
    /expected 1/,
  ],
  [
    "a provider option for a server without a provider",
    { sites: [site("east", 1)], database: { engine: "mariadb", options: { "gcs.fc_limit": 1 } } },
    "meshbench:database.options",
    /mariadb with replication none/,
    /expected with mariadb with replication galera, mysql with replication group, postgresql with replication async, postgresql with replication sync only/,
  ],
  [
    "a state transfer for PostgreSQL",
    { sites: [site("east", 1)], database: { engine: "postgresql", sstMethod: "rsync" } },
    "meshbench:database.sstMethod",
    /postgresql with replication none/,
    /expected with mariadb with replication galera only/,
  ],
  [
    "a replication that the engine has not",
    { database: { engine: "postgresql", replication: "galera" } },
    "meshbench:database.replication",
    /"galera"/,
    /none/,
  ],
  [
    "MaxScale before PostgreSQL",
    { sites: [site("east", 1)], database: { engine: "postgresql" }, proxy: { kind: "maxscale" } },
    "meshbench:proxy.kind",
    /"maxscale"/,
    /"haproxy" or "none" before PostgreSQL/,
  ],
  [
    "three PostgreSQL servers that do not replicate",
    { sites: three, database: { engine: "postgresql" } },
    "meshbench:database.replication",
    /3 database nodes/,
  ],
  [
    "a Galera option out of its bounds",
    { database: { options: { "gcs.fc_factor": 2 } } },
    'meshbench:database.options["gcs.fc_factor"]',
    /\b2\b/,
    /0\.0 to 1\.0/,
  ],
  [
    "Galera timeouts shorter than the WAN is long",
    { sites: three, links: [{ between: ["east", "west"], rttMs: 1200 }] },
    'meshbench:database.options["evs.keepalive_period"]',
    /1200 ms/,
  ],
  [
    "a variable that the topology writes",
    { database: { variables: { wsrep_on: "OFF" } } },
    "meshbench:database.variables.wsrep_on",
    /the topology sets it/,
  ],
  [
    "a variable that could write another line",
    { database: { variables: { "a\nb": "1" } } },
    "meshbench:database.variables",
    /variable's name/,
  ],
  [
    "a value that could write another line",
    { database: { variables: { sql_mode: "x\nwsrep_on = OFF" } } },
    "meshbench:database.variables.sql_mode",
    /line break/,
  ],
  [
    "more threads than connections",
    { database: { variables: { max_connections: 100 } }, profile: profile([{ ...step, threads: 96 }]) },
    "meshbench:database.variables.max_connections",
    /100/,
    /96 threads/,
    new RegExp(`at least ${96 + CONNECTION_HEADROOM}`),
  ],
  [
    "connections that are no number",
    { database: { variables: { max_connections: "many" } } },
    "meshbench:database.variables.max_connections",
    /many/,
    /at least/,
  ],
  [
    "threads beyond reason",
    { profile: profile([{ ...step, threads: 20_000 }]) },
    "meshbench:profile",
    /20000/,
    /10000/,
  ],
  [
    "a profile that there is not",
    { profile: "fast" },
    "meshbench:profile",
    /"fast"/,
    new RegExp(Object.keys(PROFILES).join(", ")),
  ],
  ["a profile named like a method", { profile: "constructor" }, "meshbench:profile", /"constructor"/],
  ["a profile without steps", { profile: profile([]) }, "meshbench:profile.steps", /\[\]/],
  [
    "a misspelled option of a step",
    { profile: profile([step, { ...step, options: { point_select: 1 } }]) },
    "meshbench:profile.steps[1].options.point_select",
    /did you mean point_selects/,
  ],
  [
    "an option of a step out of its bounds",
    { profile: profile([{ ...step, options: { range_size: 0 } }]) },
    "meshbench:profile.steps[0].options.range_size",
    /\b0\b/,
    /from 1/,
  ],
  [
    "options that leave a step nothing to do",
    { profile: profile([{ ...step, options: { point_selects: 0, range_selects: false } }]) },
    "meshbench:profile.steps[0].options",
    /\{"point_selects":0,"range_selects":false\}; expected options that leave a statement to run/,
  ],
  [
    "the size of the data among the options of a step",
    { profile: profile([{ ...step, options: { table_size: 7 } }]) },
    "meshbench:profile.steps[0].options.table_size",
    /: 7; expected in data\.tableSize/,
  ],
  [
    "a workload that there is not",
    { profile: profile([{ ...step, workload: "oltp_magic" }]) },
    "meshbench:profile.steps[0].workload",
    /"oltp_magic"/,
    /oltp_read_only/,
  ],
  [
    "a step without threads",
    { profile: profile([{ workload: "oltp_read_only" }]) },
    "meshbench:profile.steps[0].threads",
    /missing/,
  ],
  [
    "a step of no duration",
    { profile: profile([{ ...step, durationSeconds: 0 }]) },
    "meshbench:profile.steps[0].durationSeconds",
    /\b0\b/,
    /more than 0/,
  ],
  [
    "an unknown key of a step",
    { profile: profile([{ ...step, thread: 1 }]) },
    "meshbench:profile.steps[0].thread",
    /unknown key/,
  ],
  [
    "a proxy in a site that there is not",
    { proxy: { site: "north" } },
    "meshbench:proxy.site",
    /"north"/,
    /east, west/,
  ],
  [
    "a driver in a site that there is not",
    { driver: { site: "north" } },
    "meshbench:driver.site",
    /"north"/,
    /east, west/,
  ],
  [
    "proxy on the driver and driver on the proxy",
    { driver: { placement: "proxy" } },
    "meshbench:proxy.placement",
    /driver\.placement/,
  ],
  [
    "a driver on a proxy that there is not",
    { proxy: { kind: "none" }, driver: { placement: "proxy" } },
    "meshbench:driver.placement",
    /"none"/,
  ],
  [
    "a proxy on a database node where none is",
    { sites: [site("east", 1), site("west", 0)], proxy: { placement: "database", site: "west" } },
    "meshbench:proxy.placement",
    /"west"/,
  ],
  ["a proxy that there is not", { proxy: { kind: "nginx" } }, "meshbench:proxy.kind", /"nginx"/, /maxscale/],
  [
    "several drivers on the proxy's one node",
    { proxy: { placement: "own" }, driver: { placement: "proxy", nodes: 2 } },
    "meshbench:driver.nodes",
    /: 2;/,
    /expected 1 .*, or placement "own"/,
  ],
  [
    "more drivers than a site has addresses for",
    { sites: [site("east", 11)], driver: { nodes: 3 } },
    "meshbench:driver.nodes",
    /: 3;/,
    /"east" with 11/,
    /at most 2/,
  ],
  ["more drivers than are allowed", { driver: { nodes: 9 } }, "meshbench:driver.nodes", /9/, /8/],
  ["no driver", { driver: { nodes: 0 } }, "meshbench:driver.nodes", /0/, /1/],
  [
    "a site whose nodes would have the drivers' names",
    { sites: [site("driver", 2)], driver: { nodes: 2 } },
    "meshbench:sites[0].name",
    /"driver"/,
    /driver-2/,
  ],
  [
    "a reconnect that there is not",
    { driver: { reconnect: "often" } },
    "meshbench:driver.reconnect",
    /"often"/,
    /never/,
  ],
  [
    "MaxScale's parameters for HAProxy",
    { proxy: { kind: "haproxy", monitor: { monitor_interval: "1s" } } },
    "meshbench:proxy.monitor",
    /"haproxy"/,
  ],
  [
    "MaxScale without Galera",
    { sites: [site("east", 1)], database: { engine: "mariadb" }, proxy: { kind: "maxscale" } },
    "meshbench:proxy.kind",
    /before MariaDB$/,
  ],
  ["a run id that is no file's name", { runId: "../x" }, "meshbench:runId", /"\.\.\/x"/, /letters/],
  ["a lab name that is no name", { lab: "A b" }, "meshbench:lab", /"A b"/, /lower-case/],
  ["a negative seed", { seed: -1 }, "meshbench:seed", /-1/, /at least 0/],
];

for (const [what, raw, key, ...says] of MISTAKES) {
  test(`${what} is named`, () => {
    const problems = problemsOf(raw);
    const named = problems.filter((p) => p.includes(key));
    assert.ok(named.length > 0, `${key} is named in ${JSON.stringify(problems)}`);
    for (const pattern of says)
      assert.ok(
        named.some((p) => pattern.test(p)),
        `${pattern} in ${JSON.stringify(named)}`,
      );
    for (const p of problems) {
      assert.match(p, /^meshbench:\S+: .*; expected /, "key, what was given, what is expected");
      assert.doesNotMatch(p, /\n/, "one sentence, one line");
      assert.doesNotMatch(p, /undefined|\[object|ZodError|\bat .*\.ts:/, p);
    }
  });
}

test("several mistakes are told at once", () => {
  const problems = problemsOf({
    sites: [site("east", 1), site("east", 2)],
    driver: { site: "north" },
    database: { variables: { port: 1 } },
  });
  assert.equal(problems.length, 3, JSON.stringify(problems));
});

test("the defaults are the published shape in a small profile, and say that two sites have no quorum to spare", () => {
  const config = configOf();
  assert.deepEqual(
    config.sites.map((s) => [s.name, s.kind, s.nodes]),
    [
      ["east", "local", 2],
      ["west", "local", 1],
    ],
  );
  assert.equal(config.links[0]!.rttMs, 10);
  assert.equal(config.proxy.kind, "haproxy");
  assert.equal(config.profileName, "quick");
  assert.match(warningsOf({}).join("\n"), /two sites/);
});

test("an even number of nodes is a warning, an odd one is none", () => {
  const even = (nodes: number): boolean =>
    warningsOf({ sites: [site("a", nodes), site("b", 1), site("c", 1)] }).some((w) => w.includes("even number"));
  assert.equal(even(2), true);
  assert.equal(even(1), false);
});

test("several drivers beside a proxy on one of them are a warning, elsewhere they are none", () => {
  const warned = (raw: Record<string, unknown>): boolean =>
    warningsOf(raw).some((w) => w.startsWith("meshbench:proxy.placement") && w.includes("the first of 2 drivers"));
  assert.equal(warned({ driver: { nodes: 2 } }), true);
  assert.equal(warned({ driver: { nodes: 2 }, proxy: { placement: "own" } }), false);
  assert.equal(warned({ driver: { nodes: 2 }, proxy: { kind: "none" } }), false);
});

test("an existing host for each driver is asked for", () => {
  const hosts = (n: number) =>
    Array.from({ length: n }, (_, i) => ({ address: `192.0.2.${i + 1}`, hostKey: "ssh-ed25519 AAAA" }));
  const problems = (n: number) =>
    problemsOf({ sites: [{ name: "rack", kind: "ssh", nodes: 1, hosts: hosts(n) }], driver: { nodes: 3 } }).filter(
      (p) => p.includes(".hosts: "),
    );
  assert.equal(problems(4).length, 0);
  assert.match(problems(3)[0]!, /hosts: 3 hosts; expected 4/);
});

test("every named profile is a valid configuration", () => {
  for (const name of Object.keys(PROFILES)) assert.deepEqual(problemsOf({ profile: name }), [], name);
});

test("values that YAML reads as numbers or booleans come out as the text that a configuration file needs", () => {
  const config = configOf({
    database: {
      options: { "gcs.fc_limit": 100 },
      variables: { innodb_flush_log_at_trx_commit: 0, innodb_doublewrite: true },
    },
  });
  assert.ok(config.database.replication === "galera");
  assert.deepEqual(config.database.options, { "gcs.fc_limit": "100" });
  assert.deepEqual(config.database.variables, { innodb_flush_log_at_trx_commit: "0", innodb_doublewrite: "true" });
});
