/** What runs on a MySQL primary and its replicas, as pure text. */
import { CONF_PATH, DATA } from "./facts.ts";
import { CANNOT_FOLLOW, REPLICA, ROLE_FILE, WRITABLE } from "./replication-standing.ts";
import { SQL, waitAnswers } from "./scripts.ts";

/** The account that replicas log in to the primary with. */
export const REPLICATION_USER = "meshbench_replica";

/** Starts the server by its file where it runs by another one, or not at all; sets what a restart has undone. */
const byFile = (timeoutSeconds: number): string => `${SQL}
${REPLICA}
${CANNOT_FOLLOW}
${WRITABLE}
role=$(cat ${ROLE_FILE} 2>/dev/null || true)
start() {
  systemctl reset-failed mysql 2>/dev/null || true
  timeout ${timeoutSeconds} systemctl restart mysql 2>/dev/null || fail "mysql did not start"
  ${waitAnswers(timeoutSeconds).replaceAll("\n", "\n  ")}
  if [ "$role" = primary ]; then writable || fail "the primary could not be made to take writes"; fi
}`;

/** `ask HOST SQL`: another node's answer to the account of the replicas; empty where it has none. */
const ASK = `login() {
(umask 077; printf '[client]\\nuser=${REPLICATION_USER}\\npassword=%s\\n' "$password")
}
ask() { mysql --defaults-extra-file=<(login) --get-server-public-key --connect-timeout=3 -h "$1" -P 3306 -N -B -r -e "$2" 2>/dev/null || true; }`;

/** What the package wrote for itself is no part of what the nodes share. The second name is that of 8.0. */
const FORGET = `mysql -e "RESET BINARY LOGS AND GTIDS" 2>/dev/null || mysql -e "RESET MASTER" || fail "could not begin a binary log of its own"`;

/**
 * The first database node: begins as the primary, with the account that replicas log in by (password on stdin). One that
 * was made a replica later stays one. One that is new, where another node has the account and so the data, would begin an
 * empty history beside theirs, which GTIDs alone don't show the replicas.
 */
export function primaryScript(network: string, peers: string[], timeoutSeconds: number): string {
  const account = `'${REPLICATION_USER}'@'${network}'`;
  return `read -r password
${byFile(timeoutSeconds)}
${ASK}
if [ -z "$role" ]; then
  for peer in ${peers.join(" ")}; do
    if [ "$(ask "$peer" "SELECT 1")" = 1 ]; then
      echo "$(hostname): is new, and $peer has the data of the primary that was; expected the primary as the first database node: restore its data from $peer by hand, or destroy the database" >&2
      exit 1
    fi
  done
fi
if [ -z "$role" ] || ! answers; then start; fi
if [ "$role" = replica ]; then exit 0; fi
if [ -z "$role" ]; then
  ${FORGET}
fi
# The account first: without a replica yet, a commit with semi-sync on would wait for its time-out.
mysql <<SQL || fail "could not create the account of the replicas"
SET GLOBAL super_read_only = OFF; SET GLOBAL read_only = OFF;
CREATE USER IF NOT EXISTS ${account} IDENTIFIED BY '$password';
ALTER USER ${account} IDENTIFIED BY '$password';
GRANT REPLICATION SLAVE ON *.* TO ${account};
SQL
writable || fail "the primary could not be made to take writes"
echo primary > ${ROLE_FILE}`;
}

/**
 * Another node: follows the primary from its first transaction on (password on stdin), and returns when it has caught
 * up. One that was promoted meanwhile stays what it is.
 */
export function replicaScript(primary: string, timeoutSeconds: number): string {
  return `read -r password
${byFile(120)}
${ASK}
if [ -z "$role" ] || ! answers; then start; fi
if [ "$role" = primary ]; then exit 0; fi
if [ -z "$role" ]; then
  mysql -e "STOP REPLICA; RESET REPLICA ALL" || fail "could not begin to follow ${primary}"
  ${FORGET}
  mysql <<SQL || fail "could not begin to follow ${primary}"
CHANGE REPLICATION SOURCE TO SOURCE_HOST='${primary}', SOURCE_PORT=3306, SOURCE_USER='${REPLICATION_USER}', SOURCE_PASSWORD='$password', SOURCE_AUTO_POSITION=1, GET_SOURCE_PUBLIC_KEY=1, SOURCE_CONNECT_RETRY=1, SOURCE_RETRY_COUNT=0;
START REPLICA;
SQL
  echo replica > ${ROLE_FILE}
fi
# What has not been received yet counts as no lag: all that the primary has by now has to be here.
target=$(ask ${primary} "SELECT REPLACE(@@GLOBAL.gtid_executed, CHAR(10), '')")
deadline=$((SECONDS + ${timeoutSeconds}))
until [ -z "$target" ] || [ "$(sql "SELECT GTID_SUBSET('$target', @@GLOBAL.gtid_executed)")" = 1 ]; do
  cannot_follow
  [ $SECONDS -lt $deadline ] || fail "has $(sql "SELECT @@GLOBAL.gtid_executed") of the primary's $target after ${timeoutSeconds} s; $(replica Last_IO_Error)"
  sleep 0.2
done
${caughtUp(timeoutSeconds)}`;
}

/** Both threads run, and all that was received is applied. */
const caughtUp = (timeoutSeconds: number): string => `deadline=$((SECONDS + ${timeoutSeconds}))
until [ "$(replica Replica_IO_Running)" = Yes ] && [ "$(replica Replica_SQL_Running)" = Yes ] && [ "$(replica Seconds_Behind_Source)" = 0 ]; do
  cannot_follow
  [ $SECONDS -lt $deadline ] || fail "not caught up with the primary within ${timeoutSeconds} s (receiving: $(replica Replica_IO_Running), applying: $(replica Replica_SQL_Running), $(replica Seconds_Behind_Source) s behind; $(replica Last_IO_Error))"
  sleep 0.2
done`;

/** Restarts a node that runs with other settings than its file, and returns when it serves in its role again. */
export function settingsScript(settings: string, timeoutSeconds: number): string {
  return `${byFile(120)}
file=${DATA}/meshbench-settings
if [ -s "$file" ] && [ "$(cat "$file")" != ${settings} ]; then
  echo "$(hostname): restarting with changed settings" >&2
  start
fi
echo ${settings} > "$file"
sha256sum ${CONF_PATH} | cut -c1-64 > ${DATA}/meshbench-conf
if [ "$role" = replica ]; then
${caughtUp(timeoutSeconds).replace(/^/gm, "  ")}
fi`;
}

/**
 * Goes before the account's script: only the primary makes accounts, and with semi-sync, \`replicas\` of them acknowledge
 * before anything is measured.
 */
export function onPrimary(replicas: number, semiSync: boolean, timeoutSeconds: number): string {
  const alone = `[ "$(cat ${ROLE_FILE} 2>/dev/null)" = primary ] || { echo "$(hostname): is not the primary any more; expected the primary as the first database node, or accounts made by hand" >&2; exit 1; }`;
  if (!semiSync) return alone;
  return `${alone}
clients() { mysql --connect-timeout=2 -N -B -e "SHOW GLOBAL STATUS LIKE 'Rpl_semi_sync_source_clients'" 2>/dev/null | cut -f2; }
deadline=$((SECONDS + ${timeoutSeconds}))
until [ "$(clients)" = ${replicas} ]; do
  [ $SECONDS -lt $deadline ] || { echo "$(hostname): $(clients) of ${replicas} replicas acknowledge commits after ${timeoutSeconds} s" >&2; exit 1; }
  sleep 0.2
done`;
}
