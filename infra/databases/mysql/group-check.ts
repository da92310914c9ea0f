import { httpCheck } from "../http-check.ts";
import { CONF_PATH, DATA } from "./facts.ts";

/**
 * Says 200 only when the node is ONLINE in a group that has its majority: for \`/primary\` also that it takes writes now, for
 * \`/replica\` that it is a secondary. A member that lost the others goes on calling itself ONLINE.
 */
export const GROUP_CHECK = httpCheck(
  `state=$(mysql --connect-timeout=2 -N -B -e "SELECT CONCAT_WS(' ', MAX(CASE WHEN MEMBER_ID = @@server_uuid THEN MEMBER_STATE END), MAX(CASE WHEN MEMBER_ID = @@server_uuid THEN MEMBER_ROLE END), IF(SUM(MEMBER_STATE <> 'UNREACHABLE') * 2 > COUNT(*), 'majority', 'minority')) FROM performance_schema.replication_group_members" 2>/dev/null)
case "$request $state" in
  *" /primary "*"ONLINE PRIMARY majority" | *" /replica "*"ONLINE SECONDARY majority") code="200 OK" ;;
  *" /primary "* | *" /replica "*) code="503 Service Unavailable" ;;
  *"ONLINE "*" majority") code="200 OK" ;;
  *) code="503 Service Unavailable" ;;
esac
body="\${state:-no answer}"`,
  { request: true },
);

/**
 * `rejoined` of the engine: of a member that has others, and goes back to them by itself after a restart (group-scripts.ts
 * keeps start_on_boot with the data). One that does not run is started, which never begins a group.
 */
export const GROUP_REJOINED = `if grep -qs '^loose_group_replication_group_seeds = .*,' ${CONF_PATH} && grep -qsE '"group_replication_start_on_boot" *: *[{][^}]*"Value" *: *"ON"' ${DATA}/mysqld-auto.cnf; then
  case "$(systemctl is-active mysql || true)" in
    active) ;;
    activating | deactivating | reloading) echo "MySQL is $(systemctl is-active mysql || true)" >&2; exit 11 ;;
    *) echo "MySQL is $(systemctl is-active mysql || true) and was started" >&2; systemctl reset-failed mysql || true; systemctl start --no-block mysql || true; exit 11 ;;
  esac
  state=$(mysql --connect-timeout=2 -N -B -e "SELECT CONCAT_WS(' ', MAX(CASE WHEN MEMBER_ID = @@server_uuid THEN MEMBER_STATE END), IF(SUM(MEMBER_STATE <> 'UNREACHABLE') * 2 > COUNT(*), 'majority', 'minority')) FROM performance_schema.replication_group_members" 2>/dev/null || true)
  [ "$state" = "ONLINE majority" ] || { echo "its state is \${state:-unknown}" >&2; exit 11; }
fi`;
