/**
 * Every text that the program writes for a node, from one small topology. Golden and syntax tests both read this list.
 */
import {
  CLOCK_SCRIPT,
  fetchSamplesScript,
  removeSamplesScript,
  SAMPLER,
  startSamplingScript,
} from "../../infra/benchmark/hosts.ts";
import {
  pollScript,
  restartScript,
  installScript as runInstallScript,
  startScript,
} from "../../infra/benchmark/unit.ts";
import { GALERA_CHECK } from "../../infra/databases/galera-check.ts";
import { serverConf } from "../../infra/databases/galera-conf.ts";
import {
  configureScript,
  enterScript,
  memberScript,
  portsScript,
  readyScript,
  SST_ACCOUNT_SCRIPT,
  settingsScript,
  standaloneScript,
} from "../../infra/databases/galera-scripts.ts";
import {
  primaryScript,
  ROLE_CHECK,
  replicaScript,
  replicatedConf,
  replicatedSettingsScript,
  STANDING,
} from "../../infra/databases/mariadb-replication-conf.ts";
import { mysqlConf } from "../../infra/databases/mysql/conf.ts";
import { GROUP_CHECK } from "../../infra/databases/mysql/group-check.ts";
import { groupConf, groupName, seedOf } from "../../infra/databases/mysql/group-conf.ts";
import { FOUND_AGAIN, LEAVE_BLOCKED, REJOIN } from "../../infra/databases/mysql/group-health.ts";
import {
  groupReadyScript,
  enterScript as mysqlEnterScript,
  leaveScript as mysqlLeaveScript,
  settingsScript as mysqlSettingsScript,
} from "../../infra/databases/mysql/group-scripts.ts";
import { configureScript as mysqlConfigureScript } from "../../infra/databases/mysql/install.ts";
import {
  readyScript as mysqlReadyScript,
  serverScript as mysqlServerScript,
} from "../../infra/databases/mysql/scripts.ts";
import {
  configureScript as pgConfigureScript,
  readyScript as pgReadyScript,
  serverScript as pgServerScript,
  postgresConf,
} from "../../infra/databases/postgresql-conf.ts";
import { listensScript, routesScript } from "../../infra/health/ports.ts";
import { probeScript } from "../../infra/health/probe.ts";
import {
  bootstrapScript,
  MESH_UP,
  POSITION,
  SERVER_DOWN,
  SERVER_START,
  unitUp,
  WEIGH_MORE,
} from "../../infra/health/repair.ts";
import { rttScript, serverScript, throughputScript } from "../../infra/mesh/measure.ts";
import { mtuScript, pathScript } from "../../infra/mesh/path-mtu.ts";
import { wireguardConf } from "../../infra/mesh/plan.ts";
import { interfaceScript, keyScript, reachScript } from "../../infra/mesh/wireguard.ts";
import { checkScript, haproxyScript } from "../../infra/proxies/haproxy.ts";
import { CHECK_SERVICE_UNIT, checkSocketUnit, haproxyConf } from "../../infra/proxies/haproxy-conf.ts";
import { displacedBy } from "../../infra/proxies/kinds.ts";
import { accountsScript, maxscaleConf } from "../../infra/proxies/maxscale-conf.ts";
import { installScript } from "../../infra/proxies/maxscale-install.ts";
import { COUNTERS_PROGRAM, serviceScript, UNIT } from "../../infra/proxies/maxscale-scripts.ts";
import { REPLICATED_FILES, REPLICATED_SCRIPTS } from "./mysql-replicated-texts.ts";
import { PATRONI_FILES, PATRONI_SCRIPTS } from "./patroni-texts.ts";

