/**
 * Patroni's dynamic settings by their own names, with the bounds that its documentation gives ("Dynamic Configuration
 * Settings"). Pure.
 */
import { switchWord } from "../mysql/group-options.ts";

const MOST = Number.MAX_SAFE_INTEGER;
/** Lowest and highest value. Seconds, bytes and a count. */
const NUMBERS: Record<string, [number, number]> = {
  ttl: [20, 86_400],
  loop_wait: [1, 3600],
  retry_timeout: [3, 3600],
  maximum_lag_on_failover: [0, MOST],
  maximum_lag_on_syncnode: [-1, MOST],
  primary_start_timeout: [0, 86_400],
  primary_stop_timeout: [0, 86_400],
  synchronous_node_count: [1, 15],
};
const SWITCHES = ["failsafe_mode", "check_timeline", "synchronous_mode_strict"];
const SYNC_ONLY = ["synchronous_mode_strict", "synchronous_node_count", "maximum_lag_on_syncnode"];
/** Set by the topology, or by the replication that was asked for. */
const OWNED = ["synchronous_mode", "postgresql", "standby_cluster", "slots", "ignore_slots"];

export const PATRONI_DEFAULTS = { ttl: 30, loop_wait: 10, retry_timeout: 10 } as const;

const KEY = "meshbench:database.options";

/** As Patroni's configuration has it: numbers and booleans. */
export const patroniOptions = (options: Record<string, string>): Record<string, number | boolean> =>
  Object.fromEntries(
    Object.entries(options).map(([name, value]) => [
      name,
      SWITCHES.includes(name) ? switchWord(value) === "ON" : Number(value),
    ]),
  );

/** @returns one sentence per option that Patroni would not take, or would not act by, each naming the key */
export function checkPatroniOptions(options: Record<string, string>, sync: boolean): string[] {
  const problems = Object.entries(options).flatMap(([name, value]): string[] => {
    const at = `${KEY}.${name}`;
    if (OWNED.includes(name)) return [`${at}: given; expected no such key: the topology sets it`];
    if (!sync && SYNC_ONLY.includes(name)) return [`${at}: ${value}; expected with replication "sync" only`];
    if (SWITCHES.includes(name))
      return ["ON", "OFF"].includes(switchWord(value)) ? [] : [`${at}: ${value}; expected true or false`];
    const range = Object.hasOwn(NUMBERS, name) ? NUMBERS[name] : undefined;
    if (range === undefined)
      return [
        `${at}: unknown setting of Patroni; expected one of ${[...Object.keys(NUMBERS), ...SWITCHES].sort().join(", ")} (server variables belong in meshbench:database.variables)`,
      ];
    const [least, most] = range;
    const within = /^-?\d+$/.test(value) && Number(value) >= least && Number(value) <= most;
    return within
      ? []
      : [`${at}: ${value}; expected a whole number from ${least}${most === MOST ? " up" : ` to ${most}`}`];
  });
  if (problems.length > 0) return problems;
  const { ttl, loop_wait, retry_timeout } = { ...PATRONI_DEFAULTS, ...patroniOptions(options) } as Record<
    keyof typeof PATRONI_DEFAULTS,
    number
  >;
  const least = loop_wait + 2 * retry_timeout;
  return ttl < least
    ? [
        `${KEY}.ttl: ${ttl}; expected at least ${least}: loop_wait (${loop_wait}) and twice retry_timeout (${retry_timeout}), or the primary would lose its role while it asks again`,
      ]
    : [];
}
