/** What a standing MySQL primary and its replicas are asked, and brought back to. Pure text. */
import { httpCheck } from "../http-check.ts";
import { DATA } from "./facts.ts";

/** primary or replica: what the node was last made. */
export const ROLE_FILE = `${DATA}/meshbench-role`;

/** One value of SHOW REPLICA STATUS. The client of 9.7 refuses \G with -e: the option stands for it. */
export const REPLICA = `replica() { mysql --connect-timeout=2 -E -e "SHOW REPLICA STATUS" 2>/dev/null | sed -n "s/^ *$1: //p" | head -n 1 || true; }`;

/** Takes writes; where semi-sync is loaded, its primary's half is on before. */
export const WRITABLE = `semi_sync() { mysql --connect-timeout=2 -N -B -e "SELECT VARIABLE_VALUE FROM performance_schema.global_variables WHERE VARIABLE_NAME = 'rpl_semi_sync_source_enabled'" 2>/dev/null; }
writable() {
  if [ -n "$(semi_sync)" ]; then mysql -e "SET GLOBAL rpl_semi_sync_source_enabled = ON"; fi
  mysql -e "SET GLOBAL super_read_only = OFF; SET GLOBAL read_only = OFF"
}`;

/**
 * What a replica says that can't follow: it has what the primary has not, or the primary lacks what it would need. 13114
 * wraps what the primary reports as 1236.
 */
export const CANNOT_FOLLOW = `cannot_follow() {
  local io sql
  io=$(replica Last_IO_Errno); sql=$(replica Last_SQL_Errno)
  if [ "\${io:-0}" = 1236 ] || [ "\${io:-0}" = 13114 ]; then
    echo "$(hostname): can't follow $(replica Source_Host): its transactions have diverged from the primary's, or the primary has no binary log back to its position ($(replica Last_IO_Error)); replace the node, or take its data by hand" >&2
    exit 1
  fi
  if [ "\${sql:-0}" != 0 ]; then echo "$(hostname): replication has stopped: $(replica Last_SQL_Error)" >&2; exit 1; fi
}`;

/** What a node that stands is brought back to, at the beginning of each \`up\`. */
export const STANDING = `[ -s ${ROLE_FILE} ] || exit 0
${REPLICA}
${CANNOT_FOLLOW}
${WRITABLE}
answers() { mysql --connect-timeout=2 -N -B -e "SELECT 1" >/dev/null 2>&1; }
for _ in $(seq 150); do if answers; then break; fi; sleep 0.2; done
answers || { echo "$(hostname): mysql does not answer" >&2; exit 1; }
if [ "$(cat ${ROLE_FILE})" = primary ]; then
  if [ "$(mysql -N -B -e 'SELECT @@global.read_only')" = 1 ]; then
    if [ -n "$(replica Source_Host)" ]; then echo "$(hostname): was the primary and follows $(replica Source_Host) now; expected either, see ${ROLE_FILE}" >&2; exit 1; fi
    writable
    echo "$(hostname): was the primary before it was restarted, it takes writes again"
  elif [ "$(semi_sync)" = OFF ]; then
    writable
    echo "$(hostname): commits did not wait for a replica, semi-sync is on again"
  fi
  exit 0
fi
if [ "$(replica Replica_IO_Running)" != No ] && [ "$(replica Replica_SQL_Running)" = Yes ]; then exit 0; fi
cannot_follow
echo "$(hostname): replication was stopped, starting it"
mysql -e "START REPLICA"
for _ in $(seq 100); do
  if [ "$(replica Replica_IO_Running)" = Yes ] && [ "$(replica Replica_SQL_Running)" = Yes ]; then exit 0; fi
  cannot_follow
  sleep 0.2
done
echo "$(hostname): replication does not start: $(replica Last_IO_Error)$(replica Last_SQL_Error)" >&2
exit 1`;

/**
 * `rejoined` of the engine: of a replica that applies what it receives, and of the primary that takes writes again, which it
 * is told to here where it follows nobody. A server that does not run is started.
 */
export const REPLICATION_REJOINED = `if [ -s ${ROLE_FILE} ]; then
  ${REPLICA}
  ${WRITABLE.replaceAll("\n", "\n  ")}
  case "$(systemctl is-active mysql || true)" in
    active) ;;
    activating | deactivating | reloading) echo "MySQL is $(systemctl is-active mysql || true)" >&2; exit 11 ;;
    *) echo "MySQL is $(systemctl is-active mysql || true) and was started" >&2; systemctl reset-failed mysql || true; systemctl start --no-block mysql || true; exit 11 ;;
  esac
  read_only=$(mysql --connect-timeout=2 -N -B -e "SELECT @@global.read_only" 2>/dev/null || true)
  if [ "$(cat ${ROLE_FILE})" = primary ]; then
    if [ "$read_only" = 1 ] && [ -z "$(replica Source_Host)" ]; then writable 2>/dev/null || true; read_only=$(mysql --connect-timeout=2 -N -B -e "SELECT @@global.read_only" 2>/dev/null || true); fi
    [ "$read_only" = 0 ] || { echo "it was the primary and takes no writes" >&2; exit 11; }
  else
    io=$(replica Replica_IO_Running); applying=$(replica Replica_SQL_Running)
    [ "$io $applying" = "Yes Yes" ] || { echo "receiving: \${io:-unknown}, applying: \${applying:-unknown}" >&2; exit 11; }
  fi
fi`;

/**
 * 200 for \`/primary\` where the node takes writes, for \`/replica\` where it applies what it receives, and for anything else
 * where it is either. A replica that waits for a primary that is gone still serves reads.
 */
export const ROLE_CHECK = httpCheck(
  `set -- $request
role=
case $(mysql --connect-timeout=2 -N -B -e "SELECT @@global.read_only" 2>/dev/null) in
  0) role=primary ;;
  1)
    status=$(mysql --connect-timeout=2 -E -e "SHOW REPLICA STATUS" 2>/dev/null)
    if grep -q "Replica_SQL_Running: Yes" <<<"$status" && ! grep -q "Replica_IO_Running: No" <<<"$status"; then role=replica; fi
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