const PEERS = [
  { name: "east-2", meshAddress: "10.99.0.2", begins: true },
  { name: "west-1", meshAddress: "10.99.0.33", begins: false },
];
const SERVERS = [
  { name: "east-1", address: "10.99.0.1" },
  { name: "east-2", address: "10.99.0.2" },
  { name: "west-1", address: "10.99.0.33" },
];
const DATABASE = {
  engine: "mariadb" as const,
  replication: "galera" as const,
  version: "debian" as const,
  options: {},
  variables: {},
  sstMethod: "rsync" as const,
  tuning: "none" as const,
};
const ALONE = { engine: "mariadb" as const, replication: "none" as const, version: "debian" as const, variables: {} };
const SERVER = {
  nodeName: "east-1",
  meshAddress: "10.99.0.1",
  clusterName: "meshbench-test",
  members: SERVERS.map((s) => s.address),
  segment: 0,
  maxConnections: 151,
};
const WIREGUARD = wireguardConf(
  { meshAddress: "10.99.0.1" },
  [
    { name: "east-2", allowedIp: "10.99.0.2/32", endpoint: "192.0.2.2:51820", publicKey: "PEER2=" },
    {
      name: "west-1",
      allowedIp: "10.99.0.33/32",
      endpoint: "198.51.100.1:51820",
      keepaliveSeconds: 25,
      publicKey: "PEER3=",
    },
    { name: "home-1", allowedIp: "10.99.0.49/32", publicKey: "PEER4=" },
  ],
  { port: 51820, mtu: 1420 },
);
export const MAXSCALE = maxscaleConf({ bind: "10.99.0.14", servers: SERVERS, monitor: {}, service: {} });
const SHA = "0123456789ab".padEnd(64, "0");

const POSTGRES_CONF = postgresConf(
  { meshAddress: "10.99.0.1", maxConnections: 100 },
  { shared_buffers: "256MB", application_name: "it's" },
);
const POSTGRES_ACCESS = { user: "meshbench", database: "sbtest", network: "10.99.0.0/24" };

const MYSQL = { meshAddress: "10.99.0.1", maxConnections: 151 };
const MYSQL_CONF = mysqlConf(MYSQL, [], { innodb_buffer_pool_size: "256M", init_connect: "SET @a = '#'" });
const MYSQL_ACCOUNT = { user: "meshbench", database: "sbtest", network: "10.99.0.%" };

const MYSQL_MEMBERS = SERVERS.map((s) => s.address);
const MYSQL_MEMBER = { ...MYSQL, groupName: groupName("0123456789ab"), members: MYSQL_MEMBERS };
const MYSQL_GROUP = {
  engine: "mysql" as const,
  replication: "group" as const,
  version: "debian" as const,
  primaries: "single" as const,
  tuning: "none" as const,
  options: {},
  variables: {},
};
const MYSQL_ENTER = {
  founder: false,
  groupName: MYSQL_MEMBER.groupName,
  peers: MYSQL_MEMBERS.slice(1),
  network: "10.99.0.%",
  shape: "fedcba9876543210",
  timeoutSeconds: 1800,
};
const MYSQL_READY = {
  account: MYSQL_ACCOUNT,
  members: MYSQL_MEMBERS,
  single: true,
  settings: "0123456789abcdef",
  timeoutSeconds: 120,
};

/** Files that a node reads. */
export const FILES: Record<string, string> = {
  "wireguard.conf": WIREGUARD,
  "galera.cnf": serverConf(SERVER, DATABASE),
  "galera-tuned.cnf": serverConf(
    { ...SERVER, segment: 2, maxConnections: 400 },
    {
      ...DATABASE,
      sstMethod: "mariabackup",
      options: { "evs.suspect_timeout": "PT2S", "gcs.fc_limit": "1000K" },
      variables: { max_connections: "500", innodb_buffer_pool_size: "1G" },
    },
  ),
  "mariadb-async.cnf": replicatedConf(
    { meshAddress: "10.99.0.33", maxConnections: 151 },
    { ...ALONE, replication: "async" },
  ),
  "mariadb-semi-sync.cnf": replicatedConf(
    { meshAddress: "10.99.0.1", maxConnections: 151 },
    { ...ALONE, replication: "semi-sync", semiSync: { waitPoint: "AFTER_SYNC", timeoutMs: 10_000 } },
  ),
  "standalone.cnf": serverConf({ ...SERVER, members: [] }, ALONE),
  "mysql.cnf": MYSQL_CONF,
  ...REPLICATED_FILES,
  "mysql-group.cnf": groupConf(MYSQL_MEMBER, MYSQL_GROUP),
  "mysql-group-tuned.cnf": groupConf(MYSQL_MEMBER, {
    ...MYSQL_GROUP,
    primaries: "multi",
    tuning: "published-003",
    options: { group_replication_paxos_single_leader: "true", group_replication_consistency: "AFTER" },
    variables: { replica_parallel_workers: "8" },
  }),
  "postgresql.conf": POSTGRES_CONF,
  ...PATRONI_FILES,
  "haproxy-postgresql.cfg": haproxyConf("10.99.0.14", SERVERS.slice(0, 1), 46, { port: 5432, checked: false }),
  "haproxy.cfg": haproxyConf("10.99.0.14", SERVERS, 46, { port: 3306, checked: true }),
  "haproxy-standalone.cfg": haproxyConf("10.99.0.14", SERVERS.slice(0, 1), 46, { port: 3306, checked: false }),
  "haproxy-roles.cfg": haproxyConf("10.99.0.14", SERVERS, 46, {
    port: 3306,
    checked: true,
    roles: { reads: "replicas" },
  }),
  "haproxy-roles-any.cfg": haproxyConf("10.99.0.14", SERVERS, 46, {
    port: 3306,
    checked: true,
    roles: { reads: "any" },
  }),
  "check.socket": checkSocketUnit("10.99.0.1"),
  "check.service": CHECK_SERVICE_UNIT,
  "maxscale.cnf": MAXSCALE,
  "maxscale-tuned.cnf": maxscaleConf({
    bind: "10.99.0.14",
    servers: SERVERS,
    monitor: { monitor_interval: "500ms", use_priority: "true" },
    service: { transaction_replay: "true", master_accept_reads: "true" },
  }),
  "maxscale.service": UNIT,
};

