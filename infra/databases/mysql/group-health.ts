/** What a hurt MySQL group is asked, and what brings it back. Pure text. */
import { CONF_PATH, DATA } from "./facts.ts";
import { GROUP_STATE, MEMBERS, waitOnline } from "./group-scripts.ts";
import { SQL, waitAnswers } from "./scripts.ts";

/** Lines for parseGroup. A server in no group has no line of its own there, or an OFFLINE one. */
export const GROUP_PROBE = `if [ -s ${CONF_PATH} ]; then
  echo "mysql $(systemctl is-active mysql || true)"
  [ ! -s ${DATA}/meshbench-settings ] || echo mysql-settled
  mysql --connect-timeout=3 -N -B -e "SELECT 'member', COALESCE(MAX(CASE WHEN MEMBER_ID = @@server_uuid THEN NULLIF(MEMBER_STATE, '') END), 'OFFLINE'), IF(SUM(MEMBER_STATE IN ('ONLINE', 'RECOVERING')) * 2 > COUNT(*), 'majority', 'minority') FROM ${MEMBERS}" 2>/dev/null || true
  mysql --connect-timeout=3 -N -B -r -e "SELECT 'gtids', REPLACE(CONCAT_WS(',', NULLIF(@@GLOBAL.gtid_executed, ''), NULLIF((SELECT RECEIVED_TRANSACTION_SET FROM performance_schema.replication_connection_status WHERE CHANNEL_NAME = 'group_replication_applier'), '')), CHAR(10), '')" 2>/dev/null || true
fi`;

/** A server that is on its way up gets its time. */
const answering = (seconds: number): string => `${SQL}
${GROUP_STATE}
${waitAnswers(seconds)}`;

/** Takes a member out of a group that has no majority, or of one that it only tries to join. */
export const LEAVE_BLOCKED = `${answering(120)}
timeout 60 mysql -e "STOP GROUP_REPLICATION" 2>/dev/null || { systemctl kill --signal=KILL mysql; sleep 1; systemctl reset-failed mysql 2>/dev/null || true; timeout 120 systemctl start mysql; }
${waitAnswers(120)}`;

/** Begins the group again with this member, which has all that the others have. */
export const FOUND_AGAIN = `${answering(120)}
timeout 60 mysql -e "STOP GROUP_REPLICATION" 2>/dev/null || true
found || fail "the group could not be begun again"
${waitOnline(300)}`;

/** Back to a group that is there. */
export const REJOIN = `${answering(120)}
${waitOnline(1800)}`;
