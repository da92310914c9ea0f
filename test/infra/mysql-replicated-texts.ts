/** Texts for a MySQL primary and its replicas. */
import { replicatedConf } from "../../infra/databases/mysql/replication-conf.ts";
import {
  onPrimary,
  primaryScript,
  replicaScript,
  settingsScript,
} from "../../infra/databases/mysql/replication-scripts.ts";
import { ROLE_CHECK, STANDING } from "../../infra/databases/mysql/replication-standing.ts";
import { readyScript } from "../../infra/databases/mysql/scripts.ts";
import { checkScript } from "../../infra/proxies/haproxy.ts";

const NODE = { meshAddress: "10.99.0.33", maxConnections: 151 };
const BASE = { engine: "mysql" as const, version: "debian" as const, variables: {} };

export const REPLICATED_FILES: Record<string, string> = {
  "mysql-async.cnf": replicatedConf(NODE, { ...BASE, replication: "async" }),
  "mysql-semi-sync.cnf": replicatedConf(NODE, {
    ...BASE,
    replication: "semi-sync",
    semiSync: { waitPoint: "AFTER_COMMIT", timeoutMs: 10_000 },
    variables: { replica_parallel_workers: "8" },
  }),
};

export const REPLICATED_SCRIPTS: Record<string, string> = {
  "mysql-primary.sh": primaryScript("10.99.0.%", ["10.99.0.2", "10.99.0.33"], 120),
  "mysql-replica.sh": replicaScript("10.99.0.1", 1800),
  "mysql-replicated-settings.sh": settingsScript("abcdef0123456789", 1800),
  "mysql-replicated-ready.sh": `${onPrimary(2, true, 120)}\n${readyScript({ user: "meshbench", database: "sbtest", network: "10.99.0.%" })}`,
  "mysql-standing.sh": STANDING,
  "mysql-check.sh": checkScript("10.99.0.1", ROLE_CHECK),
};
