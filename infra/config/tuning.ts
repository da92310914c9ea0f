/**
 * Named sets of options: what they change and why stands in docs/tuning.md. A set is spelled out while the
 * configuration is read, so that everything behind it, the result too, sees options as if they had been given. Pure.
 */
import { type EtcdTimes, etcdTimes } from "../databases/patroni/etcd-conf.ts";
import { PATRONI_DEFAULTS } from "../databases/patroni/options.ts";
import type { DatabaseOf } from "./engines.ts";
import { GALERA_DEFAULTS, parsePeriod } from "./galera-options.ts";
import type { Config } from "./schema.ts";

/** gcomm's periods have to exceed the highest round trip (galeracluster.com, "WAN Latency"); three of them is chosen. */
const ROUND_TRIPS = 3;
/** A keepalive may take at most a third of evs.suspect_timeout: what galera-4 26.4.23 starts with. */
const SUSPECT_KEEPALIVES = 5;

const longer = (name: keyof typeof GALERA_DEFAULTS, seconds: number): Record<string, string> =>
  seconds > parsePeriod(GALERA_DEFAULTS[name])! ? { [name]: `PT${seconds}S` } : {};

/**
 * @param rttMs highest round trip between two sites, milliseconds; 0 where none is stated: then no period is changed
 * @returns provider options by name; periods only where the default would be too short for the round trip
 */
export function galeraWan(rttMs: number): Record<string, string> {
  const period = Math.ceil((ROUND_TRIPS * rttMs) / 100) / 10;
  const suspect = SUSPECT_KEEPALIVES * period;
  return {
    ...longer("evs.keepalive_period", period),
    ...longer("evs.suspect_timeout", suspect),
    ...longer("evs.inactive_timeout", 3 * suspect),
    ...longer("evs.install_timeout", 2 * suspect),
    ...(period > 1 ? { "evs.join_retrans_period": `PT${period}S` } : {}),
    // Half of the send window for users' messages (mariadb.com, "evs.user_send_window"; 512 is its figure for a WAN).
    "evs.send_window": "1024",
    "evs.user_send_window": "512",
    // A member that a cut link kept away gets what it missed from here instead of a copy of everything.
    "gcache.size": "512M",
  };
}

/** An election takes one to two election timeouts, and the first one may end without a leader. */
const ELECTIONS = 4;

/**
 * @param rttMs highest round trip between two sites, milliseconds; 0 where none is stated: then no time is changed
 * @param etcd times that are given
 */
export function patroniWan(
  rttMs: number,
  etcd: Partial<EtcdTimes>,
): { options: Record<string, string>; variables: Record<string, string> } {
  const retry = Math.ceil((ELECTIONS * etcdTimes(rttMs, etcd).electionMs) / 1000);
  const { retry_timeout, loop_wait } = PATRONI_DEFAULTS;
  return {
    options: retry > retry_timeout ? { retry_timeout: String(retry), ttl: String(loop_wait + 2 * retry) } : {},
    variables: {
      wal_compression: "on",
      // Patroni drops the slot of a standby that is away for longer than ttl, and what it needs goes with it.
      wal_keep_size: "512MB",
    },
  };
}

const farthest = ({ links }: Pick<Config, "links">): number =>
  Math.max(0, ...links.map((link) => link.rttMs + link.jitterMs));

/** Options that are given win over the set's; a site that names its segment keeps it. */
export function withGaleraTuning(database: DatabaseOf<"mariadb/galera">, config: Config): Config {
  if (database.tuning !== "galera-wan") return config;
  const { sites } = config;
  const own = sites.some((site) => site.segment !== 0);
  return {
    ...config,
    database: { ...database, options: { ...galeraWan(farthest(config)), ...database.options } },
    sites: own ? sites : sites.map((site, index) => ({ ...site, segment: index })),
  };
}

/** Options and variables that are given win over the set's. */
export function withPatroniTuning(
  database: DatabaseOf<"postgresql/async" | "postgresql/sync">,
  config: Config,
): Config {
  if (database.tuning !== "patroni-wan") return config;
  const { options, variables } = patroniWan(farthest(config), database.etcd);
  return {
    ...config,
    database: {
      ...database,
      options: { ...options, ...database.options },
      variables: { ...variables, ...database.variables },
    },
  };
}
