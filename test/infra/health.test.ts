/** What the look at a standing stack makes of its nodes' states: which repair, and which sentence where there is none. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { isGathering, type Knowledge, type Member, needsWeight, planCluster } from "../../infra/health/cluster.ts";
import { Look } from "../../infra/health/look.ts";
import { Hurt, type LookedAt, type LookOptions, type Ran } from "../../infra/health/looked-at.ts";
import { parseProbe, type ServerState } from "../../infra/health/probe.ts";

const UUID = "5e8c7f10-1111-11ee-8b3d-000000000001";
const known: Knowledge = { recovered: {}, bootstrapFrom: undefined, up: "npm run pulumi -- up -s dev" };
const stopped: ServerState = {
  unit: "inactive",
  settled: true,
  status: undefined,
  uuid: UUID,
  seqno: -1,
  safeToBootstrap: false,
  view: undefined,
};
const serving: ServerState = {
  ...stopped,
  unit: "active",
  status: { cluster: "Primary", state: "Synced", ready: true, size: 3, uuid: UUID, incoming: [] },
};
const ADDRESSES = ["10.99.0.1", "10.99.0.2", "10.99.0.33"];
const three = (...servers: ServerState[]): Member[] =>
  servers.map((server, i) => ({ name: ["a", "b", "c"][i]!, meshAddress: ADDRESSES[i]!, server }));

test("a component that serves: nothing, or those that are not in it come back", () => {
  assert.deepEqual(planCluster(three(serving, serving, serving), known), { kind: "well" });
  assert.deepEqual(planCluster(three(serving, stopped, serving), known), {
    kind: "join",
    stopped: ["b"],
    apart: [],
    waiting: [],
  });
  const apart = { ...serving, status: { ...serving.status!, cluster: "non-Primary", ready: false } };
  const donor = { ...serving, status: { ...serving.status!, state: "Donor/Desynced", ready: false } };
  assert.deepEqual(planCluster(three(serving, apart, donor), known), {
    kind: "join",
    stopped: [],
    apart: ["b"],
    waiting: ["c"],
  });
  const other = { ...serving, status: { ...serving.status!, uuid: "another" } };
  assert.match((planCluster(three(serving, other, serving), known) as any).message, /stand in 2 clusters/);
});

test("all gone by a power cut: together when everybody of the last view is there, and not otherwise", () => {
  const view = (me: string, ...members: string[]): ServerState => ({ ...stopped, view: { me, members } });
  assert.deepEqual(
    planCluster(three(view("1", "1", "2", "3"), view("2", "1", "2", "3"), view("3", "1", "2", "3")), known),
    { kind: "restart", together: ["a", "b", "c"], after: [] },
  );
  assert.deepEqual(
    planCluster(three(view("1", "1", "2"), view("2", "1", "2"), { ...stopped, seqno: 7 }), known),
    { kind: "restart", together: ["a", "b"], after: ["c"] },
    "who had left in order before is no part of the last view",
  );
  assert.deepEqual(
    planCluster(three(view("1", "1", "2", "3"), view("2", "1", "2", "3"), stopped), known),
    { kind: "recover", ask: ["a", "b", "c"] },
    "a view that names somebody whose own is lost",
  );
});

test("all gone in order: the one that may begin", () => {
  const last = { ...stopped, seqno: 12, safeToBootstrap: true };
  assert.deepEqual(planCluster(three({ ...stopped, seqno: 10, unit: "activating" }, last, stopped), known), {
    kind: "bootstrap",
    from: "b",
    after: ["a", "c"],
    asked: false,
  });
  assert.deepEqual(
    planCluster(three(last, last, stopped), known),
    { kind: "recover", ask: ["c"] },
    "two that may: none",
  );
});

test("nobody may begin: asked for positions, then refused with every node's state, and never begun unasked", () => {
  const members = three(stopped, stopped, stopped);
  assert.deepEqual(planCluster(members, known), { kind: "recover", ask: ["a", "b", "c"] });
  const at = (seqno: number, uuid = UUID): { uuid: string; seqno: number } => ({ uuid, seqno });
  const recovered = { a: at(118), b: at(120), c: at(120) };
  assert.deepEqual(planCluster(members, { ...known, recovered }), {
    kind: "refused",
    message:
      "database: the cluster is down and no node may start it by itself (a stopped at 118, b stopped at 120, c stopped at 120); `MESHBENCH_BOOTSTRAP_FROM=b npm run pulumi -- up -s dev` starts the cluster from b, which has the newest state",
  });
  assert.deepEqual(planCluster(members, { ...known, recovered, bootstrapFrom: "a" }), {
    kind: "refused",
    message:
      "MESHBENCH_BOOTSTRAP_FROM: a; expected b or c, which has the newest state (a stopped at 118, b stopped at 120, c stopped at 120)",
  });
  assert.deepEqual(planCluster(members, { ...known, recovered, bootstrapFrom: "c" }), {
    kind: "bootstrap",
    from: "c",
    after: ["a", "b"],
    asked: true,
  });
  const foreign = { ...recovered, c: at(500, "another") };
  assert.match(
    (planCluster(members, { ...known, recovered: foreign, bootstrapFrom: "c" }) as any).message,
    /hold the data of 2 different clusters/,
    "a higher number of another history is no newer state",
  );
});

test("no data anywhere: a first bring-up goes on, a lost cluster is said", () => {
  const blank = { ...stopped, uuid: "", settled: false };
  assert.deepEqual(planCluster(three(blank, blank, blank), known), { kind: "well" });
  const lost = { ...blank, settled: true };
  assert.match(
    (planCluster(three(lost, lost, lost), known) as any).message,
    /no node has the cluster's data any more \(a stopped without data, .*`destroy` and `up` make a new one/,
  );
});

test("servers that are on their way get their time", () => {
  const waits = { ...stopped, unit: "activating" };
  const starting = { ...waits, view: { me: "1", members: ["1"] } };
  assert.equal(isGathering(three(starting, stopped, stopped)), true);
  assert.equal(isGathering(three({ ...waits, safeToBootstrap: true }, stopped, stopped)), true);
  assert.equal(isGathering(three(waits, stopped, stopped)), false, "with no view of its own it waits for good");
  assert.equal(isGathering(three(serving, starting, starting)), false);
  assert.equal(isGathering(three(stopped, stopped, stopped)), false);
});

test("members that leave with the configuration take the quorum with them unless those that stay weigh more", () => {
  const incoming = (addresses: string[]): ServerState => ({
    ...serving,
    status: { ...serving.status!, incoming: addresses },
  });
  assert.equal(needsWeight(three(incoming(ADDRESSES), incoming(ADDRESSES), incoming(ADDRESSES))), false, "nobody");
  assert.equal(needsWeight(three(incoming(ADDRESSES), incoming(ADDRESSES)).slice(0, 2)), false, "one of three");
  assert.equal(needsWeight(three(incoming(ADDRESSES)).slice(0, 1)), true, "two of three");
  const four = [...ADDRESSES, "10.99.0.34"];
  assert.equal(needsWeight(three(incoming(four), incoming(four))), true, "half is no majority");
});

test("what a node prints is read, whatever is missing", () => {
  const state = parseProbe(
    [
      "mesh up 51820 1420",
      "peer b answers",
      "peer c small",
      "stopped haproxy.service",
      "server active",
      "settled",
      "status wsrep_cluster_status Primary",
      `status wsrep_cluster_state_uuid ${UUID}`,
      "status wsrep_local_state_comment Synced",
      "status wsrep_ready ON",
      "status wsrep_incoming_addresses 10.99.0.1:0,AUTO",
      `grastate uuid ${UUID}`,
      "grastate seqno -1",
      "grastate safe_to_bootstrap 0",
      "gvwstate my_uuid one",
      "gvwstate member one",
      "gvwstate member two",
    ].join("\n"),
  );
  assert.deepEqual(state.mesh, {
    state: "up",
    port: 51820,
    mtu: 1420,
    peers: [
      { name: "b", state: "answers" },
      { name: "c", state: "small" },
    ],
  });
  assert.deepEqual(state.stopped, ["haproxy.service"]);
  assert.equal(state.server?.status?.cluster, "Primary");
  assert.deepEqual(state.server?.view, { me: "one", members: ["one", "two"] });
  assert.deepEqual(parseProbe("mesh absent 0 0").server, undefined);
  const stateless = parseProbe("server inactive\ngrastate uuid 00000000-0000-0000-0000-000000000000").server;
  assert.equal(stateless?.uuid, "", "a uuid of zeros is none");
});

/** Nodes that answer the look with what they are told to. */
function look(
  answers: Record<string, (script: string) => string | Error>,
  more: Partial<LookOptions> = {},
  bringBack: Record<string, () => Promise<void>> = {},
): { done: Promise<void>; said: string[]; ran: [string, string][] } {
  const said: string[] = [],
    ran: [string, string][] = [];
  const nodes = Object.entries(answers).map(
    ([name, answer], i): LookedAt => ({
      name,
      roles: ["driver"],
      meshAddress: `10.99.0.${i + 1}`,
      host: `192.0.2.${i + 1}`,
      advice: "replace it",
      bringBack: bringBack[name],
      run(script): Promise<Ran> {
        ran.push([name, script]);
        const stdout = answer(script);
        return stdout instanceof Error ? Promise.reject(stdout) : Promise.resolve({ code: 0, stdout, stderr: "" });
      },
    }),
  );
  const options: LookOptions = {
    galera: false,
    serverUnits: [],
    mesh: { port: 51820, mtu: 1420 },
    routes: [],
    bootstrapFrom: undefined,
    up: "up",
    say: (line) => said.push(line),
    patience: { mesh: 0, settle: 0, gather: 0, apart: 0 },
    ...more,
  };
  return { done: new Look(nodes, options).all(), said, ran };
}
const meshOf =
  (peer: string, state: string, port = 51820, mtu = 1420) =>
  (): string =>
    `mesh up ${port} ${mtu}\npeer ${peer} ${state}`;
