/** Configuration and scripts of MariaDB nodes that are a primary and its replicas. Pure. */
import type { DatabaseOf } from "../config/engines.ts";
import { baseSettings, optionFile } from "./galera-conf.ts";
import { CONF_PATH, STATUS } from "./galera-scripts.ts";
import { httpCheck } from "./http-check.ts";
import { serverId } from "./values.ts";

export type ReplicatedConfig = DatabaseOf<"mariadb/async"> | DatabaseOf<"mariadb/semi-sync">;

export const REPLICATION_USER = "replication";
/** primary or replica: what the node was last made. */
export const ROLE_FILE = "/var/lib/mysql/meshbench-role";
const SETTINGS_FILE = "/var/lib/mysql/meshbench-settings";

/**
 * Every node is read-only at its start, the primary too: one that comes back after another one was promoted takes no
 * writes. Binary logs are kept, so that a node that is added later gets its data from the primary's first one on.
 */
export function replicatedConf(
  node: { meshAddress: string; maxConnections: number },
  database: ReplicatedConfig,
): string {
  const settings: [string, string][] = [
    ...baseSettings(node),
    ["server_id", serverId(node.meshAddress)],
    ["report_host", node.meshAddress],
    ["log_bin", "mariadb-bin"],
    ["relay_log", "mariadb-relay"],
    ["log_slave_updates", "ON"],
    ["gtid_strict_mode", "ON"],
    ["expire_logs_days", "0"],
    ["read_only", "ON"],
  ];
  if (database.replication === "semi-sync") {
    const { waitPoint, timeoutMs } = database.semiSync;
    settings.push(
      ["rpl_semi_sync_master_enabled", "ON"],
      ["rpl_semi_sync_slave_enabled", "ON"],
      ["rpl_semi_sync_master_wait_point", waitPoint],
      ["rpl_semi_sync_master_timeout", String(timeoutMs)],
    );
  }
  return optionFile(settings, database.variables);
}

/** Starts the server by its file where it runs by another one, or not at all; sets what a restart has undone. */
const byFile = (timeoutSeconds: number): string => `${STATUS}
role=$(cat ${ROLE_FILE} 2>/dev/null || true)
writable() { mariadb -e "SET GLOBAL read_only = OFF"; }
start() {
  systemctl reset-failed mariadb 2>/dev/null || true
  timeout ${timeoutSeconds} systemctl restart mariadb 2>/dev/null || fail "mariadb did not start"
  deadline=$((SECONDS + ${timeoutSeconds}))
  until answers; do [ $SECONDS -lt $deadline ] || fail "mariadb does not answer within ${timeoutSeconds} s"; sleep 0.2; done
  if [ "$role" = primary ]; then writable; fi
}`;

/**
 * The first database node: begins as the primary, with the account that replicas log in by (password on stdin). One that
 * was made a replica later stays one.
 */
export function primaryScript(network: string, timeoutSeconds: number): string {
  return `read -r password
${byFile(timeoutSeconds)}
if [ -z "$role" ] || ! answers; then start; fi
if [ "$role" = replica ]; then exit 0; fi
mariadb <<SQL || fail "could not create the account of the replicas"
SET GLOBAL read_only = OFF;
CREATE USER IF NOT EXISTS '${REPLICATION_USER}'@'${network}' IDENTIFIED BY '$password';
ALTER USER '${REPLICATION_USER}'@'${network}' IDENTIFIED BY '$password';
GRANT REPLICATION SLAVE ON *.* TO '${REPLICATION_USER}'@'${network}';
SQL
echo primary > ${ROLE_FILE}`;
}

/** One value of SHOW SLAVE STATUS. */
const SLAVE = `slave() { mariadb --connect-timeout=2 -e "SHOW SLAVE STATUS\\G" 2>/dev/null | sed -n "s/^ *$1: //p" | head -n 1; }`;

/** What a replica says that can't follow: it has what the primary has not, or the primary lacks what it would need. */
const CANNOT_FOLLOW = `cannot_follow() {
  local io sql
  io=$(slave Last_IO_Errno); sql=$(slave Last_SQL_Errno)
  if [ "\${io:-0}" = 1236 ] || [ "\${sql:-0}" = 1950 ]; then
    echo "$(hostname): can't follow $(slave Master_Host): its transactions have diverged from the primary's, or the primary has no binary log back to its position ($(slave Last_IO_Error)$(slave Last_SQL_Error)); replace the node, or take its data by hand" >&2
    exit 1
  fi
  if [ "\${sql:-0}" != 0 ]; then echo "$(hostname): replication has stopped: $(slave Last_SQL_Error)" >&2; exit 1; fi
}`;

/**
 * Another node: follows the primary from its first transaction on (password on stdin), and returns when it has caught
 * up. One that was promoted meanwhile stays what it is.
 */
