/** When a restarted database node counts as back: the check, with a server that answers as one does on its way. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { after, test } from "node:test";
import { GALERA_REJOINED } from "../../infra/databases/galera-rejoined.ts";
import { GROUP_REJOINED } from "../../infra/databases/mysql/group-check.ts";
import { REPLICATION_REJOINED } from "../../infra/databases/mysql/replication-standing.ts";
import { rejoinedScript } from "../../infra/sites/rejoined.ts";

const folder = mkdtempSync(join(tmpdir(), "meshbench-rejoined-"));
after(() => rmSync(folder, { recursive: true, force: true }));

interface Node {
  /** Mesh addresses in the server's configuration; absent: there is none. */
  members?: string;
  /** It has been a member before. */
  data?: boolean;
  unit?: string;
  status?: Record<string, string>;
  /** One more program on it: its name and text. */
  program?: [string, string];
}

let count = 0;
/** What the script leaves with on such a node; `started` tells whether it asked systemd to start the server. */
function check(node: Node, script = GALERA_REJOINED): { status: number | null; stderr: string; started: boolean } {
  const root = join(folder, String(count++));
  mkdirSync(join(root, "bin"), { recursive: true });
  mkdirSync(join(root, "mysql"), { recursive: true });
  mkdirSync(join(root, "etc"), { recursive: true });
  if (node.data) writeFileSync(join(root, "mysql", "grastate.dat"), "");
  if (node.members !== undefined)
    writeFileSync(join(root, "etc", "99.cnf"), `wsrep_cluster_address = "gcomm://${node.members}"\n`);
  const program = (name: string, text: string): void => {
    writeFileSync(join(root, "bin", name), `#!/bin/bash\n${text}\n`);
    chmodSync(join(root, "bin", name), 0o755);
  };
  program(
    "systemctl",
    `case "$1" in is-active) echo ${node.unit ?? "inactive"}; [ ${node.unit ?? "inactive"} = active ] ;; start) touch ${root}/started ;; esac`,
  );
  program(
    "mariadb",
    `for name in ${Object.keys(node.status ?? {}).join(" ")}; do case "$*" in *"'$name'"*) grep "^$name" ${root}/status ;; esac; done`,
  );
  if (node.program !== undefined) program(...node.program);
  writeFileSync(
    join(root, "status"),
    Object.entries(node.status ?? {})
      .map(([key, value]) => `${key}\t${value}\n`)
      .join(""),
  );
  const text = script.replaceAll("/var/lib/mysql", join(root, "mysql")).replaceAll("/etc/mysql", join(root, "etc"));
  const { status, stderr } = spawnSync("/bin/bash", ["-euo", "pipefail", "-c", text], {
    encoding: "utf8",
    env: { PATH: `${join(root, "bin")}${delimiter}${process.env["PATH"]}` },
  });
  return { status, stderr, started: existsSync(join(root, "started")) };
}

const MEMBER = { members: "10.99.0.1,10.99.0.2,10.99.0.3", data: true };
const SERVING = { wsrep_ready: "ON", wsrep_cluster_status: "Primary", wsrep_local_state_comment: "Synced" };

test("a member that serves is back, also one that is another's donor", () => {
  assert.equal(check({ ...MEMBER, unit: "active", status: SERVING }).status, 0);
  const donor = { ...SERVING, wsrep_local_state_comment: "Donor/Desynced" };
  assert.equal(check({ ...MEMBER, unit: "active", status: donor }).status, 0);
});

test("systemd's word is not enough: joining, outside of the primary component, no answer yet", () => {
  for (const [status, words] of [
    [{ ...SERVING, wsrep_ready: "OFF", wsrep_local_state_comment: "Joining" }, "wsrep_ready is OFF, state Joining"],
    [{ ...SERVING, wsrep_cluster_status: "non-Primary" }, "wsrep_ready is ON"],
    [{}, "wsrep_ready is unknown"],
  ] as const) {
    const { status: code, stderr, started } = check({ ...MEMBER, unit: "active", status });
    assert.equal(code, 11);
    assert.ok(stderr.includes(words), stderr);
    assert.equal(started, false);
  }
  assert.equal(check({ ...MEMBER, unit: "activating" }).status, 11);
});

test("a member that does not run is started; nothing is asked of a node that never was one, or has no peers", () => {
  const stopped = check({ ...MEMBER, unit: "failed" });
  assert.deepEqual([stopped.status, stopped.started], [11, true]);
  for (const node of [{}, { members: MEMBER.members }, { data: true }, { members: "10.99.0.1", data: true }]) {
    const { status, started } = check(node);
    assert.deepEqual([status, started], [0, false], JSON.stringify(node));
  }
});