const hurt = (message: RegExp) => (error: Error) => {
  assert.ok(error instanceof Hurt, error.stack);
  assert.match(error.message, message);
  return true;
};

test("nodes that are well are asked once and left alone", async () => {
  const { done, said, ran } = look({ a: meshOf("b", "answers"), b: meshOf("a", "answers") });
  await done;
  assert.deepEqual(said, []);
  assert.deepEqual(
    ran.map(([name]) => name),
    ["a", "b"],
  );
});

test("a node that does not answer is started where that is ours to do, and named where it is not", async () => {
  await assert.rejects(
    look({ a: () => new Error("connect ETIMEDOUT"), b: meshOf("a", "answers") }).done,
    hurt(/^a does not answer at 192\.0\.2\.1 \(connect ETIMEDOUT\); replace it$/),
  );
  let up = false;
  const { done, said } = look(
    { a: () => (up ? meshOf("b", "answers")() : new Error("connect EHOSTUNREACH")), b: meshOf("a", "answers") },
    {},
    {
      a: () => {
        up = true;
        return Promise.resolve();
      },
    },
  );
  await done;
  assert.deepEqual(said, ["a does not answer (connect EHOSTUNREACH): starting it"]);
  const lost = look(
    { a: () => new Error("gone"), b: meshOf("a", "answers") },
    {},
    {
      a: () => Promise.reject(new Error('lab "x" has no node "a"')),
    },
  );
  await assert.rejects(lost.done, hurt(/^a does not come back: lab "x" has no node "a"; replace it$/));
});

