/**
 * States that a Galera server never leaves by itself: Donor/Desynced after a transfer that ended while the donor was cut
 * off from the primary component, and Disconnected after it gave up its membership.
 */

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { SHORT_TIMEOUTS, TestStack, until } from "../../harness/stack.ts";
import { memberScript } from "../../infra/databases/galera-scripts.ts";

const stack = new TestStack("e2e-donor", {
  sites: [{ name: "east", kind: "local", nodes: 2 }],
  links: [],
  proxy: { kind: "none" },
  database: { options: SHORT_TIMEOUTS },
  profile: {
    data: { tables: 1, tableSize: 1000 },
    steps: [{ workload: "oltp_read_write", threads: 1, warmupSeconds: 0, durationSeconds: 1 }],
  },
});
after(() => stack.remove());

const shell = (node: string, script: string): string => stack.onNode(node, "bash", "-c", script).trim();
const status = (node: string, variable: string): string =>
  shell(node, `mariadb --connect-timeout=2 -NBe "SHOW GLOBAL STATUS LIKE '${variable}'" 2>/dev/null | cut -f2 || true`);
/** The bracket keeps the pattern from finding the shell that looks for it. */
const transfers = (node: string): boolean =>
  shell(node, "pgrep -f '[w]srep_sst_rsync' >/dev/null && echo yes || true") === "yes";

const bothServe = (): boolean =>
  ["east-1", "east-2"].every((n) => status(n, "wsrep_ready") === "ON" && status(n, "wsrep_cluster_size") === "2");

test("a donor left behind by its transfer is brought back into service", async () => {
  const { code, output } = await stack.up();
  assert.equal(code, 0, output.slice(-3000));
  const [donor, joiner] = ["east-1", "east-2"];

  shell(joiner, "systemctl stop mariadb && rm -f /var/lib/mysql/grastate.dat && systemctl start --no-block mariadb");
  await until("the joiner receives its state", 60, () => transfers(joiner) && transfers(donor));
  shell(joiner, "pkill -STOP -x mariadbd; pkill -STOP -x rsync");
  // Its status variables stand still for the transfer, as its tables do.
  const cutOff = (): number =>
    Number(shell(donor, "journalctl -u mariadb -o cat | grep -c 'Received NON-PRIMARY' || true"));
  const before = cutOff();
  await until("the donor is cut off", 60, () => cutOff() > before);
  shell(joiner, "pkill -CONT -x rsync");
  await until("the transfer has ended", 60, () => !transfers(donor));
  shell(joiner, "pkill -CONT -x mariadbd");
  await until(
    "the two are one component again",
    60,
    () => status(donor, "wsrep_cluster_status") === "Primary" && status(donor, "wsrep_cluster_size") === "2",
  );
  assert.equal(
    status(donor, "wsrep_local_state_comment"),
    "Donor/Desynced",
    "the server does not come out of it by itself",
  );
  assert.equal(status(donor, "wsrep_ready"), "OFF");

  const said = shell(donor, `{ ${memberScript(120)}\n} 2>&1`);
  assert.match(said, /east-1: a state transfer ended while this donor was cut off .* restarting it/);
  assert.equal(status(donor, "wsrep_local_state_comment"), "Synced");
  await until("both serve", 60, bothServe);
});

test("a member that has left the cluster while its server goes on is brought back into service", async () => {
  const [whole, other] = ["east-1", "east-2"];
  shell(whole, `mariadb -e "CREATE DATABASE test_left; CREATE TABLE test_left.t (id INT PRIMARY KEY)"`);
  await until(
    "the table is there",
    10,
    () => shell(other, "mariadb -NBe 'SELECT COUNT(*) FROM test_left.t' 2>/dev/null || true") === "0",
  );
  // It cannot apply what the other has written to a table that it does not have, and leaves.
  shell(other, `mariadb -e "SET SESSION wsrep_on = OFF; DROP TABLE test_left.t"`);
  shell(whole, `mariadb -e "INSERT INTO test_left.t VALUES (1)"`);
  await until("it has left", 30, () => status(other, "wsrep_cluster_status") === "Disconnected");
  assert.equal(shell(other, "systemctl is-active mariadb"), "active");

  const said = shell(other, `{ ${memberScript(120)}\n} 2>&1`);
  assert.match(said, /east-2: the server left the cluster and goes on alone; restarting it/);
  await until("both serve", 60, bothServe);
  assert.equal(shell(other, "mariadb -NBe 'SELECT COUNT(*) FROM test_left.t'"), "1", "the state is the cluster's");

  assert.equal((await stack.run("destroy", "--yes")).code, 0);
  assert.deepEqual(Object.values(stack.leftovers()).flat(), []);
});
