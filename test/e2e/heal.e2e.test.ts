/** A standing stack that is hurt by hand: each `up` looks at its nodes first, and brings back what is down. */

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { changes, TestStack, touched } from "../../harness/stack.ts";
import type { ConfigInput } from "../../infra/config/schema.ts";

const LINK = { rttMs: 10 };
const config = (west: string): ConfigInput => ({
  sites: [
    { name: "east", kind: "local", nodes: 2 },
    { name: west, kind: "local", nodes: 1 },
  ],
  links: [{ between: ["east", west], ...LINK }],
  profile: {
    data: { tables: 1, tableSize: 1000 },
    steps: [{ workload: "oltp_read_write", threads: 1, warmupSeconds: 0, durationSeconds: 1 }],
  },
});
const stack = new TestStack("e2e-heal", config("west"));
after(() => stack.remove());
const DATABASES = ["east-1", "east-2", "west-1"];

const shell = (node: string, script: string): string => stack.onNode(node, "bash", "-c", script).trim();
const sql = (node: string, statement: string): string => stack.onNode(node, "mariadb", "-NBe", statement).trim();
/** Nothing of the view it had is left, as when the disk lost what was written last. */
const kill = (node: string): string =>
  shell(node, "systemctl kill --signal=KILL mariadb; systemctl stop mariadb; rm -f /var/lib/mysql/gvwstate.dat");
let cluster = "";

async function up(environment: Record<string, string> = {}): Promise<{ code: number; output: string }> {
  Object.assign(process.env, environment);
  try {
    return await stack.up();
  } finally {
    for (const name of Object.keys(environment)) delete process.env[name];
  }
}

/** Brought back with all that it had, and nothing of the stack was made anew. */
async function heals(...said: RegExp[]): Promise<void> {
  const { code, output } = await up();
  assert.equal(code, 0, output.slice(-4000));
  for (const line of said) assert.match(output, line);
  assert.deepEqual(touched(output), [], "no resource is changed");
  for (const node of DATABASES)
    assert.equal(
      sql(
        node,
        "SELECT CONCAT_WS(' ', (SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME = 'wsrep_cluster_size'), (SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME = 'wsrep_local_state_comment'), (SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME = 'wsrep_cluster_state_uuid'))",
      ),
      `3 Synced ${cluster}`,
      node,
    );
}

test("up with a closed umask and a proxy for the way out in the environment", async () => {
  const mask = process.umask(0o077);
  try {
    const dead = "http://127.0.0.1:9";
    const { code, output } = await up({ http_proxy: dead, https_proxy: dead, HTTP_PROXY: dead, HTTPS_PROXY: dead });
    assert.equal(code, 0, output.slice(-4000));
  } finally {
    process.umask(mask);
  }
  cluster = (await stack.outputs())["database"].facts.clusterUuid;
  sql("east-1", "CREATE TABLE sbtest.kept (id INT PRIMARY KEY)");
});

test("all is well: up and preview show nothing", async () => {
  const { code, output } = await up();
  assert.equal(code, 0, output);
  assert.deepEqual(touched(output), []);
  assert.doesNotMatch(output, /stopped|does not answer|down/);
  const preview = await stack.run("preview");
  assert.equal(preview.code, 0, preview.output);
  assert.equal(changes(preview.output).updated + changes(preview.output).replaced, 0, preview.output);
});

test("a firewall before the database's port, which lets pings pass, is named, whether it drops or refuses", async () => {
  for (const [target, how] of [
    ["DROP", "does not answer"],
    ["REJECT", "refuses it, though a program listens there"],
  ] as const) {
    const rule = (verb: "-I" | "-D"): string =>
      shell("east-2", `iptables ${verb} INPUT -i wg0 -p tcp --dport 3306 -j ${target}`);
    rule("-I");
    const { code, output } = await up();
    rule("-D");
    assert.notEqual(code, 0, output.slice(-3000));
    assert.match(
      output,
      new RegExp(
        `mesh: east-2 answers pings of driver, but its TCP port 3306, the database's port, ${how} .*; expected it open from the driver's node to the database's`,
      ),
    );
    assert.doesNotMatch(output, /\n\s+at .*\.ts:\d+/, "no stack trace");
  }
});

test("a server, a tunnel and the proxy stopped by hand run again", async () => {
  shell("east-2", "systemctl stop mariadb");
  shell("west-1", "systemctl stop wg-quick@wg0");
  shell("driver", "systemctl stop haproxy");
  await heals(
    /east-2: the database server was stopped, starting it/,
    /west-1: the mesh interface was down, bringing it up/,
    /driver: haproxy\.service was stopped, starting it/,
  );
  assert.equal(shell("driver", "systemctl is-active haproxy"), "active");
});

test("a power cut of all database nodes: they boot, and form the component that they were", async () => {
  sql("east-1", "INSERT INTO sbtest.kept VALUES (1)");
  for (const node of DATABASES) stack.labCommand("node", "kill", "--lab", stack.lab, "--name", node);
  await heals(/east-1 does not answer .*: starting it/, /west-1 does not answer .*: starting it/);
  assert.equal(sql("west-1", "SELECT COUNT(*) FROM sbtest.kept"), "1");
});

test("all servers killed at once: started together they find back to their last component", async () => {
  for (const node of DATABASES) shell(node, "systemctl kill --signal=KILL mariadb; systemctl stop mariadb");
  await heals(/the database cluster is down: starting east-1, east-2, west-1, which were its last primary component/);
});

test("stopped in order and started in another: the last one that left begins", async () => {
  for (const [i, node] of DATABASES.entries()) {
    sql(node, `INSERT INTO sbtest.kept VALUES (${i + 2})`);
    shell(node, "systemctl stop mariadb");
  }
  shell("east-1", "systemctl start --no-block mariadb");
  await heals(/the database cluster is down: starting it from west-1, which left it last/);
  assert.equal(sql("east-1", "SELECT GROUP_CONCAT(id ORDER BY id) FROM sbtest.kept"), "1,2,3,4");
});

test("killed one after the other, nobody knows a last component: the node with the newest state is named, and begins only when asked", async () => {
  kill("west-1");
  sql("east-2", "INSERT INTO sbtest.kept VALUES (5)");
  kill("east-1");
  kill("east-2");
  const refused = await up();
  assert.notEqual(refused.code, 0);
  assert.match(
    refused.output,
    /database: the cluster is down and no node may start it by itself \(east-1 stopped at (\d+), east-2 stopped at \1, west-1 stopped at \d+\); `MESHBENCH_BOOTSTRAP_FROM=east-1 npm run pulumi -- up -s e2e-heal` starts the cluster from east-1, which has the newest state/,
  );
  assert.doesNotMatch(refused.output, /\n\s+at .*\.ts:\d+/, "no stack trace");
  for (const node of DATABASES) assert.match(shell(node, "systemctl is-active mariadb || true"), /^(inactive|failed)$/);
  const wrong = await up({ MESHBENCH_BOOTSTRAP_FROM: "west-1" });
  assert.notEqual(wrong.code, 0);
  assert.match(wrong.output, /MESHBENCH_BOOTSTRAP_FROM: west-1; expected east-1 or east-2, which has the newest state/);
  const asked = await up({ MESHBENCH_BOOTSTRAP_FROM: "east-2" });
  assert.equal(asked.code, 0, asked.output.slice(-4000));
  assert.match(asked.output, /starting it from east-2, as MESHBENCH_BOOTSTRAP_FROM says/);
  for (const node of DATABASES) assert.equal(sql(node, "SELECT MAX(id) FROM sbtest.kept"), "5", node);
});
