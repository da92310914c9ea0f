/**
 * MaxScale in front of a real cluster on local nodes, by the real engine. Needs an archive: MESHBENCH_MAXSCALE_ARCHIVE.
 */

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { TestStack, TWO_SITES, touched } from "../../harness/stack.ts";
import type { ConfigInput } from "../../infra/config/schema.ts";
import { givenArchive } from "./archive.ts";

const archive = givenArchive();
const suspect = {
  "evs.suspect_timeout": "PT2S",
  "evs.inactive_timeout": "PT4S",
  "evs.install_timeout": "PT4S",
  "evs.keepalive_period": "PT0.5S",
};
const config = (more: Partial<ConfigInput> = {}, monitor: Record<string, string> = {}): ConfigInput => ({
  ...TWO_SITES,
  database: { options: suspect },
  profile: {
    data: { tables: 1, tableSize: 1000 },
    steps: [
      { workload: "oltp_point_select", threads: 2, warmupSeconds: 0.5, durationSeconds: 2 },
      { workload: "oltp_read_write", threads: 2, warmupSeconds: 0.5, durationSeconds: 2 },
    ],
  },
  ...(archive.ok
    ? { proxy: { kind: "maxscale", archive: { path: archive.path, sha256: archive.sha256 }, monitor } }
    : {}),
  ...more,
});
let stack: TestStack | undefined;
after(() => stack?.remove());

const REST = ["curl", "-fsS", "http://127.0.0.1:8989/v1/servers"];
const states = (): Record<string, string> =>
  Object.fromEntries(
    (
      JSON.parse(stack!.onNode("driver", ...REST)) as { data: { id: string; attributes: { state: string } }[] }
    ).data.map((s) => [s.id, s.attributes.state]),
  );

test("up: one Master, the others in sync, and what is in force is known", {
  skip: archive.ok ? false : archive.reason,
}, async () => {
  stack = new TestStack("e2e-maxscale", config());
  const { code, output } = await stack.up();
  assert.equal(code, 0, output.slice(-4000));
  const { proxy, results } = await stack.outputs();
  assert.equal(proxy.kind, "maxscale");
  assert.match(proxy.facts.version, /^24\.02\./);
  const seen = proxy.facts.servers.map((s: { state: string }) => s.state).sort();
  assert.deepEqual(seen, ["Master, Synced, Running", "Slave, Synced, Running", "Slave, Synced, Running"]);
  assert.equal(proxy.facts.inForce.monitor.disable_master_failback, true);
  assert.equal(proxy.facts.inForce.monitor.monitor_interval, "2000ms");
  assert.equal("password" in proxy.facts.inForce.monitor, false);
  for (const r of results) assert.ok(r.tps > 0 && r.errors === 0, JSON.stringify(r));
  assert.equal(stack.onNode("driver", "ps", "-o", "user=", "-C", "maxscale").trim().split("\n")[0], "maxscale");
  assert.equal(
    stack.onNode("driver", "stat", "-c", "%a %U %G", "/etc/meshbench-maxscale.cnf").trim(),
    "640 root maxscale",
  );
});

const counted = ["oltp_point_select", "oltp_read_only", "oltp_write_only", "oltp_read_write"];
const COUNTED: Partial<ConfigInput> = {
  runId: "counted",
  profile: {
    data: { tables: 1, tableSize: 1000 },
    steps: counted.map((workload) => ({ workload, threads: 2, warmupSeconds: 0, durationSeconds: 2 })),
  },
};

/** On tables that are there and without warm-up, so that nothing but the windows sends writes or transactions. */
test("a run's own counters are in its result, and agree with what the engine counted", {
  skip: archive.ok ? false : archive.reason,
}, async () => {
  stack!.configure(config(COUNTED));
  const { code, output } = await stack!.up();
  assert.equal(code, 0, output.slice(-3000));
  const result = stack!.result((await stack!.outputs())["resultFile"]);
  assert.equal(result.prepare!.reused, true, "the tables are there already");
  const routed = result.spec.context.proxy!["routing"] as Record<string, number>;
  const [points, ...transactions] = result.steps;
  // A statement that ended in an error was routed, and is in none of the engine's counts.
  const sent = (steps: typeof result.steps): number =>
    steps.reduce((sum, s) => sum + s.queries.total + s.errors.total, 0);
  console.log(
    `routed ${JSON.stringify(routed)}; sent outside of transactions ${sent([points!])}, in transactions ${sent(transactions)}`,
  );

  assert.equal(
    routed["route_master"],
    sent(transactions),
    "everything in a transaction went to the primary, reads of read-only ones included",
  );
  assert.ok(
    routed["ro_transactions"]! + routed["rw_transactions"]! >= transactions.reduce((sum, s) => sum + s.transactions, 0),
  );
  const looks = routed["route_slave"]! - sent([points!]);
  // What reads the tables' shape and rows before and after the windows, about 16 statements.
  assert.ok(looks >= 0 && looks <= 40, `reads that are not of the windows: ${looks}`);

  const primary = (await stack!.outputs())["proxy"].facts.servers.find((s: { state: string }) =>
    s.state.startsWith("Master"),
  ).name as string;
  const replicas = ["east-1", "east-2", "west-1"].filter((name) => name !== primary);
  const of =
    (what: string) =>
    (name: string): number =>
      routed[`${name}.${what}`]!;
  assert.equal(of("write")(primary), routed["route_master"]);
  assert.deepEqual(replicas.map(of("write")), [0, 0]);
  // A session command goes to each server and counts there as a read.
  assert.equal(of("read")(primary), routed["route_all"]);
  for (const replica of replicas)
    assert.ok(of("read")(replica) > routed["route_all"]!, `${replica} has its share of the reads`);
  assert.equal(replicas.map(of("read")).reduce((a, b) => a + b) - 2 * routed["route_all"]!, routed["route_slave"]);

  // The servers' own count of the same reads.
  const selects = Object.fromEntries(points!.server.map((s) => [s.node, s.delta!["Com_select"]!]));
  for (const replica of replicas) assert.ok(selects[replica]! > 0, JSON.stringify(selects));
  assert.ok(selects[primary]! < 10, `the primary is left alone by reads: ${JSON.stringify(selects)}`);
});

