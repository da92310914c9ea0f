/** The spec that goes to the driver, the key that names a run, and the result that comes home. */

import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { plannedKey } from "../../../infra/benchmark/run-key.ts";
import { saveResult } from "../../../infra/benchmark/save.ts";
import { driverSpec, planSpec } from "../../../infra/benchmark/spec.ts";
import { summarize } from "../../../infra/benchmark/summary.ts";
import { parsePoll, RUN_ID_PLACEHOLDER } from "../../../infra/benchmark/unit.ts";
import { endpointsOf } from "../../../infra/databases/engine.ts";
import { engineOf } from "../../../infra/databases/index.ts";
import { betweenSites, parseMeasured } from "../../../infra/mesh/measured.ts";
import { planNodes, withRole } from "../../../infra/topology.ts";
import { type RunResult, type RunSpec, runSpecSchema } from "../../../workloads/contract.ts";
import { configOf, problemsOf } from "../config/config.ts";

const TARGET = {
  endpoints: [{ name: "haproxy-writer", host: "10.99.0.14", port: 4006, role: "primary" as const }],
  policy: "read-write-split" as const,
};
const BUNDLE = { sha256: "a".repeat(64) };
function keyOf(raw: Record<string, unknown>, shipped = [BUNDLE], target = TARGET): string {
  const config = configOf(raw);
  return plannedKey(planSpec(config, planNodes(config), target), shipped, config);
}
const steps = (durationSeconds: number): Record<string, unknown> => ({
  steps: [{ workload: "oltp_read_only", threads: [1, 4], durationSeconds }],
});

test("a planned spec is a valid one, and says which nodes are observed", () => {
  const config = configOf({ profile: steps(5), seed: 7 });
  const spec = runSpecSchema.parse({ ...planSpec(config, planNodes(config), TARGET), runId: "r1" });
  assert.deepEqual(
    spec.observe.map((o) => `${o.name} ${o.site} ${o.port}`),
    ["east-1 east 3306", "east-2 east 3306", "west-1 west 3306"],
  );
  assert.deepEqual(
    spec.steps.map((s) => s.threads),
    [1, 4],
    "a list of threads is one step each",
  );
  assert.equal(spec.seed, 7);
  assert.equal(
    spec.target.passwordFile !== undefined && !JSON.stringify(spec).includes('password":'),
    true,
    "the password stands in a file, never in the spec",
  );
  assert.deepEqual(spec.context.topology!.sites, [
    { name: "east", kind: "local", nodes: 2 },
    { name: "west", kind: "local", nodes: 1 },
  ]);
  assert.equal(spec.context.topology!.links[0]!.rttMs, 10);
});

test("a driver that prefers its own site's nodes is told where each endpoint is", () => {
  const config = configOf({
    profile: steps(5),
    proxy: { kind: "none" },
    driver: { site: "west", endpoints: "own-site" },
  });
  const nodes = planNodes(config);
  const endpoints = endpointsOf(engineOf(config.database), withRole(nodes, "database"));
  const { target } = runSpecSchema.parse({
    ...planSpec(config, nodes, { endpoints, policy: "round-robin" }),
    runId: "r1",
  });
  assert.equal(target.preferSite, "west");
  assert.deepEqual(
    target.endpoints.map(({ name, site }) => `${name} ${site}`),
    ["east-1 east", "east-2 east", "west-1 west"],
  );
  assert.deepEqual(problemsOf({ driver: { endpoints: "own-site" } }), [
    'meshbench:driver.endpoints: "own-site" with meshbench:proxy.kind "haproxy"; expected proxy.kind "none", since a proxy chooses the nodes itself',
  ]);
  assert.deepEqual(
    problemsOf({
      sites: [
        { name: "east", kind: "local", nodes: 3 },
        { name: "west", kind: "local", nodes: 0 },
      ],
      proxy: { kind: "none" },
      driver: { site: "west", endpoints: "own-site" },
    }),
    [
      'meshbench:driver.endpoints: "own-site" with the driver at "west", which has no database node; expected meshbench:driver.site to be one that has',
    ],
  );
});

test("of several drivers each has the same spec and its own place; one driver's spec is what it always was", () => {
  const config = configOf({ profile: steps(5), driver: { nodes: 3 }, runId: "r1" });
  const nodes = planNodes(config),
    drivers = nodes.filter((n) => n.roles.includes("driver"));
  const spec = planSpec(config, nodes, TARGET);
  const parts = drivers.map((_, i) => runSpecSchema.parse(driverSpec(spec, "0123456789ab", drivers, i)));
  const meet = { host: drivers[0]!.meshAddress, port: 4010, key: "0123456789ab" };
  assert.deepEqual(
    parts.map((p) => p.drivers),
    [0, 1, 2].map((index) => ({ index, count: 3, meet })),
  );
  assert.deepEqual(
    parts.map((p) => p.observe.length),
    [3, 0, 0],
    "one driver looks at the database nodes",
  );
  assert.deepEqual(
    parts.map((p) => p.heartbeat),
    [{ everyMs: 100 }, undefined, undefined],
    "and one measures their replication lag",
  );
  const shared = (part: RunSpec) => ({ ...part, drivers: 0, observe: 0, heartbeat: 0 });
  for (const part of parts) assert.deepEqual(shared(part), shared(parts[0]!));
  const one = configOf({ profile: steps(5) });
  const alone = planSpec(one, planNodes(one), TARGET);
  assert.deepEqual(driverSpec(alone, "0123456789ab", planNodes(one).slice(-1), 0), alone);
});