test("a pair that does not hear each other is named, with what to look at; too wide an MTU with the key to change", async () => {
  await assert.rejects(
    look({ a: meshOf("b", "silent"), b: meshOf("a", "silent") }).done,
    hurt(/^mesh: no packet passes between a and b; is UDP port 51820 \(meshbench:mesh\.port\) open between them/),
  );
  await assert.rejects(
    look({ a: meshOf("b", "small"), b: meshOf("a", "answers") }).done,
    hurt(/^meshbench:mesh\.mtu: 1420; packets of that size do not pass between a and b any more/),
  );
  await look({ a: meshOf("b", "silent", 51999), b: meshOf("a", "silent", 51999) }).done;
  await look({ a: meshOf("b", "silent"), b: () => "mesh up 51820 1420" }).done;
});

test("mesh.mtu auto: a path that has become narrower is measured, and every node follows", async () => {
  const answer =
    (peer: string) =>
    (script: string): string =>
      script.includes("path() {") ? `path ${peer} 1320\n` : meshOf(peer, "small")();
  const { done, said, ran } = look({ a: answer("b"), b: answer("a") }, { mesh: { port: 51820, mtu: undefined } });
  await done;
  assert.match(said.join(), /its MTU is 1320 from now on/);
  assert.deepEqual(
    ran.filter(([, script]) => script.includes("ip link set wg0 mtu 1320")).map(([name]) => name),
    ["a", "b"],
  );
});