test("a second up changes nothing", { skip: archive.ok ? false : archive.reason }, async () => {
  const { code, output } = await stack!.up();
  assert.equal(code, 0, output.slice(-3000));
  assert.deepEqual(touched(output), []);
});

test("another parameter is taken up, and only the proxy's step and the run it serves are repeated", {
  skip: archive.ok ? false : archive.reason,
}, async () => {
  stack!.configure(config(COUNTED, { monitor_interval: "500ms" }));
  const { code, output } = await stack!.up();
  assert.equal(code, 0, output.slice(-3000));
  assert.deepEqual(
    touched(output).filter((n) => !/-(rtt|throughput)$|^run(-spec)?$/.test(n)),
    ["maxscale"],
  );
  assert.equal((await stack!.outputs())["proxy"].facts.inForce.monitor.monitor_interval, "500ms");
});

test("the primary dies during the load: another takes over, and does not give the role back", {
  skip: archive.ok ? false : archive.reason,
}, async () => {
  const before = states();
  const primary = Object.keys(before).find((name) => before[name]!.startsWith("Master"))!;
  stack!.configure(
    config(
      {
        profile: {
          data: { tables: 1, tableSize: 1000 },
          steps: [{ workload: "oltp_read_write", threads: 4, warmupSeconds: 0, durationSeconds: 25 }],
        },
      },
      { monitor_interval: "500ms" },
    ),
  );
  const running = stack!.start(["up", "--yes", "--skip-preview", "--suppress-outputs"]);
  const deadline = Date.now() + 180_000;
  while (!/\[ *[3-9]s \]/.test(running.output())) {
    assert.ok(Date.now() < deadline, running.output().slice(-2000));
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  stack!.labCommand("node", "kill", "--lab", stack!.lab, "--name", primary);
  const { code, output } = await running.ended;
  assert.equal(code, 0, output.slice(-3000));
  const step = stack!.result((await stack!.outputs())["resultFile"]).steps[0]!;
  console.log(
    `longest gap in successes: ${step.outage?.longestGapSeconds} s; errors ${JSON.stringify(step.errors.byCode)}`,
  );
  assert.ok(step.outage!.firstSuccessAfter !== null, "transactions went on");
  const during = states();
  const successor = Object.keys(during).find((name) => during[name]!.startsWith("Master"))!;
  assert.notEqual(successor, primary);

  stack!.labCommand("node", "start", "--lab", stack!.lab, "--name", primary);
  const back = Date.now() + 120_000;
  while (!states()[primary]!.includes("Synced")) {
    assert.ok(Date.now() < back, JSON.stringify(states()));
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  assert.ok(states()[successor]!.startsWith("Master"), `the role stays where it is: ${JSON.stringify(states())}`);
});

test("neither password stands in the state, on a command line or in the journal in clear", {
  skip: archive.ok ? false : archive.reason,
}, async () => {
  const conf = stack!.onNode("driver", "cat", "/etc/meshbench-maxscale.cnf");
  const passwords = [...conf.matchAll(/^password=(.+)$/gm)].map((m) => m[1]!);
  assert.equal(passwords.length, 2);
  const state = await stack!.run("stack", "export");
  const journal = stack!.onNode("driver", "journalctl", "--no-pager", "-o", "cat");
  const processes = stack!.onNode("driver", "ps", "axwww", "-o", "args");
  for (const password of passwords) {
    assert.equal(password.length, 32);
    for (const [where, text] of [
      ["state", state.output],
      ["journal", journal],
      ["processes", processes],
    ] as const)
      assert.ok(!text.includes(password), where);
  }
});

test("destroy leaves nothing", { skip: archive.ok ? false : archive.reason }, async () => {
  const { code, output } = await stack!.run("destroy", "--yes");
  assert.equal(code, 0, output.slice(-3000));
  assert.deepEqual(Object.values(stack!.leftovers()).flat(), []);
});
