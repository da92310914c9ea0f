/** What runs on a node that has an etcd member, as pure text. */
import { writeFile } from "../../scripts.ts";
import { ETCD_USER, NAMESPACE } from "./conf.ts";
import {
  clientUrl,
  ELECTION_ROUND_TRIPS,
  ETCD_DATA,
  ETCD_DROP_IN,
  ETCD_INITIAL,
  type EtcdTimes,
  etcdUnit,
  peerUrl,
} from "./etcd-conf.ts";

/**
 * Prints the highest mean round trip to another member, in milliseconds. Fails where one is longer than times that were given
 * allow.
 */
export function distanceScript(peers: { name: string; meshAddress: string }[], given: Partial<EtcdTimes>): string {
  const check = (key: string, value: number | undefined, roundTrips: number): string =>
    value === undefined
      ? ""
      : `if awk "BEGIN { exit !(${roundTrips} * $rtt > ${value}) }"; then echo "meshbench:database.etcd.${key}: ${value}; expected at least $(awk "BEGIN { print int(${roundTrips} * $rtt) + 1 }"): the round trip from $(hostname) to $peer takes $rtt ms" >&2; exit 1; fi\n`;
  return `highest=0
far() {
  peer=$1
  rtt=$(ping -n -q -c 5 -i 0.2 -W 2 "$2" 2>/dev/null | sed -n 's|^rtt min/avg/max/mdev = [0-9.]*/\\([0-9.]*\\)/.*|\\1|p' || true)
  [ -n "$rtt" ] || { echo "$(hostname): no answer from $1 over the mesh" >&2; exit 1; }
${check("heartbeatMs", given.heartbeatMs, 1)}${check("electionMs", given.electionMs, ELECTION_ROUND_TRIPS)}  highest=$(awk "BEGIN { print ($rtt > $highest) ? $rtt : $highest }")
}
${peers.map(({ name, meshAddress }) => `far ${name} ${meshAddress}`).join("\n")}
echo "$highest"`;
}

/** \`well\`: the member at this address sees a leader. Nothing of it needs a password. */
const WELL = `well() { curl -fs -m 3 "http://$1:2379/health" 2>/dev/null | grep -q '"health":"true"'; }`;

/**
 * etcdctl reads its credentials from the environment: no argument holds them. The list of members needs none, and comes when a
 * majority is missing too, as it is until a member that was added has started; whoever logs in needs the majority.
 */
const ETCDCTL = `export ETCDCTL_API=3
listed() { etcdctl --command-timeout=10s member list 2>/dev/null; }
as_root() { ETCDCTL_USER="root:$root" etcdctl --command-timeout=10s "$@"; }`;

interface Member {
  name: string;
  meshAddress: string;
  /** Mesh addresses of the other members. */
  peers: string[];
  times: EtcdTimes;
  timeoutSeconds: number;
}

/**
 * Founds the cluster where no other member answers and this one is the first, else enters it; restarts a member whose
 * settings are new. Root's password and Patroni's are on stdin.
 */