test("without a run id the driver names the run when it begins", () => {
  const config = configOf();
  assert.equal(planSpec(config, planNodes(config), TARGET).runId, RUN_ID_PLACEHOLDER);
  assert.equal(planSpec(configOf({ runId: "mine" }), planNodes(config), TARGET).runId, "mine");
});

test("the same work on the same topology has the same key, in 12 hexadecimal digits", () => {
  assert.match(keyOf({ profile: steps(5) }), /^[0-9a-f]{12}$/);
  assert.equal(keyOf({ profile: steps(5) }), keyOf({ profile: steps(5) }));
});

test("what only labels a stack changes no key", () => {
  const key = keyOf({ profile: steps(5) });
  assert.equal(keyOf({ profile: steps(5), owner: "somebody" }), key);
  assert.equal(keyOf({ profile: steps(5), expiresHours: 2 }), key);
  assert.equal(keyOf({ profile: steps(5), lab: "other" }), key);
});

test("whatever makes another run changes the key", () => {
  const others: [string, string][] = [
    ["profile", keyOf({ profile: steps(6) })],
    ["run id", keyOf({ profile: steps(5), runId: "again" })],
    ["seed", keyOf({ profile: steps(5), seed: 2 })],
    ["load engine", keyOf({ profile: steps(5) }, [{ sha256: "b".repeat(64) }])],
    [
      "endpoint",
      keyOf({ profile: steps(5) }, [BUNDLE], { ...TARGET, endpoints: [{ ...TARGET.endpoints[0]!, port: 4008 }] }),
    ],
    [
      "a node more",
      keyOf({
        profile: steps(5),
        sites: [
          { name: "east", kind: "local", nodes: 2 },
          { name: "west", kind: "local", nodes: 2 },
        ],
        links: [{ between: ["east", "west"], rttMs: 10 }],
      }),
    ],
    [
      "a longer way",
      keyOf({
        profile: steps(5),
        sites: [
          { name: "east", kind: "local", nodes: 2 },
          { name: "west", kind: "local", nodes: 1 },
        ],
        links: [{ between: ["east", "west"], rttMs: 11 }],
      }),
    ],
    ["a Galera option", keyOf({ profile: steps(5), database: { options: { "gcs.fc_limit": "100" } } })],
    ["a server variable", keyOf({ profile: steps(5), database: { variables: { sync_binlog: 0 } } })],
    ["the state transfer", keyOf({ profile: steps(5), database: { sstMethod: "mariabackup" } })],
    ["the proxy", keyOf({ profile: steps(5), proxy: { routing: "writer" } })],
    ["a driver more", keyOf({ profile: steps(5), driver: { nodes: 2 } })],
    ["the reconnects", keyOf({ profile: steps(5), driver: { reconnect: "random" } })],
  ];
  const all = [["as it was", keyOf({ profile: steps(5) })], ...others];
  assert.equal(new Set(all.map(([, key]) => key)).size, all.length, JSON.stringify(all));
});

const dir = mkdtempSync(join(tmpdir(), "meshbench-save-"));
after(() => rmSync(dir, { recursive: true, force: true }));
const result = (runId: string, more: Partial<RunResult> = {}): RunResult => ({
  schema: 1,
  kind: "meshbench-result",
  runId,
  complete: true,
  startedAt: "2026-01-01T00:00:00Z",
  finishedAt: "2026-01-01T00:01:00Z",
  spec: runSpecSchema.parse({
    runId,
    target: { driver: "mysql", endpoints: TARGET.endpoints, user: "u" },
    steps: [{ workload: "oltp_read_only", threads: 1 }],
  }),
  engine: { name: "test", version: "0", node: "24" },
  host: { hostname: "h", cpus: 1 },
  steps: [],
  summary: [],
  ...more,
});

