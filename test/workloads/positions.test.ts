/** How far a primary is, and whether another node has got there, on real servers. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { DATABASE, mariadbPackages, PASSWORD, USER } from "../../harness/servers/mariadb.ts";
import { MariadbGroup } from "../../harness/servers/mariadb-group.ts";
import { Mysql, mysqlRoot } from "../../harness/servers/mysql.ts";
import { targetSchema } from "../../workloads/contract.ts";
import { mysql } from "../../workloads/dialects/mysql.ts";
import { openSession, type Session } from "../../workloads/sql-session.ts";

const position = mysql.position!;
process.env["MESHBENCH_DB_PASSWORD"] = PASSWORD;
const open = (port: number): Promise<Session> => {
  const endpoint = { name: "a", host: "127.0.0.1", port };
  const target = targetSchema.parse({ driver: "mysql", user: USER, database: DATABASE, endpoints: [endpoint] });
  return openSession(target, endpoint);
};

const packages = await mariadbPackages();
describe("positions on MariaDB", { skip: packages.ok ? false : `SKIPPED, no MariaDB: ${packages.reason}` }, () => {
  let group: MariadbGroup;
  let sessions: Session[];
  before(async () => {
    group = await MariadbGroup.start(2);
    sessions = await Promise.all(group.servers.map(({ port }) => open(port)));
  });
  after(async () => {
    for (const session of sessions ?? []) session.close();
    await group?.stop();
  });

  test("a replica that does not apply has not got there; one that does has", async () => {
    const [primary, replica] = sessions as [Session, Session];
    await group.sql(group.servers[1]!, "STOP SLAVE SQL_THREAD");
    await primary.query("CREATE TABLE moved (id INT PRIMARY KEY)");
    const where = await position.of(primary);
    assert.match(where!, /^0-1-\d+$/);
    assert.equal(await position.reached(primary, where!, 1), true, "its own transactions");
    assert.equal(await position.reached(replica, where!, 1), false);
    await group.sql(group.servers[1]!, "START SLAVE SQL_THREAD");
    assert.equal(await position.reached(replica, where!, 60), true);
    assert.deepEqual(await replica.query("SELECT COUNT(*) AS n FROM moved"), [{ n: 0 }]);
  });
});

const root = await mysqlRoot();
describe("positions on MySQL", { skip: root.ok ? false : `SKIPPED: no MySQL to test with: ${root.reason}` }, () => {
  const withServer = async (args: string[], work: (session: Session) => Promise<void>): Promise<void> => {
    const server = await Mysql.start(root.ok ? root.root : "", { args });
    const session = await open(server.port);
    try {
      await work(session);
    } finally {
      session.close();
      await server.stop();
    }
  };

  test("what was committed is there, what comes next is not yet", () =>
    withServer(["--gtid-mode=ON", "--enforce-gtid-consistency=ON"], async (session) => {
      await session.query("CREATE TABLE moved (id INT PRIMARY KEY)");
      const where = await position.of(session);
      const [, uuid, last] = /^([0-9a-f-]{36}):1-(\d+)$/.exec(where!) ?? [];
      assert.ok(uuid !== undefined && last !== undefined, where);
      assert.equal(await position.reached(session, where!, 60), true);
      assert.equal(await position.reached(session, `${uuid}:1-${Number(last) + 1}`, 1), false);
    }));

  test("without global transaction ids there is no position", () =>
    withServer(["--gtid-mode=OFF"], async (session) => {
      assert.equal(await position.of(session), undefined);
    }));
});
