import { httpCheck } from "../http-check.ts";

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
