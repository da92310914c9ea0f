/**
 * Bounds of Galera's provider options. mariadbd aborts at start when one of them is broken (seen with galera-4
 * 26.4.23),
 * which on a cloud is minutes after the money started to run: so they are checked before anything is created.
 */

/** Galera writes periods as ISO 8601 durations: PT0.5S, PT1M30S. Returns seconds, or undefined when it is none. */
export function parsePeriod(text: string): number | undefined {
  const m = /^P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/.exec(text.trim());
  if (!m || m.slice(1).every((part) => part === undefined)) return undefined;
  const [d, h, min, s] = m.slice(1).map((part) => Number(part ?? 0));
  return d! * 86_400 + h! * 3_600 + min! * 60 + s!;
}

/** What galera-4 26.4.23 uses when an option is not given. */
export const GALERA_DEFAULTS = {
  "evs.keepalive_period": "PT1S",
  "evs.suspect_timeout": "PT5S",
  "evs.inactive_timeout": "PT15S",
  "evs.install_timeout": "PT7.5S",
  "evs.send_window": "4",
  "evs.user_send_window": "2",
  "gcs.fc_limit": "16",
  "gcs.fc_factor": "1.0",
} as const;

/**
 * What galera-4 26.4.23 lists in wsrep_provider_options, and what it takes and lists only once it is set (gcs.vote_policy,
 * socket.ssl and the like). It ignores any other name with a warning in the server's log.
 */
export const GALERA_OPTIONS: readonly string[] = `
base_dir base_host base_port cert.log_conflicts cert.optimistic_pa debug evs.auto_evict
evs.causal_keepalive_period evs.debug_log_mask evs.delay_margin evs.delayed_keep_period
evs.inactive_check_period evs.inactive_timeout evs.info_log_mask evs.install_timeout evs.join_retrans_period
evs.keepalive_period evs.max_install_timeouts evs.send_window evs.stats_report_period evs.suspect_timeout
evs.use_aggregate evs.user_send_window evs.version evs.view_forget_timeout gcache.dir gcache.keep_pages_size
gcache.mem_size gcache.name gcache.page_size gcache.recover gcache.size gcomm.thread_prio gcs.fc_debug
gcs.fc_factor gcs.fc_limit gcs.fc_master_slave gcs.fc_single_primary gcs.max_packet_size gcs.max_throttle
gcs.recv_q_hard_limit gcs.recv_q_soft_limit gcs.sync_donor gcs.vote_policy gmcast.group gmcast.listen_addr
gmcast.mcast_addr gmcast.mcast_ttl gmcast.peer_timeout gmcast.segment gmcast.time_wait gmcast.version
ist.recv_addr ist.recv_bind pc.announce_timeout pc.checksum pc.ignore_quorum pc.ignore_sb pc.linger pc.npvo
pc.recovery pc.version pc.wait_prim pc.wait_prim_timeout pc.weight protonet.backend protonet.version
repl.causal_read_timeout repl.commit_order repl.key_format repl.max_ws_size repl.proto_max socket.checksum
socket.dynamic socket.recv_buf_size socket.send_buf_size socket.ssl socket.ssl_ca socket.ssl_cert
socket.ssl_cipher socket.ssl_compression socket.ssl_key socket.ssl_password_file
`
  .trim()
  .split(/\s+/);
/** These are the topology's own business: written by the project, so a second value would fight it. */
const OWNED = ["gmcast.listen_addr", "base_host", "base_port"];

function unknown(name: string, key: string): string {
  const group = GALERA_OPTIONS.filter((o) => name.includes(".") && o.startsWith(name.slice(0, name.indexOf(".") + 1)));
  return `${key}["${name}"]: unknown Galera provider option; expected ${
    group.length > 0
      ? `one of ${group.join(", ")}`
      : "one such as gcs.fc_limit (server variables belong in meshbench:database.variables)"
  }`;
}

/** Returns one sentence per broken bound, each naming the key; empty when mariadbd would take the options. */
export function checkGaleraOptions(
  options: Record<string, string>,
  maxRttMs: number,
  key = "meshbench:database.options",
): string[] {
  const problems: string[] = [];
  const value = (name: string): string => options[name] ?? (GALERA_DEFAULTS as Record<string, string>)[name] ?? "";
  const say = (name: string, allowed: string): void => {
    problems.push(`${key}["${name}"]: ${value(name)}; expected ${allowed}`);
  };
  for (const name of Object.keys(options)) {
    if (OWNED.includes(name))
      problems.push(`${key}["${name}"]: ${value(name)}; expected no such key: the topology sets it`);
    else if (!GALERA_OPTIONS.includes(name)) problems.push(unknown(name, key));
    if (/[;"\n]/.test(String(options[name])))
      problems.push(
        `${key}["${name}"]: a value with a quote, a semicolon or a line break; expected none of them in a provider option`,
      );
  }
  const seconds = (name: string): number | undefined => {
    const parsed = parsePeriod(value(name));
    if (parsed === undefined) say(name, "a period such as PT0.5S or PT15S");
    return parsed;
  };
  const number = (name: string): number | undefined => {
    const m = /^(\d+(?:\.\d+)?)([KMG]?)$/i.exec(value(name));
    if (!m) {
      say(name, "a number");
      return undefined;
    }
    return Number(m[1]) * ({ "": 1, K: 1024, M: 1024 ** 2, G: 1024 ** 3 }[m[2]!.toUpperCase()] ?? 1);
  };

  const keepalive = seconds("evs.keepalive_period"),
    suspect = seconds("evs.suspect_timeout");
  const inactive = seconds("evs.inactive_timeout"),
    install = seconds("evs.install_timeout");
  if (keepalive !== undefined && suspect !== undefined && (keepalive < 0.1 || keepalive > suspect / 3))
    say("evs.keepalive_period", `PT0.1S to a third of evs.suspect_timeout (${suspect / 3} s)`);
  if (suspect !== undefined && inactive !== undefined && suspect > inactive)
    say(
      "evs.suspect_timeout",
      `at most evs.inactive_timeout (${inactive} s); the server would start, and never suspect a node before it drops it`,
    );
  if (
    install !== undefined &&
    keepalive !== undefined &&
    inactive !== undefined &&
    (install < keepalive || install > inactive)
  )
    say("evs.install_timeout", `evs.keepalive_period to evs.inactive_timeout (${keepalive} s to ${inactive} s)`);
  if (suspect !== undefined && suspect * 1000 <= maxRttMs)
    say("evs.suspect_timeout", `more than the highest round trip between sites (${maxRttMs} ms)`);
  if (keepalive !== undefined && keepalive * 1000 <= maxRttMs)
    say("evs.keepalive_period", `more than the highest round trip between sites (${maxRttMs} ms)`);
  const window = number("evs.send_window"),
    userWindow = number("evs.user_send_window");
  if (window !== undefined && userWindow !== undefined && userWindow > window)
    say("evs.user_send_window", `at most evs.send_window (${window})`);
  const factor = number("gcs.fc_factor");
  if (factor !== undefined && factor > 1) say("gcs.fc_factor", "0.0 to 1.0");
  for (const name of ["gmcast.segment", "pc.weight"]) {
    if (
      options[name] !== undefined &&
      !(Number.isInteger(Number(options[name])) && Number(options[name]) >= 0 && Number(options[name]) <= 254)
    )
      say(name, "a whole number from 0 to 254");
  }
  if (options["gmcast.segment"] !== undefined)
    problems.push(
      `${key}["gmcast.segment"]: ${value("gmcast.segment")}; expected per site, as meshbench:sites[i].segment`,
    );
  return problems;
}
