/**
 * A donor in the middle of its transfer: under mariabackup it takes reads and writes and stays in service, under rsync
 * its writes wait and it is out of it.
 */

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { TestStack, until } from "../../harness/stack.ts";
import type { ConfigInput } from "../../infra/config/schema.ts";
import { GALERA_CHECK } from "../../infra/databases/galera-check.ts";

const config = (sstMethod: string): ConfigInput => ({
  sites: [{ name: "east", kind: "local", nodes: 2 }],
  links: [],
  proxy: { kind: "none" },
  database: { sstMethod },
  profile: {
    data: { tables: 1, tableSize: 1000 },
    steps: [{ workload: "oltp_read_write", threads: 1, warmupSeconds: 0, durationSeconds: 1 }],
  },
});

for (const { method, sender, answer, writes } of [
  {
    method: "mariabackup",
    sender: "socat",
    answer: /^HTTP\/1\.0 200 OK[\s\S]*Donor\/Desynced ON Primary serves as donor$/,
    writes: true,
  },
  { method: "rsync", sender: "rsync", answer: /^HTTP\/1\.0 503 [\s\S]*Donor\/Desynced/, writes: false },
]) {
  const stack = new TestStack(`e2e-donor-${method}`, config(method));
  after(() => stack.remove());
  const shell = (node: string, script: string): string => stack.onNode(node, "bash", "-c", script).trim();
  /** The bracket keeps the pattern from finding the shell that looks for it. */
  const transfers = (node: string): boolean =>
    shell(node, `pgrep -f '[w]srep_sst_${method}' >/dev/null && pgrep -x ${sender} >/dev/null && echo yes || true`) ===
    "yes";
  const script = Buffer.from(GALERA_CHECK).toString("base64");
  const check = (node: string): string => shell(node, `echo | bash -c "$(echo ${script} | base64 -d)" | tr -d '\\r'`);

  test(`a donor under ${method}`, async () => {
    const { code, output } = await stack.up();
    assert.equal(code, 0, output.slice(-3000));
    const [donor, joiner] = ["east-1", "east-2"];
    shell(donor, "mariadb -e 'CREATE TABLE sbtest.kept (id INT PRIMARY KEY)'");
    assert.match(check(donor), /^HTTP\/1\.0 200 OK/);
    // More than what the connection holds by itself once nobody reads any more.
    shell(
      donor,
      'mariadb sbtest -e "CREATE TABLE ballast (id INT PRIMARY KEY, pad LONGBLOB); INSERT INTO ballast SELECT seq, RANDOM_BYTES(1024) FROM seq_1_to_60000"',
    );

    shell(joiner, "systemctl stop mariadb && rm -f /var/lib/mysql/grastate.dat && systemctl start --no-block mariadb");
    await until("the transfer runs", 60, () => transfers(donor) && transfers(joiner));
    shell(joiner, `pkill -STOP -x ${sender}`);
    try {
      await until("the donor says so", 60, () => /Donor\/Desynced/.test(check(donor)));
      assert.match(check(donor), answer);
      const wrote = shell(
        donor,
        "timeout 5 mariadb -e 'INSERT INTO sbtest.kept VALUES (1)' && echo written || echo waits",
      );
      assert.equal(wrote, writes ? "written" : "waits");
      if (writes) {
        shell(donor, "mariadb -e 'SET GLOBAL wsrep_sst_donor_rejects_queries = ON'");
        assert.match(check(donor), /^HTTP\/1\.0 503 /, "as the operator wants it");
        shell(donor, "mariadb -e 'SET GLOBAL wsrep_sst_donor_rejects_queries = OFF'");
      }
    } finally {
      shell(joiner, `pkill -CONT -x ${sender} || true`);
    }
    await until("both serve", 120, () => [donor, joiner].every((node) => /^HTTP\/1\.0 200 OK/.test(check(node))));
    if (writes) {
      assert.equal(shell(joiner, "mariadb -NBe 'SELECT COUNT(*) FROM sbtest.kept'"), "1");
      shell(donor, "mariadb -e 'SET GLOBAL wsrep_desync = ON'");
      assert.match(check(donor), /^HTTP\/1\.0 503 [\s\S]*Donor\/Desynced/, "desynced by hand");
      shell(donor, "mariadb -e 'SET GLOBAL wsrep_desync = OFF'");
    }
    assert.equal((await stack.run("destroy", "--yes")).code, 0);
    assert.deepEqual(Object.values(stack.leftovers()).flat(), []);
  });
}
