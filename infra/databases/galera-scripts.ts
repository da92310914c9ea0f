/** What runs on a database node, as pure text. */
import { ensurePackages } from "../packages.ts";
import { AFTER_MESH, LAST_WORDS, writeFile } from "../scripts.ts";

export const CONF_PATH = "/etc/mysql/mariadb.conf.d/99-meshbench.cnf";

/** A status variable's value; empty while the server does not answer. */
export const STATUS = `status() { mariadb --connect-timeout=2 -N -B -e "SHOW GLOBAL STATUS LIKE '$1'" 2>/dev/null | cut -f2 || true; }
${LAST_WORDS}
answers() { mariadb --connect-timeout=2 -N -B -e "SELECT 1" >/dev/null 2>&1; }
# The sentence first, with the server's own reason: it is what a summary shows.
fail() {
  why=$(last_words mariadb 60 | sed -n 's/^.*\\[ERROR\\] //p' | grep -v Aborting | tail -n 1 || true)
  echo "$(hostname): $*\${why:+: $why}" >&2
  last_words mariadb 15 >&2
  exit 1
}`;

/**
 * Packages and configuration; without a state transfer's method, of a server alone. Never restarts a server: what changed is taken up by the settings step, one node at a
 * time.
 */
export function configureScript(conf: string, sstMethod?: "rsync" | "mariabackup"): string {
  const packages = [
    "mariadb-server",
    ...(sstMethod === undefined ? [] : ["galera-4", "rsync"]),
    ...(sstMethod === "mariabackup" ? ["mariadb-backup", "socat"] : []),
  ];
  return `changed=0
${ensurePackages(packages)}
# Socket activation, which a chroot install enables, would hold the port that the server wants.
systemctl disable --quiet --now mariadb.socket mariadb-extra.socket 2>/dev/null || true
${writeFile("/etc/systemd/system/mariadb.service.d/10-meshbench.conf", AFTER_MESH)}
[ "$changed" = 0 ] || systemctl daemon-reload
${writeFile(CONF_PATH, conf)}
systemctl enable --quiet mariadb`;
}

/**
 * Starts a standalone server, or restarts one that runs with another configuration than its file. `settings` names the
 * configuration, so that another one runs the step again.
 */
export function standaloneScript(settings: string, timeoutSeconds: number): string {
  return `# settings ${settings}
${STATUS}
now=$(sha256sum ${CONF_PATH} | cut -c1-64)
[ "$(cat /var/lib/mysql/meshbench-conf 2>/dev/null)" = "$now" ] && systemctl is-active --quiet mariadb || systemctl restart mariadb 2>/dev/null || fail "mariadb did not start"
echo "$now" > /var/lib/mysql/meshbench-conf
deadline=$((SECONDS + ${timeoutSeconds}))
until answers; do [ $SECONDS -lt $deadline ] || fail "mariadb does not answer within ${timeoutSeconds} s"; sleep 0.2; done`;
}

/** What members say to each other: writesets, incremental and whole state transfers. */
const PORTS = [4567, 4568, 4444];
/** A lost packet of a handshake is sent again after 1, 3 and 7 seconds. */
const PORT_SECONDS = 8;

/**
 * Fails with one sentence when a peer answers pings and a port of the cluster is closed to this node by something in
 * between: a refusal comes from the peer itself, a firewall drops the packet or says that there is no way.
 */
export function portsScript(peers: string[]): string {
  return `try_port() {
  local said code=0
  ping -n -q -c 2 -i 0.2 -W 3 "$1" >/dev/null 2>&1 || return 0
  said=$(LC_ALL=C timeout ${PORT_SECONDS} bash -c "</dev/tcp/$1/$2" 2>&1) || code=$?
  if [ $code = 0 ] || grep -q refused <<<"$said"; then return 0; fi
  echo "database: $1 answers pings of $(hostname), but its TCP port $2 does not; Galera needs ${PORTS.join(", ")} open between all database nodes (is there a firewall?)" >&2
  return 1
}
tries=()
for peer in ${peers.join(" ")}; do
  for port in ${PORTS.join(" ")}; do try_port "$peer" "$port" & tries+=($!); done
done
for try in \${tries[@]+"\${tries[@]}"}; do wait "$try" || exit 1; done`;
}

