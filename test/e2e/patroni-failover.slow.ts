/** Who is the primary of PostgreSQL under Patroni after Patroni, the server or a node's data are hurt. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { TestStack, until } from "../../harness/stack.ts";
import type { ConfigInput } from "../../infra/config/schema.ts";

const NODES = ["east-1", "east-2", "east-3"];
/** Patroni's shortest ttl, so that a role is taken over within half a minute. */
const OPTIONS = { ttl: 20, loop_wait: 3, retry_timeout: 3 };
const TAKEN_OVER_SECONDS = 90;

const config = (durationSeconds: number): ConfigInput => ({
  sites: [{ name: "east", kind: "local", nodes: NODES.length }],
  database: { engine: "postgresql", replication: "async", options: OPTIONS },
  proxy: { kind: "none" },
  profile: {
    data: { tables: 1, tableSize: 500 },
    steps: [{ workload: "oltp_read_write", threads: 1, warmupSeconds: 0.5, durationSeconds }],
  },
});
const stack = new TestStack("e2e-patroni-failover", config(2));
after(() => stack.remove());

const sql = (node: string, text: string): string =>
  stack.onNode(node, "sh", "-c", `cd / && runuser -u postgres -- psql -X -A -t -c "${text}"`).trim();

/** `f` is a primary's answer; a node whose server does not answer has none. */
function recovery(node: string): string {
  try {
    return sql(node, "SELECT pg_is_in_recovery()");
  } catch {
    return "";
  }
}

const primaries = (): string[] => NODES.filter((node) => recovery(node) === "f");
const follows = (node: string, primary: string): boolean =>
  recovery(node) === "t" &&
  sql(
    primary,
    `SELECT COUNT(*) FROM pg_stat_replication WHERE application_name = '${node}' AND state = 'streaming'`,
  ) === "1";

before(async () => {
  const { code, output } = await stack.up();
  assert.equal(code, 0, output.slice(-3000));
  assert.deepEqual(primaries(), ["east-1"]);
  sql("east-1", "CREATE TABLE kept (id INT PRIMARY KEY)");
});

test("SIGKILL of Patroni ends its server too, and one primary serves again with all rows", async () => {
  sql("east-1", "INSERT INTO kept VALUES (1)");
  const server = sql("east-1", "SELECT pg_postmaster_start_time()");
  stack.onNode("east-1", "systemctl", "kill", "--signal=KILL", "--kill-who=main", "patroni");
  await until("the server of the killed Patroni has been started again", TAKEN_OVER_SECONDS, () => {
    const [primary] = primaries();
    return (
      primary !== undefined &&
      recovery("east-1") !== "" &&
      sql("east-1", "SELECT pg_postmaster_start_time()") !== server
    );
  });
  const [primary, ...others] = primaries();
  assert.deepEqual(others, []);
  assert.equal(sql(primary!, "SELECT COUNT(*) FROM kept"), "1");
});

test("a primary that is stopped is succeeded; up brings it back as a standby, and a run writes to its successor", async (t) => {
  const [former] = primaries();
  const begun = Date.now();
  stack.onNode(former!, "systemctl", "stop", "patroni");
  let successor = "";
  await until("another node is the primary", TAKEN_OVER_SECONDS, () => {
    successor = primaries().find((node) => node !== former) ?? "";
    return successor !== "";
  });
  t.diagnostic(`${successor} took over within ${((Date.now() - begun) / 1000).toFixed(1)} s of an orderly stop`);
  sql(successor, "INSERT INTO kept VALUES (2)");
  stack.configure(config(3));
  const { code, output } = await stack.up();
  assert.equal(code, 0, output.slice(-3000));
  assert.deepEqual(primaries(), [successor]);
  await until(`${former} follows ${successor}`, TAKEN_OVER_SECONDS, () => follows(former!, successor));
  assert.equal(sql(former!, "SELECT COUNT(*) FROM kept"), "2");
  const result = stack.result((await stack.outputs())["resultFile"]);
  assert.equal(result.complete, true);
  assert.deepEqual(result.verify?.problems, []);
  assert.deepEqual(result.steps[0]!.primaries, [{ t: 0, nodes: [successor] }]);
});

test("a primary whose last write reached nobody comes back by pg_rewind without it", async () => {
  const [former] = primaries();
  const standbys = NODES.filter((node) => node !== former);
  await until("both standbys follow", TAKEN_OVER_SECONDS, () => standbys.every((node) => follows(node, former!)));
  for (const node of standbys) stack.onNode(node, "systemctl", "stop", "patroni");
  sql(former!, "INSERT INTO kept VALUES (3)");
  stack.onNode(former!, "sh", "-c", "systemctl mask --runtime --quiet patroni; systemctl kill --signal=KILL patroni");
  await until(`${former}'s server is down`, 30, () => recovery(former!) === "");
  for (const node of standbys) stack.onNode(node, "systemctl", "start", "patroni");
  let successor = "";
  await until("a standby is the primary", TAKEN_OVER_SECONDS, () => {
    successor = primaries()[0] ?? "";
    return successor !== "";
  });
  sql(successor, "INSERT INTO kept VALUES (4)");
  stack.onNode(former!, "systemctl", "unmask", "--runtime", "--quiet", "patroni");
  const { code, output } = await stack.up();
  assert.equal(code, 0, output.slice(-3000));
  await until(`${former} follows ${successor}`, TAKEN_OVER_SECONDS, () => follows(former!, successor));
  assert.deepEqual(primaries(), [successor]);
  assert.equal(sql(former!, "SELECT string_agg(id::text, ',' ORDER BY id) FROM kept"), "1,2,4");
  assert.match(stack.onNode(former!, "journalctl", "-u", "patroni", "--no-pager"), /pg_rewind/);
});
