// Proves on two real MariaDB servers, alone and as source and replica: after a load, what waiting can't change is told
// at once, and what is on its way is waited for.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { ensurePackages } from "../../../harness/servers/debian.ts";
import { Mariadb, PASSWORD, USER } from "../../../harness/servers/mariadb.ts";
import { type RunSpec, runSpecSchema } from "../../../workloads/contract.ts";
import { ofReplica } from "../../../workloads/dialects/outstanding.ts";
import { prepare } from "../../../workloads/prepare/index.ts";

const packages = await ensurePackages(["mariadb-server"]);
process.env["MESHBENCH_DB_PASSWORD"] = PASSWORD;
/** Far below the ten minutes for which a node that is behind gets its time. */
const AT_ONCE_MS = 90_000;

describe("settling after a load", { skip: packages.ok ? false : `SKIPPED: ${packages.reason}` }, () => {
  let source: Mariadb, other: Mariadb;
  const at = (server: Mariadb, name: string) => ({ name, host: "127.0.0.1", port: server.port });
  const spec = (target: Mariadb, observe: Mariadb, tableSize: number): RunSpec =>
    runSpecSchema.parse({
      runId: "t",
      data: { tables: 1, tableSize },
      steps: [{ workload: "oltp_read_write", threads: 1 }],
      target: { driver: "mysql", endpoints: [at(target, "a")], user: USER },
      observe: [at(observe, "n1")],
    });
  const load = (target: Mariadb, observe: Mariadb, tableSize: number): Promise<unknown> =>
    prepare(spec(target, observe, tableSize), { onProgress() {}, signal: AbortSignal.timeout(AT_ONCE_MS) });

  before(async () => {
    const args = (id: number): string[] => [`--server-id=${id}`, "--log-bin=binlog", "--binlog-format=ROW"];
    [source, other] = await Promise.all([Mariadb.start({ args: args(1) }), Mariadb.start({ args: args(2) })]);
  });
  after(() => Promise.all([source?.stop(), other?.stop()]));

  test("a table that is too large, on a node to which nothing is on its way", async () => {
    await load(other, other, 2000);
    await assert.rejects(
      load(source, other, 1000),
      /n1 \(127\.0\.0\.1:\d+\): not as loaded, and waiting does not change it: sbtest1 has 2000 of 1000 rows; it has nothing left to apply/,
    );
    other.sql("DROP TABLE sbtest1", "sbtest");
  });

  test("a replica whose replication is stopped, with its own reason; one that is late is waited for", async () => {
    source.sql("DROP TABLE sbtest1; RESET MASTER", "sbtest");
    other.sql(
      `CHANGE MASTER TO MASTER_HOST='127.0.0.1', MASTER_PORT=${source.port}, MASTER_USER='${USER}', MASTER_PASSWORD='${PASSWORD}', MASTER_USE_GTID=no, MASTER_LOG_FILE='binlog.000001', MASTER_LOG_POS=4, MASTER_DELAY=5; START SLAVE`,
    );
    const begun = performance.now();
    await load(source, other, 1000);
    assert.ok(performance.now() - begun > 4000, "the replica's delay was waited for");

    other.sql("STOP SLAVE; CHANGE MASTER TO MASTER_DELAY=0; DROP TABLE sbtest1; START SLAVE", "sbtest");
    source.sql("DELETE FROM sbtest1 WHERE id = 1", "sbtest");
    await assert.rejects(
      load(source, other, 1000),
      /waiting does not change it: sbtest1 is not there; its replication is stopped: .*sbtest1/,
    );
  });
});

test("a replica's own words, of both vocabularies", () => {
  const mysql = {
    Replica_IO_Running: "Yes",
    Replica_SQL_Running: "Yes",
    Replica_IO_State: "Waiting for source to send event",
    Source_Log_File: "binlog.2",
    Relay_Source_Log_File: "binlog.2",
    Read_Source_Log_Pos: 400,
    Exec_Source_Log_Pos: 400,
    Seconds_Behind_Source: 0,
  };
  const mariadb = Object.fromEntries(
    Object.entries(mysql).map(([key, value]) => [
      key.replace("Replica", "Slave").replace("Source", "Master"),
      typeof value === "string" ? value.replace("source", "master") : value,
    ]),
  );
  const asked = (change: object, states: string[]): void => {
    const named = Object.fromEntries(
      Object.entries(change).map(([k, v]) => [k.replace("Replica", "Slave").replace("Source", "Master"), v]),
    );
    assert.deepEqual(
      [ofReplica({ ...mysql, ...change }).state, ofReplica({ ...mariadb, ...named }).state],
      states,
      JSON.stringify(change),
    );
  };
  asked({}, ["none", "none"]);
  asked({ Exec_Source_Log_Pos: 399, Seconds_Behind_Source: 7 }, ["some", "some"]);
  asked({ Relay_Source_Log_File: "binlog.1" }, ["some", "some"]);
  asked({ Replica_IO_Running: "Connecting", Replica_IO_State: "" }, ["some", "some"]);
  asked({ Replica_IO_State: "Queueing source event to the relay log" }, ["some", "some"]);
  asked({ Replica_SQL_Running: "No", Last_SQL_Error: "e" }, ["stopped", "stopped"]);
  asked({ Replica_IO_Running: "No" }, ["stopped", "stopped"]);
  asked({ Replica_IO_Running: "No", Exec_Source_Log_Pos: 1 }, ["some", "some"]);
});
