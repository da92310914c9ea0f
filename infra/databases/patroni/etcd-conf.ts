/** Which nodes keep the cluster's state in etcd, and how their members are configured. Pure. */

export interface EtcdTimes {
  heartbeatMs: number;
  electionMs: number;
}

/** etcd's own, below which nothing is gained (etcd.io, "Tuning": 100 and 1000 ms). */
export const ETCD_DEFAULTS: EtcdTimes = { heartbeatMs: 100, electionMs: 1000 };
/** etcd takes no more (etcd.io, "Tuning"). */
export const MOST_ELECTION_MS = 50_000;
/** The heartbeat is to be 0.5 to 1.5 of the round trip, the election timeout at least ten of it (same page). */
const HEARTBEAT_ROUND_TRIPS = 1.5;
export const ELECTION_ROUND_TRIPS = 10;
/** Below this a member does not start. */
export const ELECTION_HEARTBEATS = 5;
/** Round trips that differ a little give the same times, so that nothing is restarted for noise. */
const STEP_MS = 50;

/** @param rttMs highest mean round trip between two members, milliseconds */
export function etcdTimes(rttMs: number, given: Partial<EtcdTimes> = {}): EtcdTimes {
  const wanted = Math.ceil((HEARTBEAT_ROUND_TRIPS * rttMs) / STEP_MS) * STEP_MS;
  const heartbeatMs = given.heartbeatMs ?? Math.max(ETCD_DEFAULTS.heartbeatMs, wanted);
  const electionMs = given.electionMs ?? Math.min(MOST_ELECTION_MS, 10 * heartbeatMs);
  return { heartbeatMs, electionMs };
}

const KEY = "meshbench:database.etcd";

/** What etcd would not start with, and what is too short for the round trip between sites, as far as it is stated. */
export function checkEtcd(given: Partial<EtcdTimes>, rttMs: number): string[] {
  const problems: string[] = [];
  const { heartbeatMs, electionMs } = etcdTimes(rttMs, given);
  if (given.heartbeatMs !== undefined && heartbeatMs < rttMs)
    problems.push(
      `${KEY}.heartbeatMs: ${heartbeatMs}; expected at least ${Math.ceil(rttMs)}, the highest round trip between sites`,
    );
  const least = Math.max(ELECTION_HEARTBEATS * heartbeatMs, Math.ceil(ELECTION_ROUND_TRIPS * rttMs));
  if (given.electionMs !== undefined && electionMs < least)
    problems.push(
      `${KEY}.electionMs: ${electionMs}; expected at least ${least}: ${ELECTION_HEARTBEATS} heartbeats, and ${ELECTION_ROUND_TRIPS} of the highest round trip between sites`,
    );
  if (given.heartbeatMs !== undefined && ELECTION_HEARTBEATS * heartbeatMs > MOST_ELECTION_MS)
    problems.push(
      `${KEY}.heartbeatMs: ${heartbeatMs}; expected at most ${MOST_ELECTION_MS / ELECTION_HEARTBEATS}, a fifth of the longest election timeout`,
    );
  return problems;
}

/**
 * The nodes that have an etcd member: all of an odd number, else one fewer, since a majority of four is no more than that of
 * three can lose. Taken from the sites in turn: a site that grows at its end changes nothing for those that are members.
 */
export function membersOf<N extends { site: string }>(nodes: readonly N[]): N[] {
  const seen = new Map<string, number>();
  const turns = nodes.map((node) => {
    const turn = seen.get(node.site) ?? 0;
    seen.set(node.site, turn + 1);
    return { node, turn };
  });
  const inTurn = turns.toSorted((a, b) => a.turn - b.turn).map(({ node }) => node);
  return inTurn.slice(0, nodes.length % 2 === 1 ? nodes.length : nodes.length - 1);
}

export const ETCD_CLIENT_PORT = 2379;
export const ETCD_PEER_PORT = 2380;
export const ETCD_DATA = "/var/lib/etcd/meshbench";
/** How the member begins, which only its first start reads. */
export const ETCD_INITIAL = "/etc/default/meshbench-etcd";
export const ETCD_DROP_IN = "/etc/systemd/system/etcd.service.d/10-meshbench.conf";

export const clientUrl = (meshAddress: string): string => `http://${meshAddress}:${ETCD_CLIENT_PORT}`;
export const peerUrl = (meshAddress: string): string => `http://${meshAddress}:${ETCD_PEER_PORT}`;

/**
 * The unit's drop-in. The mesh only, which encrypts; clients need a password beside it. A start returns at once: a member
 * whose peers are down waits for them, and so would whoever starts one node after the other.
 */
export function etcdUnit(
  member: { name: string; meshAddress: string },
  { heartbeatMs, electionMs }: EtcdTimes,
): string {
  const { name, meshAddress } = member;
  const settings = {
    NAME: name,
    DATA_DIR: ETCD_DATA,
    LISTEN_CLIENT_URLS: clientUrl(meshAddress),
    ADVERTISE_CLIENT_URLS: clientUrl(meshAddress),
    LISTEN_PEER_URLS: peerUrl(meshAddress),
    INITIAL_ADVERTISE_PEER_URLS: peerUrl(meshAddress),
    HEARTBEAT_INTERVAL: heartbeatMs,
    ELECTION_TIMEOUT: electionMs,
    AUTO_COMPACTION_RETENTION: 1,
    ENABLE_V2: false,
  };
  return `[Unit]
After=wg-quick@wg0.service
Wants=wg-quick@wg0.service
StartLimitIntervalSec=0

[Service]
Type=exec
Restart=always
RestartSec=1
${Object.entries(settings)
  .map(([key, value]) => `Environment=ETCD_${key}=${value}`)
  .join("\n")}
EnvironmentFile=-${ETCD_INITIAL}
`;
}
