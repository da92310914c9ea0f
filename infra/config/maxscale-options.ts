/**
 * Parameters of galeramon and readwritesplit as MaxScale 24.02 has them (names and types: its source, `maxscale -c`
 * refuses any other). Checked here so that a mistake costs nothing; the node checks the whole file again before the
 * service starts.
 */
import type { ProxyConfig } from "./schema.ts";

export type Kind = "bool" | "count" | "seconds" | "milliseconds" | "size" | "text" | readonly string[];

const MONITOR: Record<string, Kind> = {
  monitor_interval: "milliseconds",
  backend_connect_timeout: "seconds",
  backend_read_timeout: "seconds",
  backend_write_timeout: "seconds",
  backend_connect_attempts: "count",
  journal_max_age: "seconds",
  disk_space_threshold: "text",
  disk_space_check_interval: "milliseconds",
  script: "text",
  script_timeout: "seconds",
  events: "text",
  disable_master_failback: "bool",
  available_when_donor: "bool",
  disable_master_role_setting: "bool",
  root_node_as_master: "bool",
  use_priority: "bool",
  set_donor_nodes: "bool",
};

const SERVICE: Record<string, Kind> = {
  use_sql_variables_in: ["all", "master"],
  slave_selection_criteria: [
    "least_global_connections",
    "least_router_connections",
    "least_behind_master",
    "least_current_operations",
    "adaptive_routing",
  ],
  master_failure_mode: ["fail_instantly", "fail_on_write", "error_on_write"],
  causal_reads: [
    "none",
    "local",
    "global",
    "fast_global",
    "fast",
    "universal",
    "fast_universal",
    "true",
    "false",
    "on",
    "off",
    "1",
    "0",
  ],
  causal_reads_timeout: "seconds",
  max_replication_lag: "seconds",
  max_slave_replication_lag: "seconds",
  max_slave_connections: "text",
  slave_connections: "count",
  retry_failed_reads: "bool",
  strict_multi_stmt: "bool",
  strict_sp_calls: "bool",
  strict_tmp_tables: "bool",
  master_accept_reads: "bool",
  master_reconnection: "bool",
  delayed_retry: "bool",
  delayed_retry_timeout: "seconds",
  transaction_replay: "bool",
  transaction_replay_max_size: "size",
  transaction_replay_timeout: "seconds",
  transaction_replay_attempts: "count",
  transaction_replay_retry_on_deadlock: "bool",
  transaction_replay_retry_on_mismatch: "bool",
  transaction_replay_safe_commit: "bool",
  transaction_replay_checksum: ["full", "result_only", "no_insert_id"],
  optimistic_trx: "bool",
  lazy_connect: "bool",
  reuse_prepared_statements: "bool",
  // What every service has, whatever its router.
  filters: "text",
  enable_root_user: "bool",
  max_connections: "count",
  wait_timeout: "seconds",
  connection_timeout: "seconds",
  net_write_timeout: "seconds",
  auth_all_servers: "bool",
  strip_db_esc: "bool",
  localhost_match_wildcard_host: "bool",
  version_string: "text",
  log_auth_warnings: "bool",
  session_track_trx_state: "bool",
  retain_last_statements: "count",
  session_trace: "bool",
  rank: ["primary", "secondary"],
  connection_keepalive: "seconds",
  force_connection_keepalive: "bool",
  prune_sescmd_history: "bool",
  disable_sescmd_history: "bool",
  max_sescmd_history: "count",
  idle_session_pool_time: "milliseconds",
  multiplex_timeout: "seconds",
  user_accounts_file: "text",
  user_accounts_file_usage: ["add_when_load_ok", "file_only_always"],
  log_info: "bool",
};

/** Written by the topology; a second value would fight it. */
const OWNED: Record<string, string[]> = {
  monitor: ["type", "module", "servers", "user", "password"],
  service: ["type", "router", "servers", "targets", "cluster", "user", "password"],
};

/** Names that other modules have, and what stands in their place. */
const ELSEWHERE: Record<string, string> = {
  router_options: "readwritesplit takes its parameters by their own names",
  auto_failover: "it belongs to mariadbmon; galeramon follows the cluster's own view",
  auto_rejoin: "it belongs to mariadbmon; a Galera node rejoins by itself",
  failcount: "it belongs to mariadbmon; with galeramon the cluster's evs.suspect_timeout decides",
};

