/** MaxScale's file, its parameters, and what is read back from REST. */

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { zstdCompressSync } from "node:zlib";
import { checkMaxscaleOptions } from "../../infra/config/maxscale-options.ts";
import { archiveProblem, archiveShipment } from "../../infra/proxies/archive.ts";
import { glibcOfTree, proxyRelease } from "../../infra/proxies/glibc.ts";
import {
  accountsScript,
  MONITOR_PASSWORD,
  maxscaleConf,
  monitorOf,
  SERVICE_PASSWORD,
} from "../../infra/proxies/maxscale-conf.ts";
import { countersBetween, parseFacts } from "../../infra/proxies/maxscale-facts.ts";
import { configOf, problemsOf, warningsOf } from "../infra/config/config.ts";

const SERVERS = [
  { name: "east-1", address: "10.99.0.1" },
  { name: "east-2", address: "10.99.0.2" },
];
const sections = (text: string): Record<string, Record<string, string>> =>
  Object.fromEntries(
    text
      .split(/^\[/m)
      .slice(1)
      .map((part) => {
        const [name, ...lines] = part.split("\n");
        return [
          name!.replace("]", ""),
          Object.fromEntries(
            lines.filter(Boolean).map((l) => [l.slice(0, l.indexOf("=")), l.slice(l.indexOf("=") + 1)]),
          ),
        ];
      }),
  );

test("a primary does not take its role back, the monitor's interval is written out", () => {
  const { monitor } = sections(maxscaleConf({ bind: "10.99.0.14", servers: SERVERS, monitor: {}, service: {} }));
  assert.equal(monitor!["module"], "galeramon");
  assert.equal(monitor!["disable_master_failback"], "true");
  assert.equal(monitor!["monitor_interval"], "2000ms");
  assert.equal(monitor!["servers"], "east-1,east-2");
});

test("a donor stays in service under mariabackup, unless the configuration says otherwise", () => {
  assert.deepEqual(monitorOf("mariabackup", {}), { available_when_donor: "true" });
  assert.deepEqual(monitorOf("mariabackup", { available_when_donor: "false" }), { available_when_donor: "false" });
  assert.deepEqual(monitorOf("rsync", {}), {});
  assert.deepEqual(monitorOf(undefined, { monitor_interval: "1s" }), { monitor_interval: "1s" });
});

test("what the configuration gives wins over the defaults, by its own name and once", () => {
  const text = maxscaleConf({
    bind: "10.99.0.14",
    servers: SERVERS,
    monitor: { monitor_interval: "500ms", disable_master_failback: "false" },
    service: { transaction_replay: "true" },
  });
  const all = sections(text);
  assert.equal(all["monitor"]!["monitor_interval"], "500ms");
  assert.equal(all["monitor"]!["disable_master_failback"], "false");
  assert.equal(all["splitter"]!["transaction_replay"], "true");
  assert.equal(text.match(/monitor_interval/g)!.length, 1);
});

test("REST answers on loopback only, clients are served on the mesh only", () => {
  const all = sections(maxscaleConf({ bind: "10.99.0.14", servers: SERVERS, monitor: {}, service: {} }));
  assert.equal(all["maxscale"]!["admin_host"], "127.0.0.1");
  assert.equal(all["listener"]!["address"], "10.99.0.14");
  assert.equal(all["listener"]!["port"], "4006");
});

test("no password stands in the file before it reaches the node", () => {
  const all = sections(maxscaleConf({ bind: "10.99.0.14", servers: SERVERS, monitor: {}, service: {} }));
  assert.equal(all["monitor"]!["password"], MONITOR_PASSWORD);
  assert.equal(all["splitter"]!["password"], SERVICE_PASSWORD);
});

test("the service reads all seven account tables, the monitor gets no more than it asks for", () => {
  const script = accountsScript("10.99.0.%", {});
  for (const table of ["user", "db", "tables_priv", "columns_priv", "proxies_priv", "roles_mapping", "procs_priv"])
    assert.match(script, new RegExp(`GRANT SELECT ON mysql\\.${table} TO 'maxscale_service'@'10\\.99\\.0\\.%'`));
  assert.match(script, /GRANT SHOW DATABASES ON \*\.\* TO 'maxscale_service'/);
  assert.doesNotMatch(script, /SUPER|ALL PRIVILEGES|GRANT ALL/);
  assert.match(
    accountsScript("10.99.0.%", { set_donor_nodes: "true" }),
    /GRANT SUPER, REPLICATION CLIENT ON \*\.\* TO 'maxscale_monitor'/,
  );
});

const check = (monitor: Record<string, string>, service: Record<string, string> = {}, version = "24.02.5"): string[] =>
  checkMaxscaleOptions({ monitor, service, version }).problems;

test("parameters as the manual has them pass", () => {
  assert.deepEqual(
    check(
      { monitor_interval: "500ms", backend_connect_timeout: "1s", use_priority: "true", available_when_donor: "on" },
      {
        transaction_replay: "true",
        transaction_replay_max_size: "1Mi",
        transaction_replay_timeout: "30s",
        master_failure_mode: "fail_on_write",
        causal_reads: "none",
        max_slave_connections: "50%",
        slave_selection_criteria: "adaptive_routing",
        retain_last_statements: "10",
        connection_keepalive: "300s",
      },
    ),
    [],
  );
});

const REFUSED: [Record<string, string>, Record<string, string>, string, RegExp][] = [
  [{}, { router_options: "master_accept_reads=true" }, "meshbench:proxy.service.router_options", /by their own names/],
  [{ auto_failover: "true" }, {}, "meshbench:proxy.monitor.auto_failover", /mariadbmon/],
  [{ failcount: "5" }, {}, "meshbench:proxy.monitor.failcount", /mariadbmon/],
  [
    { monitor_intervall: "2s" },
    {},
    "meshbench:proxy.monitor.monitor_intervall",
    /unknown parameter of galeramon.*monitor_interval/,
  ],
  [{}, { monitor_interval: "2s" }, "meshbench:proxy.service.monitor_interval", /unknown parameter of readwritesplit/],
  [{ monitor_interval: "2000" }, {}, "meshbench:proxy.monitor.monitor_interval", /"2000".*unit/],
  [{ backend_connect_timeout: "1500ms" }, {}, "meshbench:proxy.monitor.backend_connect_timeout", /whole seconds/],
  [{ backend_read_timeout: "500ms" }, {}, "meshbench:proxy.monitor.backend_read_timeout", /whole seconds/],
  [{}, { causal_reads_timeout: "500ms" }, "meshbench:proxy.service.causal_reads_timeout", /whole seconds/],
  [{}, { transaction_replay_max_size: "1MB" }, "meshbench:proxy.service.transaction_replay_max_size", /1Mi/],
  [{ use_priority: "maybe" }, {}, "meshbench:proxy.monitor.use_priority", /true or false/],
  [{}, { master_failure_mode: "fail" }, "meshbench:proxy.service.master_failure_mode", /fail_on_write/],
  [{}, { max_connections: "many" }, "meshbench:proxy.service.max_connections", /whole number/],
  [{ password: "x" }, {}, "meshbench:proxy.monitor.password", /the topology sets it/],
  [{}, { cluster: "other" }, "meshbench:proxy.service.cluster", /the topology sets it/],
  [{}, { version_string: "x\n[evil]" }, "meshbench:proxy.service.version_string", /line break/],
  [{ "use_priority=true\nscript": "/bin/sh" }, {}, "meshbench:proxy.monitor", /as a name; expected lower-case/],
];
for (const [monitor, service, key, says] of REFUSED) {
  test(`${key} = ${JSON.stringify(Object.values({ ...monitor, ...service })[0])} is refused before anything is created`, () => {
    const problems = problemsOf({ proxy: { kind: "maxscale", monitor, service } });
    assert.equal(problems.length, 1, JSON.stringify(problems));
    assert.ok(problems[0]!.startsWith(key), problems[0]);
    assert.match(problems[0]!, says);
  });
}

test("another release may have parameters that 24.02 has not: its own check on the node decides", () => {
  assert.equal(check({ brand_new: "1" }).length, 1);
  assert.deepEqual(check({ brand_new: "1" }, {}, "25.01.2"), []);
});

test("what would silently have no effect is a warning", () => {
  const warnings = warningsOf({
    proxy: {
      kind: "maxscale",
      service: { transaction_replay: true, master_failure_mode: "error_on_write", causal_reads: "local" },
    },
  });
  assert.ok(warnings.some((w) => w.includes("transaction_replay") && w.includes("error_on_write")));
  assert.ok(warnings.some((w) => w.includes("causal_reads") && w.includes("wsrep_sync_wait")));
});

const dir = mkdtempSync(join(tmpdir(), "meshbench-archive-"));
after(() => rmSync(dir, { recursive: true, force: true }));

test("an archive that is not there, of another kind or of other content is named in one sentence", async () => {
  const path = join(dir, "maxscale.tar.zst");
  writeFileSync(path, "content");
  const sha256 = createHash("sha256").update("content").digest("hex");
  assert.equal(await archiveProblem({ path, sha256 }, "/"), undefined);
  assert.equal(await archiveProblem({ path: "maxscale.tar.zst", sha256 }, dir), undefined, "relative to the checkout");
  assert.match(
    (await archiveProblem({ path: join(dir, "none.deb"), sha256 }, "/"))!,
    /^meshbench:proxy\.archive\.path: .*expected a file/,
  );
  assert.match((await archiveProblem({ path: dir, sha256 }, "/"))!, /^meshbench:proxy\.archive\.path/);
  writeFileSync(join(dir, "maxscale.rpm"), "content");
  assert.match(
    (await archiveProblem({ path: join(dir, "maxscale.rpm"), sha256 }, "/"))!,
    /\.deb package or a tree packed as \.tar\.zst/,
  );
  assert.equal(
    await archiveProblem({ path, sha256: "0".repeat(64) }, "/"),
    `meshbench:proxy.archive.sha256: ${"0".repeat(64)}; expected ${sha256}, which ${path} has`,
  );
});

test("a tree built for a newer Debian than the proxy's node runs is refused; for an older one, or hosts of any kind, not", async () => {
  const path = join(dir, "newer.tar.zst");
  // A version's name may lie across the borders of what is read at a time.
  const content = zstdCompressSync(
    Buffer.concat([
      Buffer.from("\0GLIBC_2.2.5\0GLIBC_2.34\0 GLIBC_2.99 in prose"),
      Buffer.alloc(3 << 20, 7),
      Buffer.from("\0GLIBC_2.38\0GLIBC_PRIVATE\0"),
    ]),
  );
  writeFileSync(path, content);
  const sha256 = createHash("sha256").update(content).digest("hex");
  assert.equal(
    await archiveProblem({ path, sha256 }, "/", 12),
    `meshbench:proxy.archive.path: ${JSON.stringify(path)}, which needs glibc 2.38; expected one built for Debian 12, which has 2.36`,
  );
  assert.equal(await archiveProblem({ path, sha256 }, "/", 13), undefined);
  assert.equal(await archiveProblem({ path, sha256 }, "/"), undefined);
  assert.equal(await glibcOfTree(path), 38);
});

test("the release that counts is that of the proxy's own nodes", () => {
  const site = { kind: "local", nodes: 2 };
  const release = (proxy: object): unknown =>
    proxyRelease(
      configOf({
        sites: [
          { ...site, name: "east" },
          { ...site, name: "west", debian: 13 },
        ],
        proxy: { kind: "maxscale", ...proxy },
      }),
    );
  assert.equal(release({ placement: "own", site: "west" }), 13);
  assert.equal(release({ placement: "own", site: "east" }), 12);
  assert.equal(release({ placement: "database" }), 12, "the oldest of them");
});

test("an archive's name on the node carries its content's hash", () => {
  const sha256 = "0123456789abcdef".repeat(4);
  assert.equal(
    archiveShipment({ path: "/x/m.tar.zst", sha256 }, "/").target,
    "/opt/meshbench/maxscale-0123456789ab.tar.zst",
  );
  assert.equal(archiveShipment({ path: "/x/m.deb", sha256 }, "/").target, "/opt/meshbench/maxscale-0123456789ab.deb");
});

test("facts are what REST says is in force, without the accounts", () => {
  const facts = parseFacts(
    JSON.stringify({
      maxscale: { data: { id: "maxscale", attributes: { version: "24.02.4", commit: "f72af992" } } },
      servers: {
        data: [
          { id: "east-1", attributes: { state: "Master, Synced, Running" } },
          { id: "east-2", attributes: { state: "Slave, Synced, Running" } },
        ],
      },
      monitor: {
        data: {
          id: "monitor",
          attributes: { parameters: { monitor_interval: "2000ms", user: "u", password: "*****", script: null } },
        },
      },
      service: {
        data: {
          id: "splitter",
          attributes: { parameters: { transaction_replay: true, delayed_retry: true, user: "u", password: "*****" } },
        },
      },
    }),
  );
  assert.deepEqual(facts, {
    version: "24.02.4",
    servers: [
      { name: "east-1", state: "Master, Synced, Running" },
      { name: "east-2", state: "Slave, Synced, Running" },
    ],
    inForce: { monitor: { monitor_interval: "2000ms" }, service: { transaction_replay: true, delayed_retry: true } },
  });
});

test("two readings of the counters tell what came in between, also over a restart", () => {
  assert.deepEqual(countersBetween({ route_master: 10, route_slave: 5 }, { route_master: 14, route_slave: 25 }), {
    route_master: 4,
    route_slave: 20,
  });
  assert.deepEqual(countersBetween({}, { route_master: 3 }), { route_master: 3 });
  assert.deepEqual(countersBetween({ route_master: 100, route_slave: 5 }, { route_master: 7, route_slave: 9 }), {
    route_master: 7,
    route_slave: 9,
  });
});
