/** What the program writes for nodes with PostgreSQL under Patroni: read by the golden and syntax tests. */
import {
  dynamicConf,
  PATRONI_UNIT,
  type PatroniConfig,
  patroniConf,
  REST_PORT,
} from "../../infra/databases/patroni/conf.ts";
import { etcdTimes, etcdUnit } from "../../infra/databases/patroni/etcd-conf.ts";
import { distanceScript, memberScript, membersScript, NO_MEMBER } from "../../infra/databases/patroni/etcd-scripts.ts";
import {
  accountScript,
  configureScript,
  factsScript,
  PACKAGES_SCRIPT,
  STANDING,
  settingsScript,
  startScript,
} from "../../infra/databases/patroni/scripts.ts";
import { haproxyConf } from "../../infra/proxies/haproxy-conf.ts";

const ADDRESSES = ["10.99.0.1", "10.99.0.33", "10.99.0.2"];
const SERVERS = [
  { name: "east-1", address: "10.99.0.1" },
  { name: "east-2", address: "10.99.0.2" },
  { name: "west-1", address: "10.99.0.33" },
];
const BASE = {
  engine: "postgresql" as const,
  version: "debian" as const,
  tuning: "none" as const,
  etcd: {},
  options: {},
  variables: {},
};
const SYNC: PatroniConfig = {
  ...BASE,
  replication: "sync",
  options: { synchronous_mode_strict: "true", ttl: "40" },
  variables: { synchronous_commit: "remote_apply", application_name: "it's" },
};
const CLUSTER = { members: ADDRESSES, network: "10.99.0.0/24" };
const MEMBER = {
  name: "east-1",
  meshAddress: "10.99.0.1",
  peers: ADDRESSES.slice(1),
  times: etcdTimes(80),
  timeoutSeconds: 120,
};
const SEEN = { dynamic: dynamicConf(SYNC, 100), standbys: 1, timeoutSeconds: 1800 };
const CONF = patroniConf(
  { name: "east-1", meshAddress: "10.99.0.1", nosync: false },
  { ...CLUSTER, dynamic: dynamicConf({ ...BASE, replication: "async" }, 100) },
);

export const PATRONI_FILES: Record<string, string> = {
  "patroni.yml": CONF,
  "patroni-sync.yml": patroniConf(
    { name: "east-2", meshAddress: "10.99.0.2", nosync: true },
    { ...CLUSTER, dynamic: dynamicConf(SYNC, 100) },
  ),
  "patroni.service.conf": PATRONI_UNIT,
  "etcd.service.conf": etcdUnit({ name: "east-1", meshAddress: "10.99.0.1" }, etcdTimes(0.3)),
  "haproxy-patroni.cfg": haproxyConf("10.99.0.14", SERVERS, 46, {
    port: 5432,
    checked: true,
    by: { port: REST_PORT, primary: "/primary", replica: "/replica", any: "/read-only" },
    roles: { reads: "replicas" },
  }),
};

export const PATRONI_SCRIPTS: Record<string, string> = {
  "patroni-packages.sh": PACKAGES_SCRIPT,
  "etcd-distance.sh": distanceScript([{ name: "west-1", meshAddress: "10.99.0.33" }], {}),
  "etcd-distance-given.sh": distanceScript([{ name: "west-1", meshAddress: "10.99.0.33" }], {
    heartbeatMs: 100,
    electionMs: 1500,
  }),
  "etcd-member-first.sh": memberScript(MEMBER, true),
  "etcd-member.sh": memberScript({ ...MEMBER, name: "west-1", meshAddress: "10.99.0.33" }, false),
  "etcd-members.sh": membersScript("10.99.0.1", ADDRESSES, 120),
  "etcd-no-member.sh": NO_MEMBER,
  "patroni-configure.sh": configureScript(CONF),
  "patroni-start.sh": startScript("10.99.0.1", 1800),
  "patroni-settings.sh": settingsScript(ADDRESSES, SEEN),
  "patroni-account.sh": accountScript({ user: "meshbench", database: "sbtest" }),
  "patroni-facts.sh": factsScript("sbtest", 3, 120),
  "patroni-standing.sh": STANDING,
};