test("as a step it waits, and ends with the state it saw and a word on the others", () => {
  assert.equal(check({ ...MEMBER, unit: "active", status: SERVING }, rejoinedScript(GALERA_REJOINED, 1)).status, 0);
  const late = check(
    { ...MEMBER, unit: "active", status: { ...SERVING, wsrep_ready: "OFF" } },
    rejoinedScript(GALERA_REJOINED, 1),
  );
  assert.equal(late.status, 1);
  assert.match(
    late.stderr,
    /booted, but not back in its cluster within 1 s: wsrep_ready is OFF.*the nodes after it were left alone/,
  );
});

/** A member of a MySQL group on its way; `state`: what it would answer. */
function group({ seeds = "a:3306,b:3306", onBoot = "ON", unit = "active", state = "" }): ReturnType<typeof check> {
  const root = join(folder, String(count));
  mkdirSync(join(root, "etc", "mysql.conf.d"), { recursive: true });
  mkdirSync(join(root, "mysql"));
  writeFileSync(join(root, "etc/mysql.conf.d/zz-meshbench.cnf"), `loose_group_replication_group_seeds = ${seeds}\n`);
  // As MySQL 9.7 writes it.
  writeFileSync(
    join(root, "mysql/mysqld-auto.cnf"),
    `{"Version": 2, "mysql_dynamic_variables": {"group_replication_start_on_boot": {"Value": "${onBoot}", "Metadata": {"Host": "localhost", "User": "root", "Timestamp": 1}}}}`,
  );
  return check({ unit, program: ["mysql", `echo "${state}"`] }, GROUP_REJOINED);
}

test("a member of a MySQL group is back when it is ONLINE among the majority", () => {
  assert.equal(group({ state: "ONLINE majority" }).status, 0);
  for (const state of ["RECOVERING majority", "OFFLINE minority", "ONLINE minority", ""]) {
    const { status, stderr } = group({ state });
    assert.deepEqual([status, stderr.trim().split("\n").at(-1)], [11, `its state is ${state || "unknown"}`]);
  }
  assert.equal(group({ unit: "activating" }).status, 11);
  const stopped = group({ unit: "failed" });
  assert.deepEqual([stopped.status, stopped.started], [11, true]);
  for (const alone of [{ seeds: "a:3306" }, { onBoot: "OFF" }]) assert.equal(group(alone).status, 0);
});

/** A MySQL node with a role; `mysql` answers as one that has just been started does, and takes writes when it is told to. */
function replicated({ role = "replica", unit = "active", readOnly = "1", source = "", io = "Yes", applying = "Yes" }) {
  const root = join(folder, String(count));
  mkdirSync(join(root, "mysql"), { recursive: true });
  if (role !== "") writeFileSync(join(root, "mysql/meshbench-role"), `${role}\n`);
  const program = `case "$*" in
  *"read_only = OFF"*) touch ${root}/writable ;;
  *@@global.read_only*) if [ -e ${root}/writable ]; then echo 0; else echo ${readOnly}; fi ;;
  *"SHOW REPLICA STATUS"*) printf '  Source_Host: ${source}\\n  Replica_IO_Running: ${io}\\n  Replica_SQL_Running: ${applying}\\n' ;;
esac`;
  const checked = check({ unit, program: ["mysql", program] }, REPLICATION_REJOINED);
  return { ...checked, writable: existsSync(join(root, "writable")) };
}

test("a MySQL replica is back when it receives and applies; a primary takes writes again where it follows nobody", () => {
  assert.equal(replicated({}).status, 0);
  for (const [io, applying] of [
    ["Connecting", "Yes"],
    ["Yes", "No"],
  ] as const) {
    const { status, stderr, writable } = replicated({ io, applying });
    assert.deepEqual(
      [status, stderr.trim().split("\n").at(-1), writable],
      [11, `receiving: ${io}, applying: ${applying}`, false],
    );
  }
  const primary = replicated({ role: "primary" });
  assert.deepEqual([primary.status, primary.writable], [0, true]);
  const follows = replicated({ role: "primary", source: "10.99.0.2" });
  assert.deepEqual([follows.status, follows.writable], [11, false]);
  assert.equal(replicated({ unit: "activating" }).status, 11);
  const stopped = replicated({ unit: "failed" });
  assert.deepEqual([stopped.status, stopped.started], [11, true]);
  assert.deepEqual(
    [replicated({ role: "", unit: "failed" }).status, replicated({ role: "", unit: "failed" }).started],
    [0, false],
  );
});
