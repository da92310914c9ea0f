/** Replication lag on real servers: one replica that follows at once, and one that is told to wait. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { only, runEngine, specFor } from "../../harness/servers/engine.ts";
import { type Mariadb, mariadbPackages } from "../../harness/servers/mariadb.ts";
import { MariadbGroup, PLAIN } from "../../harness/servers/mariadb-group.ts";
import { observerFor } from "../../workloads/command/observe.ts";
import type { Endpoint, RunSpec, RunSpecInput, StepResult } from "../../workloads/contract.ts";
import { HEARTBEAT_TABLE } from "../../workloads/engine/lag/heartbeat.ts";
import { prepare } from "../../workloads/prepare/index.ts";

const packages = await mariadbPackages();
const DELAY_SECONDS = 2;

describe("replication lag", { skip: packages.ok ? false : `SKIPPED, no MariaDB: ${packages.reason}` }, () => {
  let group: MariadbGroup;
  before(async () => {
    group = await MariadbGroup.start(3);
    process.env["MESHBENCH_DB_PASSWORD"] = "bench-test";
    await prepare(spec(1), { onProgress() {}, signal: new AbortController().signal });
    await group.allCaughtUp(group.servers[0]!);
  });
  after(() => group?.stop());

  function spec(seconds: number, more: Partial<RunSpecInput> = {}): RunSpec {
    const nodes = group.servers.map(
      ({ port }, i): Endpoint => ({
        name: `n${i + 1}`,
        host: "127.0.0.1",
        port,
        role: i === 0 ? "primary" : "replica",
      }),
    );
    return specFor(
      [],
      [{ workload: "oltp_write_only", threads: 1, warmupSeconds: 0.2, durationSeconds: seconds, intervalSeconds: 1 }],
      {
        data: { tables: 1, tableSize: 500, threads: 2 },
        target: { user: PLAIN, policy: "read-write-split", endpoints: nodes, roles: { rule: "read-only", nodes } },
        spec: { observe: nodes.map(({ name, host, port }) => ({ name, host, port })), heartbeat: {}, ...more },
      },
    );
  }
  const tables = async (): Promise<string[]> =>
    Promise.all(group.servers.map((s) => group.sql(s, `SHOW TABLES FROM sbtest LIKE '${HEARTBEAT_TABLE}'`)));

  test("a replica that waits shows its delay, one that does not a small part of it", async () => {
    await group.sql(group.servers[2]!, `STOP SLAVE; CHANGE MASTER TO MASTER_DELAY=${DELAY_SECONDS}; START SLAVE`);
    const window = only(await runEngine(spec(6)));
    assert.ok(window.complete && window.transactions > 0, window.incompleteReason);
    const lag = Object.fromEntries((window.lag ?? []).map((l) => [l.node, l]));
    assert.deepEqual(Object.keys(lag), ["n2", "n3"], "the primary has none");
    const { heartbeat } = window;
    assert.deepEqual(heartbeat?.writers, ["n1"]);
    assert.deepEqual(heartbeat?.errors, {});
    assert.ok(heartbeat!.committed > 10, `${heartbeat!.committed} of 60 beats`);
    for (const { beats, intervals, errors } of Object.values(lag)) {
      assert.equal(beats, heartbeat!.committed);
      assert.deepEqual(errors, {});
      assert.ok(intervals.length >= 5 && intervals.length <= 7, `${intervals.length} intervals`);
    }
    // MASTER_DELAY counts whole seconds: up to one less. Beats that were still away at the end lag by less so far.
    assert.ok(lag["n3"]!.p50Ms! > 1000 * (DELAY_SECONDS - 1), JSON.stringify(lag["n3"]));
    assert.ok(lag["n3"]!.unseen > 0, "the last ones could not be seen");
    assert.ok(lag["n2"]!.p50Ms! < lag["n3"]!.p50Ms! / 2, JSON.stringify(lag["n2"]));
    assert.ok(lag["n2"]!.unseen < lag["n3"]!.unseen, JSON.stringify([lag["n2"]!.unseen, lag["n3"]!.unseen]));
    await group.sql(group.servers[2]!, "STOP SLAVE; CHANGE MASTER TO MASTER_DELAY=0; START SLAVE");
  });

  test("the table is gone afterwards, everywhere", async () => {
    await group.allCaughtUp(group.servers[0]!);
    assert.deepEqual(await tables(), ["", "", ""]);
  });

  test("a replica that stops applying lags by as long as it has been away, and the run goes on", async () => {
    await group.sql(group.servers[1]!, "STOP SLAVE SQL_THREAD");
    const result = await runEngine(spec(3));
    const window = only(result);
    assert.ok(window.complete && window.transactions > 0, window.incompleteReason);
    const stopped = window.lag?.find(({ node }) => node === "n2");
    // It does not even have the table.
    assert.equal(stopped?.unseen, stopped?.beats);
    assert.ok(stopped!.maxMs! > 3000 && (stopped!.errors["1146"] ?? 0) > 0, JSON.stringify(stopped));
    await group.sql(group.servers[1]!, "START SLAVE SQL_THREAD");
    await group.allCaughtUp(group.servers[0]!);
  });

  test("a window in which semi-sync fell back to asynchronous says so, one in which it held does not", async () => {
    const [primary, ...replicas] = group.servers as [Mariadb, Mariadb, Mariadb];
    for (const replica of replicas)
      await group.sql(
        replica,
        "SET GLOBAL rpl_semi_sync_slave_enabled = ON; STOP SLAVE IO_THREAD; START SLAVE IO_THREAD",
      );
    await group.sql(primary, "SET GLOBAL rpl_semi_sync_master_timeout = 300, rpl_semi_sync_master_enabled = ON");
    const clients = (): Promise<string> => group.sql(primary, "SHOW STATUS LIKE 'Rpl_semi_sync_master_clients'");
    while (!/\t2$/.test((await clients()).trim())) await sleep(100);
    const observed = async (): Promise<StepResult> => {
      const wanted = spec(2);
      const observer = await observerFor(wanted);
      return only(await runEngine(wanted, { observer }));
    };
    assert.equal((await observed()).degraded, undefined);
    for (const replica of replicas) await group.sql(replica, "STOP SLAVE IO_THREAD");
    const { degraded, transactions } = await observed();
    assert.match(
      degraded!,
      /^semi-synchronous replication fell back: \d+ of \d+ commits on n1 were acknowledged by no/,
    );
    assert.ok(transactions > 0);
    await group.sql(primary, "SET GLOBAL rpl_semi_sync_master_enabled = OFF");
    for (const replica of replicas) await group.sql(replica, "START SLAVE IO_THREAD");
    await group.allCaughtUp(primary);
  });

  test("where it cannot be measured the run goes on and says why", async () => {
    await group.sql(group.servers[0]!, `CREATE VIEW sbtest.${HEARTBEAT_TABLE} AS SELECT 1 AS id, 1 AS seq FROM DUAL`);
    const lines: string[] = [];
    const result = await runEngine(spec(1), { onLine: (line) => lines.push(line) });
    assert.ok(only(result).complete);
    assert.equal(only(result).lag, undefined);
    assert.match(result.result.notes!.join(), /replication lag was not measured: /);
    assert.match(lines.join("\n"), /replication lag was not measured: /);
    await group.sql(group.servers[0]!, `DROP VIEW sbtest.${HEARTBEAT_TABLE}`);
  });
});