export const MAXSCALE_PARAMETERS: { monitor: Record<string, Kind>; service: Record<string, Kind> } = {
  monitor: MONITOR,
  service: SERVICE,
};

const BOOL = ["true", "false", "on", "off", "yes", "no", "1", "0"];

export interface MaxscaleChecked {
  problems: string[];
  warnings: string[];
}

export function checkMaxscaleOptions(proxy: Pick<ProxyConfig, "monitor" | "service" | "version">): MaxscaleChecked {
  // Another release may have other names: its own check on the node is then the only one.
  const namesKnown = proxy.version.startsWith("24.02.");
  const problems = [
    ...checkSection("monitor", "galeramon", proxy.monitor, MONITOR, namesKnown),
    ...checkSection("service", "readwritesplit", proxy.service, SERVICE, namesKnown),
  ];
  const warnings: string[] = [];
  const { service } = proxy;
  if (
    isTrue(service["transaction_replay"]) &&
    service["master_failure_mode"] !== undefined &&
    service["master_failure_mode"] !== "fail_on_write"
  )
    warnings.push(
      `meshbench:proxy.service.master_failure_mode: ${service["master_failure_mode"]}; expected fail_on_write with transaction_replay, which sets it`,
    );
  if (service["causal_reads"] !== undefined && !["none", "false", "off", "0"].includes(service["causal_reads"]))
    warnings.push(
      `meshbench:proxy.service.causal_reads: ${service["causal_reads"]}; expected meshbench:database.variables.wsrep_sync_wait, which alone gives reads of one's own writes on Galera`,
    );
  return { problems, warnings };
}

function checkSection(
  section: "monitor" | "service",
  module: string,
  given: Record<string, string>,
  known: Record<string, Kind>,
  namesKnown: boolean,
): string[] {
  return Object.entries(given).flatMap(([name, value]): string[] => {
    const key = `meshbench:proxy.${section}.${name}`;
    if (OWNED[section]!.includes(name))
      return [`${key}: ${JSON.stringify(value)}; expected no such key: the topology sets it`];
    if (Object.hasOwn(ELSEWHERE, name)) return [`${key}: unknown parameter of ${module}; ${ELSEWHERE[name]}`];
    if (!/^[a-z][a-z_]*$/.test(name))
      return [`meshbench:proxy.${section}: ${JSON.stringify(name)} as a name; expected lower-case letters and '_'`];
    if (/[\n\r]/.test(value)) return [`${key}: a value with a line break; expected one line`];
    const kind = Object.hasOwn(known, name) ? known[name]! : undefined;
    if (kind === undefined)
      return namesKnown
        ? [`${key}: unknown parameter of ${module} 24.02; expected one of ${Object.keys(known).join(", ")}`]
        : [];
    const allowed = broken(kind, value);
    return allowed === undefined ? [] : [`${key}: ${JSON.stringify(value)}; expected ${allowed}`];
  });
}

/** What is allowed, when the value is not. */
function broken(kind: Kind, value: string): string | undefined {
  if (typeof kind === "object") return kind.includes(value) ? undefined : `one of ${kind.join(", ")}`;
  switch (kind) {
    case "text":
      return undefined;
    case "bool":
      return BOOL.includes(value.toLowerCase()) ? undefined : "true or false";
    case "count":
      return /^\d+$/.test(value) ? undefined : "a whole number";
    case "size":
      return /^\d+([KMGT]i?)?$/.test(value) ? undefined : "a size such as 1Mi";
    case "milliseconds":
      return /^-?\d+(ms|s|m|h)$/.test(value) ? undefined : "a duration with its unit, such as 500ms or 2s";
    case "seconds": {
      const m = /^(\d+)(ms|s|m|h)$/.exec(value);
      if (!m) return "a duration with its unit, such as 3s";
      // 1500ms would be cut to 1s with a warning, 500ms is refused.
      return m[2] === "ms" && Number(m[1]) % 1000 !== 0 ? "whole seconds, such as 3s" : undefined;
    }
  }
}

const isTrue = (value: string | undefined): boolean => ["true", "on", "yes", "1"].includes(value?.toLowerCase() ?? "");
