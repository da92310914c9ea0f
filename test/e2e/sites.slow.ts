/** What is between the nodes of a standing stack changes: its sites, what its routers let through, how wide its paths are. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { after, test } from "node:test";
import { TestStack, touched, until } from "../../harness/stack.ts";
import type { ConfigInput } from "../../infra/config/schema.ts";
import { names } from "../../lab/network/addresses.ts";

const KEEPALIVE_SECONDS = 5;
const LINK = { rttMs: 10 };
/** The second site's router translates addresses. */
const config = (sites: [string, number][], more: ConfigInput["mesh"] = {}): ConfigInput => ({
  sites: sites.map(([name, nodes], i) => ({ name, kind: "local", nodes, nat: i === 1 })),
  links: sites.slice(1).map(([name]) => ({ between: [sites[0]![0], name], ...LINK })),
  mesh: { keepaliveSeconds: KEEPALIVE_SECONDS, ...more },
  profile: {
    data: { tables: 1, tableSize: 1000 },
    steps: [{ workload: "oltp_read_write", threads: 1, warmupSeconds: 0, durationSeconds: 1 }],
  },
});
const TWO: [string, number][] = [
  ["east", 2],
  ["west", 1],
];
const stack = new TestStack("e2e-sites", config(TWO));
after(() => stack.remove());

const shell = (node: string, script: string): string => stack.onNode(node, "bash", "-c", script).trim();
const sql = (node: string, statement: string): string => stack.onNode(node, "mariadb", "-NBe", statement).trim();
const inNamespace = (namespace: string, ...command: string[]): string =>
  execFileSync("ip", ["netns", "exec", namespace, ...command], { encoding: "utf8" });
const status = (node: string, name: string): string =>
  sql(node, `SHOW GLOBAL STATUS LIKE '${name}'`).split("\t")[1] ?? "";
const members = (...nodes: string[]): void => {
  for (const node of nodes)
    assert.equal(
      `${status(node, "wsrep_cluster_size")} ${status(node, "wsrep_local_state_comment")}`,
      `${nodes.length} Synced`,
      node,
    );
};
/** All of an update's output; a run that fails has to say why in one sentence, without a trace. */
async function fails(): Promise<string> {
  const { code, output } = await stack.up();
  assert.notEqual(code, 0, output.slice(-3000));
  assert.doesNotMatch(output, /\n\s+at .*\.ts:\d+/, "no stack trace");
  return output;
}
async function up(): Promise<string> {
  const { code, output } = await stack.up();
  assert.equal(code, 0, output.slice(-4000));
  return output;
}
const nodeSteps = (output: string): string[] => touched(output).filter((name) => /^local-/.test(name));
const wide = (verb: "-I" | "-D"): string =>
  inNamespace(
    names.core(stack.lab),
    ...["iptables", verb, "FORWARD", "-p", "udp", "-m", "length", "--length", "1429:65535", "-j", "DROP"],
  );

test("a path that drops the mesh's packets ends the first up before any database step, with the value that passes", async () => {
  const running = stack.start(["up", "--yes", "--skip-preview", "--suppress-outputs"]);
  // Its nodes boot meanwhile.
  await until("the network is there", 60, () => /local-network created/.test(running.output()));
  wide("-I");
  const { code, output: said } = await running.ended;
  assert.notEqual(code, 0, said.slice(-3000));
  assert.doesNotMatch(said, /\n\s+at .*\.ts:\d+/, "no stack trace");
  const [, size] = /meshbench:mesh\.mtu: 1420; packets between \S+ and \S+ pass up to (\d+) bytes/.exec(said) ?? [];
  assert.ok(Number(size) >= 1340 && Number(size) <= 1369, `1428 bytes less WireGuard's own 60: ${size}`);
  assert.doesNotMatch(said, /founding the cluster/);
});