test("the same result saved twice is one file, another one of its name gets a number, nothing is overwritten", () => {
  const results = join(dir, "results", "stack");
  const first = saveResult(results, result("run-1"));
  assert.equal(first, join(results, "run-1.json"));
  const text = readFileSync(first, "utf8");
  assert.equal(saveResult(results, result("run-1")), first);
  assert.equal(saveResult(results, result("run-1", { complete: false })), join(results, "run-1.2.json"));
  assert.equal(saveResult(results, result("run-1", { complete: false })), join(results, "run-1.2.json"));
  assert.equal(
    saveResult(results, result("run-1", { startedAt: "2026-02-01T00:00:00Z" })),
    join(results, "run-1.3.json"),
  );
  assert.equal(readFileSync(first, "utf8"), text);
  assert.deepEqual(
    readdirSync(results).sort(),
    ["run-1.2.json", "run-1.3.json", "run-1.json"],
    "and no temporary file stays",
  );
});

test("a result too strange to be written leaves nothing behind", () => {
  const results = join(dir, "strange");
  assert.throws(() => saveResult(results, { ...result("run"), runId: "no/such/folder" }), /ENOENT/);
  assert.deepEqual(readdirSync(results), []);
});

test("the summary keeps five digits, and says when the driver was the limit", () => {
  const step = {
    step: 0,
    repeat: 0,
    workload: "oltp_read_only",
    threads: 4,
    startedAt: "",
    windowSeconds: 5,
    complete: true,
    transactions: 1,
    queries: { read: 1, write: 0, other: 0, total: 1 },
    tps: 123.456789,
    qps: 1_975.308642,
    latency: { min: 1, avg: 1.23456789, p50: 1, p90: 1, p95: 2, p99: 3, p999: 4, max: 5.55555555 },
    errors: { total: 2, byCode: { "1213": 2 }, restarts: 2 },
    reconnects: 0,
    intervals: [],
    driver: { cpuSeconds: 1, cpuPercent: 99, eventLoopDelayP99Ms: 1, saturated: true, reasons: ["CPU at 99 %"] },
    server: [],
  };
  const { results } = summarize(
    result("r", {
      steps: [step, { ...step, latency: null, driver: { ...step.driver, saturated: false, startSkewMs: 0.1234567 } }],
    }),
    "results/r.json",
  );
  assert.deepEqual(results[0], {
    workload: "oltp_read_only",
    threads: 4,
    repeat: 0,
    tps: 123.46,
    qps: 1975.3,
    errors: 2,
    latency: { avg: 1.2346, p50: 1, p95: 2, p99: 3, max: 5.5556 },
    saturated: ["CPU at 99 %"],
  });
  assert.equal(results[1]!.latency, null);
  assert.equal("saturated" in results[1]!, false);
  assert.equal(results[1]!.startSkewMs, 0.12346);
});

test("a poll is a line of state and then the log, bytes as they are", () => {
  assert.deepEqual(parsePoll(Buffer.from("active -\nline 1\nline 2")), {
    state: "active",
    exit: null,
    log: Buffer.from("line 1\nline 2"),
  });
  assert.deepEqual(parsePoll(Buffer.from("inactive 0\n")), { state: "inactive", exit: 0, log: Buffer.alloc(0) });
  assert.deepEqual(parsePoll(Buffer.from("failed 1\n")).exit, 1);
  const cut = Buffer.concat([Buffer.from("active -\n"), Buffer.from("zehn µs").subarray(0, 6)]);
  assert.equal(parsePoll(cut).log.length, 6, "a character that is cut in two counts in bytes");
});

test("what the nodes measured becomes a matrix of ordered pairs", () => {
  const matrix = parseMeasured(
    ["a", "b", "c"],
    [
      "rtt b 0.301/0.402/0.503/0.1 0 1420\nrtt c 10.1/10.2/10.3/0.05 10 1412\n",
      "rtt a 0.3/0.4/0.5/0.1 0 1420\nsomething else\nrtt c - 100 -",
      "rtt a 10/10/10/0 0 1420\nrtt b 11/11/11/0 0 1420",
    ],
    ["flow a to 900\nflow a from 850.5\n", "flow a to -\nflow a from 80\nflow b to 90\n"],
  );
  assert.equal(matrix.length, 6);
  const pair = (from: string, to: string) => matrix.find((p) => p.from === from && p.to === to)!;
  assert.deepEqual(pair("a", "b"), {
    from: "a",
    to: "b",
    rttMs: { min: 0.301, avg: 0.402, max: 0.503, mdev: 0.1 },
    lossPercent: 0,
    pathMtu: 1420,
    mbitPerSecond: 850.5,
  });
  assert.equal(pair("b", "a").mbitPerSecond, 900);
  assert.deepEqual(pair("b", "c"), {
    from: "b",
    to: "c",
    rttMs: null,
    lossPercent: 100,
    pathMtu: null,
    mbitPerSecond: null,
  });
  assert.equal(pair("a", "c").mbitPerSecond, 80);
  assert.equal(pair("c", "a").mbitPerSecond, null, "a flow that failed is no number");
  assert.deepEqual(betweenSites(matrix, { a: "east", b: "east", c: "west" }), { min: 10, max: 11 });
  assert.equal(betweenSites(matrix, { a: "east", b: "east", c: "east" }), null);
});
