/**
 * Bounds of group_replication_* as a 9.7.4 server lists them in performance_schema.variables_info. It does not start with a
 * value outside of them, which on a cloud is minutes after the money started to run: so they are checked beforehand.
 */

/** Lowest and highest value. */
const NUMBERS: Record<string, [number, number]> = {
  auto_increment_increment: [1, 65_535],
  autorejoin_tries: [0, 2016],
  clone_threshold: [1, Number.MAX_SAFE_INTEGER],
  communication_max_message_size: [0, 1_073_741_824],
  components_stop_timeout: [2, 31_536_000],
  compression_threshold: [0, 4_294_967_295],
  flow_control_applier_threshold: [0, 2_147_483_647],
  flow_control_certifier_threshold: [0, 2_147_483_647],
  flow_control_hold_percent: [0, 100],
  flow_control_max_quota: [0, 2_147_483_647],
  flow_control_member_quota_percent: [0, 100],
  flow_control_min_quota: [0, 2_147_483_647],
  flow_control_min_recovery_quota: [0, 2_147_483_647],
  flow_control_period: [1, 60],
  flow_control_release_percent: [0, 1000],
  gtid_assignment_block_size: [1, Number.MAX_SAFE_INTEGER],
  member_expel_timeout: [0, 3600],
  member_weight: [0, 100],
  message_cache_size: [134_217_728, Number.MAX_SAFE_INTEGER],
  poll_spin_loops: [0, Number.MAX_SAFE_INTEGER],
  preemptive_garbage_collection_rows_threshold: [10_000, 100_000_000],
  recovery_reconnect_interval: [0, 31_536_000],
  recovery_retry_count: [0, 31_536_000],
  recovery_zstd_compression_level: [1, 22],
  transaction_size_limit: [0, 2_147_483_647],
  unreachable_majority_timeout: [0, 31_536_000],
};

const SWITCH = ["ON", "OFF"];
const WORDS: Record<string, readonly string[]> = {
  consistency: ["EVENTUAL", "BEFORE_ON_PRIMARY_FAILOVER", "BEFORE", "AFTER", "BEFORE_AND_AFTER"],
  exit_state_action: ["READ_ONLY", "ABORT_SERVER", "OFFLINE_MODE"],
  flow_control_mode: ["QUOTA", "DISABLED"],
  paxos_single_leader: SWITCH,
  preemptive_garbage_collection: SWITCH,
  recovery_use_ssl: SWITCH,
  ssl_mode: ["DISABLED", "REQUIRED"],
};

const PREFIX = "group_replication_";

/** Set by the topology, or by `primaries`. */
const OWNED = [
  "group_name",
  "local_address",
  "group_seeds",
  "bootstrap_group",
  "start_on_boot",
  "communication_stack",
  "single_primary_mode",
  "enforce_update_everywhere_checks",
  "force_members",
  "ip_allowlist",
  "recovery_get_public_key",
];

const KEY = "meshbench:database.options";
const names = (): string =>
  [...Object.keys(NUMBERS), ...Object.keys(WORDS)]
    .sort()
    .map((n) => PREFIX + n)
    .join(", ");

/** One sentence per option that the server would not take, each naming the key. */
export function checkGroupOptions(options: Record<string, string>): string[] {
  return Object.entries(options).flatMap(([name, value]): string[] => {
    const at = `${KEY}.${name}`;
    const own = name.startsWith(PREFIX) ? name.slice(PREFIX.length) : "";
    if (OWNED.includes(own)) return [`${at}: ${value}; expected no such key: the topology sets it`];
    const range = Object.hasOwn(NUMBERS, own) ? NUMBERS[own] : undefined;
    if (range !== undefined) {
      const [least, most] = range;
      const within = /^\d+$/.test(value) && Number(value) >= least && Number(value) <= most;
      return within ? [] : [`${at}: ${value}; expected a whole number from ${least} to ${most}`];
    }
    const words = Object.hasOwn(WORDS, own) ? WORDS[own] : undefined;
    if (words === undefined)
      return [
        `${at}: unknown option of Group Replication; expected one of ${names()} (server variables belong in meshbench:database.variables)`,
      ];
    return words.includes(switchWord(value)) ? [] : [`${at}: ${value}; expected one of ${words.join(", ")}`];
  });
}

/** YAML writes a switch as true or false. */
export const switchWord = (value: string): string => ({ true: "ON", false: "OFF" })[value] ?? value.toUpperCase();

/** Settings that belong together, by name; what the user gives wins over them. */
export const GROUP_TUNINGS = {
  none: { options: {}, variables: {} },
  /**
   * The primary alone proposes, so that a majority decides. Otherwise every member has to pass on its turns, the farthest too
   * (dev.mysql.com, "Single Consensus Leader").
   */
  "group-wan": { options: { group_replication_paxos_single_leader: "ON" }, variables: {} },
  /**
   * Of the published comparison with Galera (003): no flow control, and 24 threads that apply in parallel. LOGICAL_CLOCK, which
   * it also names, is how every supported version applies.
   */
  "published-003": {
    options: { group_replication_flow_control_mode: "DISABLED" },
    variables: { replica_parallel_workers: "24" },
  },
} as const satisfies Record<string, { options: Record<string, string>; variables: Record<string, string> }>;

/**
 * Settings that are the group's own: a member that has others is taken in and thrown out again (seen with 9.7.4), so that such
 * a change takes a new group on the data that are there.
 */
export const GROUP_WIDE = [
  "group_replication_paxos_single_leader",
  "group_replication_gtid_assignment_block_size",
] as const;