/** Steps: each is run by bash as root with -euo pipefail. */
export const SCRIPTS: Record<string, string> = {
  "wireguard-key.sh": keyScript(),
  "wireguard-interface.sh": interfaceScript(WIREGUARD),
  "wireguard-reach.sh": reachScript("east-1", PEERS, 1420),
  "wireguard-reach-auto.sh": reachScript("east-1", PEERS, "auto"),
  "wireguard-mtu.sh": mtuScript(1360),
  "mysql-configure.sh": mysqlConfigureScript(MYSQL_CONF, "debian"),
  "mysql-configure-vendor.sh": mysqlConfigureScript(MYSQL_CONF, "8.4.6"),
  "mysql-server.sh": mysqlServerScript("0123456789abcdef", 120),
  "mysql-group-enter-founder.sh": mysqlEnterScript({ ...MYSQL_ENTER, founder: true }),
  "mysql-group-enter-joiner.sh": mysqlEnterScript(MYSQL_ENTER),
  "mysql-group-leave.sh": mysqlLeaveScript(false, "fedcba9876543210", 120),
  "mysql-group-leave-first.sh": mysqlLeaveScript(true, "fedcba9876543210", 120),
  "mysql-group-settings.sh": mysqlSettingsScript("0123456789abcdef", MYSQL_MEMBERS.map(seedOf), 1800),
  "mysql-group-ready.sh": groupReadyScript(MYSQL_READY),
  "mysql-group-ready-multi.sh": groupReadyScript({ ...MYSQL_READY, single: false }),
  "mysql-ready.sh": mysqlReadyScript(MYSQL_ACCOUNT),
  "mesh-path.sh": pathScript(PEERS, 1420),
  "look.sh": probeScript(PEERS, { galera: true, units: ["mariadb"] }),
  "look-standalone.sh": probeScript(PEERS, { galera: false, units: ["mariadb"] }),
  "look-group.sh": probeScript(PEERS, { galera: false, group: true, units: ["mysql"] }),
  "repair-group-found.sh": FOUND_AGAIN,
  "repair-group-leave.sh": LEAVE_BLOCKED,
  "repair-group-rejoin.sh": REJOIN,
  "repair-mesh.sh": MESH_UP,
  "repair-unit.sh": unitUp("haproxy.service"),
  "repair-server-down.sh": SERVER_DOWN,
  "repair-server-start.sh": SERVER_START,
  "repair-position.sh": POSITION,
  "repair-bootstrap.sh": bootstrapScript(false),
  "repair-bootstrap-asked.sh": bootstrapScript(true),
  "repair-weight.sh": WEIGH_MORE,
  "mesh-server.sh": serverScript("10.99.0.1"),
  "mesh-rtt.sh": rttScript(PEERS, 1420),
  "mesh-throughput.sh": throughputScript(PEERS, 4),
  "galera-configure.sh": configureScript(serverConf(SERVER, DATABASE), "rsync"),
  "galera-ports.sh": portsScript(["10.99.0.2", "10.99.0.33"]),
  "galera-enter-founder.sh": enterScript({ founder: true, peers: ["10.99.0.2", "10.99.0.33"], timeoutSeconds: 300 }),
  "galera-enter-single-founder.sh": enterScript({ founder: true, peers: [], timeoutSeconds: 300 }),
  "galera-enter-joiner.sh": enterScript({ founder: false, peers: ["10.99.0.1", "10.99.0.33"], timeoutSeconds: 300 }),
  "galera-member.sh": memberScript(1800),
  "galera-settings.sh": settingsScript("abcdef0123456789", 1800),
  "galera-sst-account.sh": SST_ACCOUNT_SCRIPT,
  "galera-ready.sh": readyScript({
    size: 3,
    user: "meshbench",
    database: "sbtest",
    network: "10.99.0.%",
    galera: true,
    timeoutSeconds: 120,
  }),
  "standalone.sh": standaloneScript("abcdef0123456789", 120),
  "standalone-ready.sh": readyScript({
    size: 1,
    user: "meshbench",
    database: "sbtest",
    network: "10.99.0.%",
    galera: false,
    timeoutSeconds: 120,
  }),
  ...PATRONI_SCRIPTS,
  "postgresql-configure.sh": pgConfigureScript(POSTGRES_CONF, POSTGRES_ACCESS),
  "postgresql-server.sh": pgServerScript("abcdef0123456789", "10.99.0.1", 120),
  "postgresql-ready.sh": pgReadyScript(POSTGRES_ACCESS),
  "mariadb-primary.sh": primaryScript("10.99.0.%", 120),
  "mariadb-replica.sh": replicaScript("10.99.0.1", 120),
  "mariadb-replicated-settings.sh": replicatedSettingsScript("abcdef0123456789", 120),
  "mariadb-standing.sh": STANDING,
  ...REPLICATED_SCRIPTS,
  "mariadb-check.sh": checkScript("10.99.0.1", ROLE_CHECK),
  "haproxy-check.sh": checkScript("10.99.0.1", GALERA_CHECK),
  "haproxy.sh": haproxyScript(
    haproxyConf("10.99.0.14", SERVERS, 46, { port: 3306, checked: true }),
    { writer: 3 },
    displacedBy("haproxy"),
  ),
  "haproxy-roles.sh": haproxyScript(
    haproxyConf("10.99.0.14", SERVERS, 46, { port: 3306, checked: true, roles: { reads: "replicas" } }),
    { writer: 1, readers: 2 },
    displacedBy("haproxy"),
  ),
  "maxscale-accounts.sh": accountsScript("10.99.0.%", {}),
  "maxscale-accounts-donors.sh": accountsScript("10.99.0.%", { set_donor_nodes: "true" }),
  "maxscale-install-vendor.sh": installScript({ kind: "vendor", version: "24.02.5" }),
  "maxscale-install-deb.sh": installScript({
    kind: "deb",
    path: "/opt/meshbench/maxscale-0123456789ab.deb",
    version: "24.02.5",
  }),
  "maxscale-install-tree.sh": installScript({
    kind: "tree",
    path: "/opt/meshbench/maxscale-0123456789ab.tar.zst",
    sha256: SHA,
    version: "24.02.5",
  }),
  "maxscale.sh": serviceScript({ bind: "10.99.0.14", conf: MAXSCALE, servers: 3, displaced: displacedBy("maxscale") }),
  "look-routes.sh": routesScript([
    { name: "east-1", meshAddress: "10.99.0.1", port: 3306 },
    { name: "west-1", meshAddress: "10.99.0.33", port: 9200 },
  ]),
  "look-listens.sh": listensScript([3306, 9200]),
  "run-install.sh": runInstallScript("0123456789ab", "/opt/meshbench/node-1", "/opt/meshbench/load-1.mjs"),
  "run-start.sh": startScript("0123456789ab"),
  "run-restart.sh": restartScript("0123456789ab"),
  "run-poll.sh": pollScript("0123456789ab", 4096),
  "hosts-start.sh": startSamplingScript("0123456789ab"),
  "hosts-clock.sh": CLOCK_SCRIPT,
  "hosts-fetch.sh": fetchSamplesScript("0123456789ab"),
  "hosts-remove.sh": removeSamplesScript("0123456789ab"),
};

/** Programs that stay on a node. */
export const PROGRAMS: Record<string, string> = {
  "hosts-sampler": SAMPLER,
  "in-service": GALERA_CHECK,
  "in-service-group": GROUP_CHECK,
  "proxy-counters": COUNTERS_PROGRAM,
};