export function replicaScript(primary: string, timeoutSeconds: number): string {
  return `read -r password
${byFile(timeoutSeconds)}
${SLAVE}
${CANNOT_FOLLOW}
if [ -z "$role" ] || ! answers; then start; fi
if [ "$role" = primary ]; then exit 0; fi
if [ -z "$role" ]; then
  # What the package wrote for itself is no part of what the nodes share.
  mariadb <<SQL || fail "could not begin to follow ${primary}"
STOP SLAVE;
RESET MASTER;
SET GLOBAL gtid_slave_pos = '';
CHANGE MASTER TO MASTER_HOST='${primary}', MASTER_PORT=3306, MASTER_USER='${REPLICATION_USER}', MASTER_PASSWORD='$password', MASTER_USE_GTID=slave_pos, MASTER_CONNECT_RETRY=1;
START SLAVE;
SQL
  echo replica > ${ROLE_FILE}
fi
${caughtUp(timeoutSeconds)}`;
}

/** Both threads run, and all that was received is applied. */
const caughtUp = (timeoutSeconds: number): string => `deadline=$((SECONDS + ${timeoutSeconds}))
until [ "$(slave Slave_IO_Running)" = Yes ] && [ "$(slave Slave_SQL_Running)" = Yes ] && [ "$(slave Seconds_Behind_Master)" = 0 ]; do
  cannot_follow
  [ $SECONDS -lt $deadline ] || fail "not caught up with the primary within ${timeoutSeconds} s (receiving: $(slave Slave_IO_Running), applying: $(slave Slave_SQL_Running), $(slave Seconds_Behind_Master) s behind; $(slave Last_IO_Error))"
  sleep 0.2
done`;

/** Restarts a node that runs with other settings than its file, and returns when it serves in its role again. */
export function replicatedSettingsScript(settings: string, timeoutSeconds: number): string {
  return `${byFile(timeoutSeconds)}
${SLAVE}
${CANNOT_FOLLOW}
file=${SETTINGS_FILE}
if [ -s "$file" ] && [ "$(cat "$file")" != ${settings} ]; then
  echo "$(hostname): restarting with changed settings" >&2
  start
fi
echo ${settings} > "$file"
sha256sum ${CONF_PATH} | cut -c1-64 > /var/lib/mysql/meshbench-conf
if [ "$role" = replica ]; then
${caughtUp(timeoutSeconds).replace(/^/gm, "  ")}
fi`;
}

/** Only the primary makes accounts: root may write on a replica, which would then have what the primary has not. */
export const ON_PRIMARY = `[ "$(cat ${ROLE_FILE} 2>/dev/null)" = primary ] || { echo "$(hostname): is not the primary any more; expected the primary as the first database node, or accounts made by hand" >&2; exit 1; }`;

/** What a node that stands is brought back to, at the beginning of each \`up\`. */
export const STANDING = `[ -s ${ROLE_FILE} ] || exit 0
${SLAVE}
${CANNOT_FOLLOW}
answers() { mariadb --connect-timeout=2 -N -B -e "SELECT 1" >/dev/null 2>&1; }
for _ in $(seq 150); do if answers; then break; fi; sleep 0.2; done
answers || { echo "$(hostname): mariadb does not answer" >&2; exit 1; }
if [ "$(cat ${ROLE_FILE})" = primary ]; then
  if [ "$(mariadb -N -B -e 'SELECT @@global.read_only')" = 1 ]; then
    if [ -n "$(slave Master_Host)" ]; then echo "$(hostname): was the primary and follows $(slave Master_Host) now; expected either, see ${ROLE_FILE}" >&2; exit 1; fi
    mariadb -e "SET GLOBAL read_only = OFF"
    echo "$(hostname): was the primary before it was restarted, it takes writes again"
  fi
  exit 0
fi
if [ "$(slave Slave_IO_Running)" != No ] && [ "$(slave Slave_SQL_Running)" = Yes ]; then exit 0; fi
cannot_follow
echo "$(hostname): replication was stopped, starting it"
mariadb -e "START SLAVE"
for _ in $(seq 100); do
  if [ "$(slave Slave_IO_Running)" = Yes ] && [ "$(slave Slave_SQL_Running)" = Yes ]; then exit 0; fi
  cannot_follow
  sleep 0.2
done
echo "$(hostname): replication does not start: $(slave Last_IO_Error)$(slave Last_SQL_Error)" >&2
exit 1`;

/**
 * 200 for \`/primary\` where the node takes writes, for \`/replica\` where it applies what it receives, and for anything else
 * where it is either. A replica that waits for a primary that is gone still serves reads.
 */
export const ROLE_CHECK = httpCheck(
  `set -- $request
role=
case $(mariadb --connect-timeout=2 -N -B -e "SELECT @@global.read_only" 2>/dev/null) in
  0) role=primary ;;
  1)
    status=$(mariadb --connect-timeout=2 -e "SHOW SLAVE STATUS\\G" 2>/dev/null)
    if grep -q "Slave_SQL_Running: Yes" <<<"$status" && ! grep -q "Slave_IO_Running: No" <<<"$status"; then role=replica; fi
    ;;
esac
case \${2:-/} in
  /primary|/replica) wanted=\${2#/} ;;
  *) wanted=\${role:-either} ;;
esac
if [ "$role" = "$wanted" ]; then code="200 OK"; else code="503 Service Unavailable"; fi
body="\${role:-not in service}"`,
  { request: true },
);
