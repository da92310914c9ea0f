// Proves on a real MariaDB: a session that was lost between two samples costs none; a server that is gone is a gap.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { ensurePackages } from "../../harness/servers/debian.ts";
import { Mariadb, PASSWORD, USER } from "../../harness/servers/mariadb.ts";
import { runSpecSchema } from "../../workloads/contract.ts";
import { deltas, openObserver } from "../../workloads/facts/observer.ts";

const packages = await ensurePackages(["mariadb-server"]);
process.env["MESHBENCH_DB_PASSWORD"] = PASSWORD;

describe("the observer on MariaDB", { skip: packages.ok ? false : `SKIPPED: ${packages.reason}` }, () => {
  let server: Mariadb;
  before(async () => {
    server = await Mariadb.start();
  });
  after(() => server?.stop());

  test("a lost session is opened again within the same sample; what stays away is a stated gap", async () => {
    const spec = runSpecSchema.parse({
      runId: "t",
      steps: [{ workload: "oltp_read_only", threads: 1 }],
      target: { driver: "mysql", endpoints: [{ name: "a", host: "127.0.0.1", port: server.port }], user: USER },
      observe: [{ name: "n1", host: "127.0.0.1", port: server.port }],
    });
    const observer = await openObserver(spec.target, spec.observe, 1000);
    const start = await observer.sample();
    const [id] = server.sql(`SELECT ID FROM information_schema.PROCESSLIST WHERE USER = '${USER}'`).trim().split("\n");
    server.sql(`KILL ${id}`);
    const lost = await observer.sample();
    assert.ok("values" in lost[0]!, JSON.stringify(lost));
    assert.ok(deltas("mysql", start, lost)[0]!.delta !== undefined);

    server.signal("SIGSTOP");
    const silent = await observer.sample();
    server.signal("SIGCONT");
    assert.deepEqual(deltas("mysql", lost, silent), [
      { node: "n1", error: `127.0.0.1:${server.port}: no answer within 1000 ms` },
    ]);
    // What the silent server owed an answer is given up first.
    await observer.sample();
    assert.ok("values" in (await observer.sample())[0]!);

    await server.stop();
    const [gone] = await observer.sample();
    assert.ok("error" in gone!, JSON.stringify(gone));
    observer.close();
  });
});