/**
 * Starts the server and returns when the node stands in the primary component, its state transfer still to come. A new
 * cluster is founded only by the node that is told so, only when it never was a member of one, and only when no peer is
 * up:
 * a replaced first node joins what is there, and a restarted one goes back by its own state.
 *
 * Nodes come in one after the other. Of two that knock at the same moment, gcomm takes one in and finds the other half
 * known: seen with galera-4 26.4.23, the component then splits for seconds, and a donor whose transfer ends meanwhile
 * stays Donor/Desynced for good ("sst sent called when not SST donor").
 */
export function enterScript(member: { founder: boolean; peers: string[]; timeoutSeconds: number }): string {
  return `${STATUS}
was_member() { ! grep -Eq '^safe_to_bootstrap: *1' /var/lib/mysql/grastate.dat 2>/dev/null && grep -Eq '^uuid: *[0-9a-f-]*[1-9a-f]' /var/lib/mysql/grastate.dat 2>/dev/null; }
peer_up() {
  for peer in ${member.peers.join(" ") || '""'}; do
    [ -n "$peer" ] && timeout 2 bash -c "</dev/tcp/$peer/4567" 2>/dev/null && return 0
  done
  return 1
}
# A peer that is not started refuses as a firewall does that rejects: which one, nobody can tell from here.
refusing() {
  local peer said
  for peer in ${member.peers.join(" ") || '""'}; do
    [ -n "$peer" ] && ping -n -q -c 2 -i 0.2 -W 3 "$peer" >/dev/null 2>&1 || continue
    said=$(LC_ALL=C timeout 3 bash -c "</dev/tcp/$peer/${PORTS[0]}" 2>&1) || true
    if grep -q refused <<<"$said"; then
      printf '; TCP port ${PORTS[0]} of %s, which answers pings, refuses: no server runs there, or a firewall rejects it' "$peer"
    fi
  done
}
# A server that the package started by itself stands alone and is no member yet.
if answers && [ -z "$(status wsrep_cluster_state_uuid)" ]; then systemctl stop mariadb; fi
if ! systemctl is-active --quiet mariadb; then
${portsScript(member.peers).replace(/^/gm, "  ")}
  systemctl reset-failed mariadb 2>/dev/null || true
  if ${member.founder ? "! was_member && ! peer_up" : "false"}; then
    echo "$(hostname): founding the cluster" >&2
    galera_new_cluster 2>/dev/null || fail "the first node did not start"
  else
    systemctl start --no-block mariadb
  fi
fi
sha256sum ${CONF_PATH} | cut -c1-64 > /var/lib/mysql/meshbench-conf
# The script that receives the state is started once the node is in; a server that answers had nothing to receive.
deadline=$((SECONDS + ${member.timeoutSeconds}))
until answers || pgrep -f '[w]srep_sst_[a-z0-9]+ .*joiner' >/dev/null; do
  if systemctl is-failed --quiet mariadb; then fail "mariadb stopped while it was joining$(refusing)"; fi
  [ $SECONDS -lt $deadline ] || fail "not in the primary component within ${member.timeoutSeconds} s$(refusing)"
  sleep 0.1
done`;
}

/** Returns when the node is a full member, its state transfer done. */
export function memberScript(timeoutSeconds: number): string {
  return `${STATUS}
${waitSynced(timeoutSeconds)}`;
}

/** How long a server may stand in a state that it never leaves by itself before it is restarted. */
const STUCK_SECONDS = 10;
/** A state transfer that fails as often does so for a reason that a restart does not remove. */
const RESTARTS = 3;

/**
 * Two states last until the server is restarted. A transfer that ended while its donor was outside the primary component
 * leaves the donor Donor/Desynced and not ready. A server that gives up its membership, such as a joiner whose
 * incremental transfer broke off ("node restart required") or a member that voted inconsistent, goes on running
 * Disconnected.
 */
