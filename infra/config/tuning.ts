/**
 * Named sets of Galera options: what they change and why stands in docs/tuning.md. A set is spelled out while the
 * configuration is read, so that everything behind it, the result too, sees options as if they had been given. Pure.
 */
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

/** Options that are given win over the set's; a site that names its segment keeps it. */
export function withTuning(config: Config): Config {
  const { database, sites } = config;
  if (database.engine !== "mariadb" || database.replication !== "galera" || database.tuning !== "galera-wan")
    return config;
  const rttMs = Math.max(0, ...config.links.map((link) => link.rttMs + link.jitterMs));
  const tuned: DatabaseOf<"mariadb/galera"> = { ...database, options: { ...galeraWan(rttMs), ...database.options } };
  const own = sites.some((site) => site.segment !== 0);
  return {
    ...config,
    database: tuned,
    sites: own ? sites : sites.map((site, index) => ({ ...site, segment: index })),
  };
}
