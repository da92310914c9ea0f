/**
 * Says 200 only when the node is ONLINE in a group that has its majority: for \`/primary\` also that it takes writes now, for
 * \`/replica\` that it is a secondary. A member that lost the others goes on calling itself ONLINE.
 */
export const GROUP_CHECK = `#!/bin/bash
# One request on stdin, one answer on stdout; started by systemd for each connection.
# The request is read to its end: what is left unread when the connection closes would reset it, and the answer with it.
IFS= read -r -t 2 request
while IFS= read -r -t 2 line && [ -n "\${line%$'\\r'}" ]; do :; done
state=$(mysql --connect-timeout=2 -N -B -e "SELECT CONCAT_WS(' ', MAX(CASE WHEN MEMBER_ID = @@server_uuid THEN MEMBER_STATE END), MAX(CASE WHEN MEMBER_ID = @@server_uuid THEN MEMBER_ROLE END), IF(SUM(MEMBER_STATE <> 'UNREACHABLE') * 2 > COUNT(*), 'majority', 'minority')) FROM performance_schema.replication_group_members" 2>/dev/null)
case "$request $state" in
  *" /primary "*"ONLINE PRIMARY majority" | *" /replica "*"ONLINE SECONDARY majority") code="200 OK" ;;
  *" /primary "* | *" /replica "*) code="503 Service Unavailable" ;;
  *"ONLINE "*" majority") code="200 OK" ;;
  *) code="503 Service Unavailable" ;;
esac
body="\${state:-no answer}"
printf 'HTTP/1.0 %s\\r\\nContent-Type: text/plain\\r\\nContent-Length: %d\\r\\nConnection: close\\r\\n\\r\\n%s' "$code" "\${#body}" "$body"
`;