test("mesh.mtu auto takes what passes, and a cluster comes up over it", async () => {
  stack.configure(config(TWO, { mtu: "auto" }));
  await up();
  members("east-1", "east-2", "west-1");
  for (const node of ["east-1", "west-1", "driver"]) {
    const mtu = Number(/ mtu (\d+) /.exec(shell(node, "ip -o link show dev wg0"))?.[1]);
    assert.ok(mtu >= 1340 && mtu <= 1369, `${node}: ${mtu}`);
  }
  const { rttMatrix } = await stack.outputs();
  for (const pair of rttMatrix) assert.ok(pair.pathMtu <= 1369, JSON.stringify(pair));
  wide("-D");
});

test("a router that forgets an idle mapping sooner than anybody speaks: the keepalive holds it", async () => {
  const router = names.site(stack.lab, "west");
  for (const which of ["nf_conntrack_udp_timeout", "nf_conntrack_udp_timeout_stream"])
    inNamespace(router, "sysctl", "-qw", `net.netfilter.${which}=${KEEPALIVE_SECONDS + 3}`);
  // Nothing else speaks: the servers' own heartbeats would hold it too.
  for (const node of ["east-1", "east-2", "west-1"]) shell(node, "systemctl stop mariadb");
  await new Promise((resolve) => setTimeout(resolve, (KEEPALIVE_SECONDS + 3) * 3000));
  const west = shell("west-1", "ip -4 -o addr show wg0 | awk '{print $4}' | cut -d/ -f1");
  assert.doesNotThrow(() => shell("east-1", `ping -n -q -c 1 -W 3 ${west}`), "from outside, after a long silence");
  assert.match(shell("west-1", "cat /etc/wireguard/wg0.conf"), /PersistentKeepalive = 5/);
  await up();
  members("east-1", "east-2", "west-1");
});

test("a firewall that lets pings pass and drops the cluster's port is named, and nothing is stopped for it", async () => {
  const rule = (verb: "-I" | "-D"): string =>
    shell("west-1", `iptables ${verb} INPUT -i wg0 -p tcp --dport 4567 -j DROP`);
  rule("-I");
  shell("east-2", "systemctl stop mariadb");
  const said = await fails();
  assert.match(
    said,
    /database: 10\.99\.0\.\d+ answers pings of east-\d, but its TCP port 4567 does not; Galera needs 4567, 4568, 4444 open between all database nodes/,
  );
  assert.equal(shell("east-1", "systemctl is-active mariadb"), "active");
  rule("-D");
  await up();
  members("east-1", "east-2", "west-1");
});

test("a site renamed: its nodes are made at the new one, and the others keep theirs", async () => {
  const before = await stack.outputs();
  sql("east-1", "CREATE TABLE sbtest.kept (id INT PRIMARY KEY); INSERT INTO sbtest.kept VALUES (1)");
  stack.configure(
    config(
      [
        ["east", 2],
        ["north", 1],
      ],
      { mtu: "auto" },
    ),
  );
  const output = await up();
  const steps = nodeSteps(output);
  assert.ok(steps.includes("local-north-1") && steps.includes("local-west-1"), steps.join());
  assert.ok(!steps.includes("local-east-1") && !steps.includes("local-east-2"), steps.join());
  members("east-1", "east-2", "north-1");
  assert.equal(sql("north-1", "SELECT COUNT(*) FROM sbtest.kept"), "1");
  const now = await stack.outputs();
  assert.equal(now["database"].facts.clusterUuid, before["database"].facts.clusterUuid);
  assert.notEqual(now["resultFile"], before["resultFile"], "another topology is another run");
  const { sites } = JSON.parse(stack.labCommand("list", "--json")).find((l: { lab: string }) => l.lab === stack.lab);
  assert.deepEqual(
    sites.map((site: { name?: string } | string) => (typeof site === "string" ? site : site.name)).sort(),
    ["east", "north"],
  );
  assert.deepEqual(touched(await up()), []);
});

test("a site taken out: its nodes go, those that stay keep the quorum", async () => {
  stack.configure(config([["east", 2]], { mtu: "auto" }));
  await up();
  members("east-1", "east-2");
  assert.equal(sql("east-2", "SELECT COUNT(*) FROM sbtest.kept"), "1");
  assert.deepEqual(touched(await up()), []);
  assert.equal((await stack.run("destroy", "--yes")).code, 0);
  assert.deepEqual(Object.values(stack.leftovers()).flat(), []);
});
