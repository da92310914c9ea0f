/**
 * What sessions do about errors that last: they leave a node that keeps refusing, do not storm one that nobody can leave,
 * and end on time. On fake servers, which refuse at exact moments.
 */
import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import { only, runEngine, specFor } from "../../harness/servers/engine.ts";
import { FakeMysql } from "../../harness/servers/fake-mysql.ts";
import { Forwarder } from "../../harness/servers/forwarder.ts";
import type { RunSpec } from "../../workloads/contract.ts";
import { serverError } from "../../workloads/drivers/mysql/errors.ts";

let fake: FakeMysql;
let other: FakeMysql;
beforeEach(async () => {
  [fake, other] = await Promise.all([FakeMysql.start(), FakeMysql.start()]);
});
afterEach(async () => {
  await Promise.all([fake.stop(), other.stop()]);
});

const READ_ONLY = { code: 1290, message: "The server is running with the --read-only option" };
const isWrite = (sql: string): boolean => /^(UPDATE|DELETE|INSERT)/.test(sql);
const refusesWrites = (server: FakeMysql): void => {
  server.refuse = ({ sql }) => (isWrite(sql) ? READ_ONLY : null);
};
/** By its own count, not by a clock: every session has long been connected then, however slow the machine is. */
const refusesWritesAfter = (server: FakeMysql, writes: number, turned: () => void = () => {}): void => {
  let seen = 0;
  server.refuse = ({ sql }) => {
    if (!isWrite(sql)) return null;
    if (++seen === writes) turned();
    return seen < writes ? null : READ_ONLY;
  };
};
const writing = (workload: string, seconds = 2, threads = 4) => ({
  workload,
  threads,
  warmupSeconds: 0,
  durationSeconds: seconds,
  intervalSeconds: 0.5,
});

for (const policy of ["first-alive", "round-robin", "random"] satisfies RunSpec["target"]["policy"][]) {
  for (const workload of ["oltp_write_only", "oltp_update_index"]) {
    test(`${policy}, ${workload}: a node that turns read-only is left for the other one, though BEGIN succeeds there`, async () => {
      refusesWritesAfter(fake, 200);
      const window = only(
        await runEngine(specFor([fake.port, other.port], [writing(workload)], { target: { policy } })),
      );
      // Who is back on the refusing node, once it is no longer passed over, leaves it again.
      assert.ok(
        window.errors.byCode["1290"]! >= 4 && window.errors.byCode["1290"]! < 100,
        JSON.stringify(window.errors),
      );
      assert.ok(window.reconnects >= 2, `${window.reconnects} reconnects`);
      assert.ok(other.connections >= 4, `no session stays behind: ${other.connections} went to the other node`);
      assert.ok(window.intervals.at(-1)!.tps > 0);
    });
  }
}

for (const workload of ["oltp_write_only", "oltp_update_index"]) {
  test(`one address that moves new connections, ${workload}: a refusal that persists ends in a new connection`, async () => {
    const forwarder = await Forwarder.start(fake.port);
    refusesWritesAfter(fake, 200, () => {
      forwarder.to = other.port;
    });
    const window = only(await runEngine(specFor([forwarder.port], [writing(workload)])));
    await forwarder.stop();
    assert.equal(forwarder.connections, 8, "each of four sessions made one new connection");
    assert.equal(window.reconnects, 4);
    assert.ok(window.intervals.at(-1)!.tps > 0);
  });
}

test("all nodes refuse: sessions go round them, ever more slowly", async () => {
  refusesWrites(fake);
  refusesWrites(other);
  const window = only(await runEngine(specFor([fake.port, other.port], [writing("oltp_write_only", 3)])));
  assert.equal(window.transactions, 0);
  // Pauses of 10, 20, ... 1000 ms: about ten tries per session in three seconds.
  assert.ok(window.errors.total >= 16 && window.errors.total <= 48, JSON.stringify(window.errors));
  assert.ok(fake.connections + other.connections <= 32, `${fake.connections + other.connections} connections`);
});

test("a server that drops each connection at its first write is not stormed with new ones", async () => {
  fake.delay = ({ sql }) => {
    if (sql.startsWith("UPDATE")) fake.cut();
    return 0;
  };
  await runEngine(specFor([fake.port], [writing("oltp_update_index", 2, 1)]));
  assert.ok(fake.connections >= 5 && fake.connections <= 16, `${fake.connections} connections in two seconds`);
});

test("a storm of deadlocks does not hold the window's end off: the events are given up, not begun again", async () => {
  const timer = setTimeout(() => {
    fake.refuse = ({ sql }) => (sql.startsWith("UPDATE") ? { code: 1213, message: "Deadlock found" } : null);
  }, 300);
  const started = performance.now();
  const window = only(await runEngine(specFor([fake.port], [writing("oltp_write_only", 2, 2)])));
  clearTimeout(timer);
  assert.ok(performance.now() - started < 6000, "not until the statement timeout");
  assert.ok(window.errors.restarts > 100);
  assert.ok(window.reconnects > 0, "a hundred conflicts in a row end in a new connection");
  assert.equal((window["drain"] as { abandoned: number }).abandoned, 2);
});

test("a limited number of events is complete only when the last one has ended, also if that one has to try again", async () => {
  let updates = 0;
  fake.refuse = ({ sql }) =>
    sql.startsWith("UPDATE") && ++updates % 5 < 3 ? { code: 1047, message: "WSREP has not yet prepared node" } : null;
  const step = {
    workload: "oltp_update_index",
    threads: 2,
    warmupSeconds: 0,
    durationSeconds: 60,
    options: { events: 5 },
  };
  assert.equal(only(await runEngine(specFor([fake.port], [step]))).transactions, 5);
});

test("odd answers: an error packet with errno 0, ROLLBACK answered by a deadlock; the load goes on", async () => {
  let updates = 0;
  let rollbacks = 0;
  fake.refuse = ({ sql }) => {
    if (sql === "ROLLBACK") return ++rollbacks === 1 ? { code: 1213, message: "Deadlock found" } : null;
    if (!/^UPDATE.*k=k/.test(sql)) return null;
    updates++;
    return updates === 3
      ? { code: 0, message: "no error" }
      : updates === 6
        ? { code: 1205, message: "Lock wait timeout exceeded" }
        : null;
  };
  const step = {
    workload: "oltp_write_only",
    threads: 1,
    warmupSeconds: 0,
    durationSeconds: 60,
    options: { events: 20 },
  };
  const window = only(await runEngine(specFor([fake.port], [step])));
  assert.equal(window.transactions, 20);
  assert.deepEqual(window.errors.byCode, { 0: 1, 1205: 1, 1213: 1 });
  assert.equal(window.reconnects, 1, "after a ROLLBACK that failed nothing is known about the session");
  assert.equal(rollbacks, 2, "for errno 0 and for 1205");
});

test("conflicts are restarted at once: deadlock, changed record, lock wait, and duplicate key or interruption", () => {
  for (const code of [1213, 1020, 1205, 1062, 1317])
    assert.equal(serverError(code, "").action, "restart", String(code));
  assert.equal(serverError(1062, "").needsRollback, true, "it undoes the statement only");
});