function waitSynced(timeoutSeconds: number): string {
  return `stuck() {
  pgrep -f '[w]srep_sst_' >/dev/null && return 1
  if [ "$(status wsrep_local_state_comment)" = Donor/Desynced ] && [ "$(status wsrep_ready)" = OFF ]; then
    what="a state transfer ended while this donor was cut off from the primary component"
  elif [ "$(status wsrep_cluster_status)" = Disconnected ] && [ "$(status wsrep_connected)" = OFF ]; then
    what="the server left the cluster and goes on alone"
  else return 1; fi
}
deadline=$((SECONDS + ${timeoutSeconds})); since=; restarts=0
until [ "$(status wsrep_local_state_comment)" = Synced ] && [ "$(status wsrep_ready)" = ON ]; do
  if systemctl is-failed --quiet mariadb; then fail "mariadb stopped while it was joining"; fi
  [ $SECONDS -lt $deadline ] || fail "not Synced within ${timeoutSeconds} s, but '$(status wsrep_local_state_comment)' in a $(status wsrep_cluster_status) component of $(status wsrep_cluster_size)"
  if stuck; then
    since=\${since:-$SECONDS}
    if [ $((SECONDS - since)) -ge ${STUCK_SECONDS} ]; then
      [ $restarts -lt ${RESTARTS} ] || fail "$what, also after $restarts restarts"
      restarts=$((restarts + 1))
      echo "$(hostname): $what; restarting it, which brings it back" >&2
      timeout 120 systemctl restart mariadb 2>/dev/null || fail "mariadb did not start again"
      since=
    fi
  else since=; fi
  sleep 0.2
done`;
}

/**
 * Restarts a member that runs with other settings than its file; the address list alone is no reason, it counts at the
 * next start.
 */
export function settingsScript(fingerprint: string, timeoutSeconds: number): string {
  return `${STATUS}
file=/var/lib/mysql/meshbench-settings
if [ -s "$file" ] && [ "$(cat "$file")" != ${fingerprint} ]; then
  echo "$(hostname): restarting with changed settings" >&2
  systemctl restart mariadb 2>/dev/null || fail "mariadb did not start with the changed settings"
fi
echo ${fingerprint} > "$file"
${waitSynced(timeoutSeconds)}`;
}

/**
 * Waits for the expected size, makes database and user (password on stdin, never in an argument), prints the facts as
 * JSON.
 */
export function readyScript(expected: {
  size: number;
  user: string;
  database: string;
  network: string;
  galera: boolean;
  timeoutSeconds: number;
}): string {
  const account = `'${expected.user}'@'${expected.network}'`;
  const sizeWait = expected.galera
    ? `deadline=$((SECONDS + ${expected.timeoutSeconds}))
until [ "$(status wsrep_cluster_size)" = ${expected.size} ]; do
  [ $SECONDS -lt $deadline ] || fail "the cluster has $(status wsrep_cluster_size) of ${expected.size} members after ${expected.timeoutSeconds} s"
  sleep 0.2
done`
    : "";
  return `${STATUS}
read -r password
${sizeWait}
mariadb <<SQL || fail "could not create the load's account"
CREATE DATABASE IF NOT EXISTS ${expected.database};
CREATE USER IF NOT EXISTS ${account} IDENTIFIED BY '$password';
ALTER USER ${account} IDENTIFIED BY '$password';
GRANT ALL ON ${expected.database}.* TO ${account};
GRANT PROCESS, RELOAD, REPLICATION CLIENT ON *.* TO ${account};
SQL
printf '{"version":"%s","provider":"%s","clusterUuid":"%s","size":%s}\\n' \\
  "$(mariadb -N -B -e 'SELECT VERSION()')" "$(status wsrep_provider_version)" "$(status wsrep_cluster_state_uuid)" "$(status wsrep_cluster_size | grep . || echo 1)"`;
}

/** Before the joiners come: the account through which a donor takes its backup. */
export const SST_ACCOUNT_SCRIPT = `mariadb <<'SQL'
CREATE USER IF NOT EXISTS 'mysql'@'localhost' IDENTIFIED VIA unix_socket;
GRANT RELOAD, PROCESS, LOCK TABLES, BINLOG MONITOR ON *.* TO 'mysql'@'localhost';
SQL`;
