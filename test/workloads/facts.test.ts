// Proves: differences of counters, and that an observer answers in time whatever the nodes do. The last test needs no
// database.
import assert from "node:assert/strict";
import type { Socket } from "node:net";
import { createServer } from "node:net";
import { test } from "node:test";
import { runSpecSchema } from "../../workloads/contract.ts";
import { numberOrText } from "../../workloads/dialects/facts.ts";
import type { NodeSample } from "../../workloads/facts/delta.ts";
import { deltas } from "../../workloads/facts/delta.ts";
import { MYSQL_STATUS, mysqlKind, postgresKind } from "../../workloads/facts/names.ts";
import { openObserver } from "../../workloads/facts/observer.ts";

const sample = (node: string, values: Record<string, string | number>): NodeSample => ({ node, at: 0, values });

test("counters become differences, gauges and texts stay as at the end", () => {
  const start = [
    sample("n1", {
      Com_select: 100,
      Threads_running: 5,
      wsrep_cluster_status: "Primary",
      wsrep_flow_control_paused_ns: 7,
    }),
  ];
  const end = [
    sample("n1", {
      Com_select: 150,
      Threads_running: 3,
      wsrep_cluster_status: "non-Primary",
      wsrep_flow_control_paused_ns: 9,
      Com_insert: 4,
    }),
  ];
  assert.deepEqual(deltas("mysql", start, end), [
    {
      node: "n1",
      delta: { Com_select: 50, wsrep_flow_control_paused_ns: 2 },
      end: { Threads_running: 3, wsrep_cluster_status: "non-Primary" },
    },
  ]);
});

test("a restarted server, a node that was away at either end", () => {
  const away: NodeSample = { node: "n1", at: 0, error: "gone" };
  const there = sample("n1", { Com_select: 1, Threads_running: 2 });
  assert.deepEqual(deltas("mysql", [sample("n1", { Com_select: 9 })], [there]), [
    {
      node: "n1",
      end: { Threads_running: 2 },
      error: "the server was restarted in the window: its counters began anew",
    },
  ]);
  assert.deepEqual(deltas("mysql", [there], [away]), [{ node: "n1", error: "gone" }]);
  assert.deepEqual(deltas("mysql", [away], [there]), [
    { node: "n1", end: { Threads_running: 2 }, error: "no counters at the start of the window: gone" },
  ]);
  assert.deepEqual(deltas("mysql", [], [there]), [
    { node: "n1", end: { Threads_running: 2 }, error: "no counters at the start of the window" },
  ]);
});

test("every name has one kind, and unknown ones are not taken for counters", () => {
  const names = MYSQL_STATUS.flatMap((group) => group.names);
  assert.equal(new Set(names).size, names.length);
  assert.equal(mysqlKind("wsrep_local_bf_aborts"), "counter");
  assert.equal(mysqlKind("wsrep_flow_control_paused"), "gauge");
  assert.equal(mysqlKind("Something_new"), "gauge");
  assert.equal(postgresKind("xact_commit"), "counter");
  assert.equal(postgresKind("numbackends"), "gauge");
});

test("the counters that a study of Galera needs are all read", () => {
  const names = new Set(MYSQL_STATUS.flatMap((group) => group.names));
  for (const name of `flow_control_paused flow_control_paused_ns flow_control_sent flow_control_recv local_bf_aborts local_cert_failures local_recv_queue_avg
    local_send_queue_avg local_state_comment cert_deps_distance cert_interval apply_window apply_oooe apply_waits commit_window evs_repl_latency evs_delayed
    evs_evict_list cluster_size cluster_status cluster_conf_id gmcast_segment provider_version`.split(/\s+/))
    assert.ok(names.has(`wsrep_${name}`), name);
});

test("numbers and texts are told apart; what a double can't hold stays text", () => {
  assert.deepEqual(["12", "-0.5", "1e-3", "", "ON", "0/0/0", "18446744073709551615"].map(numberOrText), [
    12,
    -0.5,
    0.001,
    "",
    "ON",
    "0/0/0",
    "18446744073709551615",
  ]);
});

test("dead and silent nodes give an error in time", async () => {
  const sockets: Socket[] = [];
  const silent = createServer((socket) => void sockets.push(socket));
  await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
  for (const driver of ["mysql", "postgres"] as const) {
    const spec = runSpecSchema.parse({
      runId: "t",
      steps: [{ workload: "oltp_read_only", threads: 1 }],
      target: { driver, endpoints: [{ name: "a", host: "127.0.0.1", port: 1 }], user: "u" },
      observe: [
        { name: "dead", host: "127.0.0.1", port: 1 },
        { name: "silent", host: "127.0.0.1", port: (silent.address() as { port: number }).port },
      ],
    });
    const observer = await openObserver(spec.target, spec.observe, 200);
    for (let i = 0; i < 2; i++) {
      const [dead, mute] = (await observer.sample()) as { node: string; error: string }[];
      assert.match(dead!.error, /nothing listens there/);
      assert.match(mute!.error, /no answer/);
    }
    assert.deepEqual(await observer.variables(), {});
    observer.close();
  }
  for (const socket of sockets) socket.destroy();
  await new Promise((resolve) => silent.close(resolve));
});