export function memberScript(member: Member, founder: boolean): string {
  const { name, meshAddress, peers, times, timeoutSeconds } = member;
  const url = peerUrl(meshAddress);
  return `read -r root
read -r patroni
${WELL}
${ETCDCTL}
fail() { echo "$(hostname): $*" >&2; exit 1; }
changed=0
${writeFile(ETCD_DROP_IN, etcdUnit({ name, meshAddress }, times))}
systemctl daemon-reload
other=
for address in ${peers.join(" ")}; do if well "$address"; then other=$address; break; fi; done
if [ ! -d ${ETCD_DATA}/member ]; then
  systemctl stop etcd 2>/dev/null || true
  rm -rf ${ETCD_DATA}
  state=existing
  if [ -n "$other" ]; then
    export ETCDCTL_ENDPOINTS=http://$other:2379
    deadline=$((SECONDS + ${timeoutSeconds}))
    # Of a machine that stood here before: its data are gone.
    for old in $(listed | awk -F', ' '$4 == "${url}" && $2 == "started" { print $1 }'); do as_root member remove "$old" >/dev/null; done
    initial=$(listed | awk -F', ' '$4 != "${url}" { print $3 "=" $4 }' | paste -sd,)
    until listed | grep -qF "${url}"; do
      # Refused for some seconds after another one has entered.
      why=$(as_root member add ${name} --peer-urls=${url} 2>&1 >/dev/null | tail -n 1 || true)
      if listed | grep -qF "${url}"; then break; fi
      [ $SECONDS -lt $deadline ] || fail "etcd takes no further member within ${timeoutSeconds} s: $why"
      sleep 1
    done
    initial=$initial,${name}=${url}
  else
    ${founder ? `state=new; initial=${name}=${url}` : 'fail "no member of etcd answers; expected the first one"'}
  fi
  printf 'ETCD_INITIAL_CLUSTER=%s\\nETCD_INITIAL_CLUSTER_STATE=%s\\nETCD_INITIAL_CLUSTER_TOKEN=meshbench\\n' "$initial" "$state" > ${ETCD_INITIAL}
  changed=1
fi
systemctl enable --quiet etcd
if [ "$changed" = 1 ] || ! systemctl is-active --quiet etcd; then
  systemctl reset-failed etcd 2>/dev/null || true
  systemctl restart etcd || fail "etcd does not start: $(journalctl -u etcd -n 1 --no-pager -o cat)"
fi
deadline=$((SECONDS + ${timeoutSeconds}))
until well ${meshAddress}; do
  [ $SECONDS -lt $deadline ] || fail "etcd finds no leader within ${timeoutSeconds} s: $(journalctl -u etcd -n 1 --no-pager -o cat)"
  sleep 0.2
done
export ETCDCTL_ENDPOINTS=${clientUrl(meshAddress)}
${AUTHENTICATION}`;
}

/** What a client may do that has no password: nothing. Idempotent, since it may have been interrupted. */
const AUTHENTICATION = `if etcdctl --command-timeout=10s get meshbench >/dev/null 2>&1; then
  printf '%s\\n' "$root" | etcdctl user add root --interactive=false >/dev/null 2>&1 || true
  etcdctl role add root >/dev/null 2>&1 || true
  etcdctl user grant-role root root >/dev/null
  printf '%s\\n' "$patroni" | etcdctl user add ${ETCD_USER} --interactive=false >/dev/null 2>&1 || true
  etcdctl role add ${ETCD_USER} >/dev/null 2>&1 || true
  etcdctl role grant-permission ${ETCD_USER} readwrite --prefix=true ${NAMESPACE} >/dev/null
  etcdctl user grant-role ${ETCD_USER} ${ETCD_USER} >/dev/null
  etcdctl auth enable >/dev/null || fail "etcd's authentication could not be switched on"
fi`;

/** On a member: takes out those that are none any more (root's password on stdin), one at a time. */
export function membersScript(meshAddress: string, members: string[], timeoutSeconds: number): string {
  return `read -r root
${ETCDCTL}
export ETCDCTL_ENDPOINTS=${clientUrl(meshAddress)}
deadline=$((SECONDS + ${timeoutSeconds}))
for id in $(listed | awk -F', ' '${members.map((m) => `$4 != "${peerUrl(m)}"`).join(" && ")} { print $1 }'); do
  until as_root member remove "$id" >/dev/null 2>&1; do
    [ $SECONDS -lt $deadline ] || { echo "$(hostname): etcd keeps the member $id: $(as_root member remove "$id" 2>&1 | tail -n 1)" >&2; exit 1; }
    sleep 1
  done
done`;
}

/** On a node that has no member, or none any more. */
export const NO_MEMBER = `if systemctl is-enabled --quiet etcd 2>/dev/null || systemctl is-active --quiet etcd; then systemctl disable --quiet --now etcd; fi
rm -rf ${ETCD_DATA} ${ETCD_INITIAL} ${ETCD_DROP_IN}
systemctl daemon-reload`;
