/** What runs on a member of a MySQL group, as pure text. */
import { CONF_PATH, DATA } from "./facts.ts";
import { type Account, accountSql, SQL, startByFile, waitAnswers } from "./scripts.ts";

/** The account that members log in to each other with. */
export const RECOVERY_USER = "meshbench_group";

export const MEMBERS = "performance_schema.replication_group_members";

/** What the group says of this very server, and how many members this server can reach. */
export const GROUP_STATE = `member() { sql "SELECT MEMBER_STATE FROM ${MEMBERS} WHERE MEMBER_ID = @@server_uuid"; }
role() { sql "SELECT MEMBER_ROLE FROM ${MEMBERS} WHERE MEMBER_ID = @@server_uuid AND MEMBER_STATE = 'ONLINE'"; }
online() { sql "SELECT COUNT(*) FROM ${MEMBERS} WHERE MEMBER_STATE = 'ONLINE'"; }
# Begins a group with this member alone. The switch must not stay on: the next start would begin another group.
found() {
  local code=0
  mysql -e "SET GLOBAL group_replication_bootstrap_group = ON; START GROUP_REPLICATION" || code=$?
  mysql -e "SET GLOBAL group_replication_bootstrap_group = OFF"
  return $code
}`;

/** Says that the first node is to found the group again: it was the last to leave it, and has all that there is. */
const AGAIN = `${DATA}/meshbench-found-again`;

/**
 * Leaves the group when its own settings have changed; the first node leaves last. The server then runs with its new file, and
 * comes back by the entering step. Not done to a group that is not whole: the look says what to do with that.
 */
export function leaveScript(first: boolean, shape: string, timeoutSeconds: number): string {
  return `${SQL}
${GROUP_STATE}
file=${DATA}/meshbench-shape
if [ -s "$file" ] && [ "$(cat "$file")" != ${shape} ]; then
  echo "$(hostname): leaving the group, whose own settings have changed" >&2
  [ "$(member)" = ONLINE ] || fail "not ONLINE in the group, which is to be founded again with other settings"
${
  first
    ? `  deadline=$((SECONDS + ${timeoutSeconds}))
  until [ "$(online)" = 1 ]; do
    [ $SECONDS -lt $deadline ] || fail "$(online) members are still in the group, which is to be founded again"
    sleep 0.2
  done
  touch ${AGAIN}
`
    : ""
}  mysql -e "SET PERSIST group_replication_start_on_boot = OFF; STOP GROUP_REPLICATION" || fail "could not leave the group"
  timeout 300 systemctl restart mysql 2>/dev/null || fail "mysql did not start with the changed settings"
  ${waitAnswers(120).replaceAll("\n", "\n  ")}
  sha256sum ${CONF_PATH} | cut -c1-64 > ${DATA}/meshbench-conf
fi
if [ -d ${DATA} ]; then echo ${shape} > "$file"; fi`;
}

export interface GroupMember {
  founder: boolean;
  groupName: string;
  /** Mesh addresses of the others. */
  peers: string[];
  /** As MySQL writes a network: 10.99.0.% */
  network: string;
  /** Names the group's own settings, so that others run the step again. */
  shape: string;
  timeoutSeconds: number;
}

/** Waits until this server is ONLINE; a member that is left out of its group is told to join it again. */
export const waitOnline = (timeoutSeconds: number): string => `deadline=$((SECONDS + ${timeoutSeconds})); tried=$SECONDS
until [ "$(member)" = ONLINE ]; do
  if systemctl is-failed --quiet mysql; then fail "mysql stopped while it was joining the group"; fi
  [ $SECONDS -lt $deadline ] || fail "not ONLINE in the group within ${timeoutSeconds} s, but '$(member)'"
  case "$(member)" in RECOVERING) ;; *)
    if answers && [ $((SECONDS - tried)) -ge 5 ]; then tried=$SECONDS; mysql -e "START GROUP_REPLICATION" 2>/dev/null || true; fi ;;
  esac
  sleep 0.3
done`;

/**
 * Starts the server and returns when it is ONLINE in its group; members come in one after the other, since of two that knock
 * at the same moment each finds the other half known. stdin: the recovery account's password.
 *
 * A new group is begun only by the node that is told so, only when it never was in one, and only when no peer is: a replaced
 * first node joins what is there. A former member whose group is gone is the look's own work.
 */
export function enterScript({ founder, groupName, peers, network, shape, timeoutSeconds }: GroupMember): string {
  const account = `'${RECOVERY_USER}'@'${network}'`;
  return `# settings of the group ${shape}
read -r password
${SQL}
${GROUP_STATE}
now=$(sha256sum ${CONF_PATH} | cut -c1-64)
if [ "$(member)" != ONLINE ]; then
  # A server that the package started by itself, or with another file, stands alone and is no member yet.
  ${startByFile(120).replaceAll("\n", "\n  ")}
  was_member() { [ "$(sql "SELECT @@GLOBAL.gtid_executed LIKE '%${groupName}:%'")" = 1 ]; }
  if ! was_member; then
    # Known here and not written down in the binary log: a transaction of its own would keep the server out of the group.
    mysql <<SQL || fail "could not create the group's account"
SET GLOBAL super_read_only = OFF; SET GLOBAL read_only = OFF;
SET SESSION sql_log_bin = 0;
CREATE USER IF NOT EXISTS ${account} IDENTIFIED BY '$password';
ALTER USER ${account} IDENTIFIED BY '$password';
GRANT REPLICATION SLAVE, CONNECTION_ADMIN, BACKUP_ADMIN, GROUP_REPLICATION_STREAM ON *.* TO ${account};
GRANT SELECT ON ${MEMBERS} TO ${account};
SET SESSION sql_log_bin = 1;
SQL
    mysql <<SQL || fail "could not set the group's account"
CHANGE REPLICATION SOURCE TO SOURCE_USER = '${RECOVERY_USER}', SOURCE_PASSWORD = '$password' FOR CHANNEL 'group_replication_recovery';
SQL
  fi
  # From here on a restarted server goes back by itself, also after a whole state has been copied to it.
  mysql -e "SET PERSIST group_replication_start_on_boot = ON" || fail "could not keep group_replication_start_on_boot"
  login() {
(umask 077; printf '[client]\\nuser=${RECOVERY_USER}\\npassword=%s\\n' "$password")
  }
  ask() {
    mysql --defaults-extra-file=<(login) --get-server-public-key --connect-timeout=3 -h "$1" -P 3306 -N -B \\
      -e "SELECT COUNT(*) FROM ${MEMBERS} WHERE MEMBER_STATE = 'ONLINE'" 2>/dev/null || echo 0
  }
  peer_in_group() {
    for peer in ${peers.join(" ") || '""'}; do
      if [ -n "$peer" ] && [ "$(ask "$peer")" != 0 ]; then return 0; fi
    done
    return 1
  }
  if ${founder ? `{ ! was_member || [ -e ${AGAIN} ]; } && ! peer_in_group` : "false"}; then
    echo "$(hostname): founding the group" >&2
    found || fail "the first member did not found the group"
    rm -f ${AGAIN}
  elif [ "$(member)" != RECOVERING ]; then
    mysql -e "START GROUP_REPLICATION" 2>/dev/null || true
  fi
fi
${waitOnline(timeoutSeconds)}`;
}

/**
 * Restarts a member that runs with other settings than its file, after the primary's part has been given to another member;
 * the list of members alone is no reason, it is taken up as it is.
 */
export function settingsScript(fingerprint: string, seeds: string[], timeoutSeconds: number): string {
  return `${SQL}
${GROUP_STATE}
file=${DATA}/meshbench-settings
if [ -s "$file" ] && [ "$(cat "$file")" != ${fingerprint} ]; then
  if [ "$(sql 'SELECT @@group_replication_single_primary_mode')" = 1 ] && [ "$(role)" = PRIMARY ]; then
    other=$(sql "SELECT MEMBER_ID FROM ${MEMBERS} WHERE MEMBER_STATE = 'ONLINE' AND MEMBER_ROLE = 'SECONDARY' ORDER BY MEMBER_HOST LIMIT 1")
    [ -z "$other" ] || mysql -N -B -e "SELECT group_replication_set_as_primary('$other')" >&2 || fail "the primary's part could not be given to another member"
  fi
  echo "$(hostname): restarting with changed settings" >&2
  alone=$([ "$(online)" = 1 ] && echo 1 || echo 0)
  timeout 300 systemctl restart mysql 2>/dev/null || fail "mysql did not start with the changed settings"
  ${waitAnswers(120).replaceAll("\n", "\n  ")}
  # A group of one ends with its member's server.
  if [ $alone = 1 ] && [ "$(member)" != ONLINE ]; then
    mysql -e "STOP GROUP_REPLICATION" 2>/dev/null || true
    found || fail "the only member did not found its group again"
  fi
fi
${waitOnline(timeoutSeconds)}
mysql -e "SET GLOBAL group_replication_group_seeds = '${seeds.join(",")}'" || fail "could not tell the member who the others are"
echo ${fingerprint} > "$file"
sha256sum ${CONF_PATH} | cut -c1-64 > ${DATA}/meshbench-conf`;
}

/**
 * Waits until all are ONLINE, gives the primary's part to this node, makes the load's account (password on stdin), and prints
 * the facts as JSON. \`settings\` runs it again after members have been restarted.
 */
export function groupReadyScript(expected: {
  account: Account;
  members: string[];
  single: boolean;
  settings: string;
  timeoutSeconds: number;
}): string {
  const list = expected.members.map((address) => `'${address}'`).join(", ");
  return `# settings ${expected.settings}
read -r password
${SQL}
${GROUP_STATE}
all_online() { sql "SELECT COUNT(*) FROM ${MEMBERS} WHERE MEMBER_STATE = 'ONLINE' AND MEMBER_HOST IN (${list})"; }
deadline=$((SECONDS + ${expected.timeoutSeconds}))
until [ "$(all_online)" = ${expected.members.length} ]; do
  [ $SECONDS -lt $deadline ] || fail "$(all_online) of ${expected.members.length} members are ONLINE in the group after ${expected.timeoutSeconds} s"
  sleep 0.2
done
${
  expected.single
    ? `if [ "$(role)" != PRIMARY ]; then
  mysql -N -B -e "SELECT group_replication_set_as_primary(@@server_uuid)" >&2 || fail "this node could not become the group's primary"
fi
`
    : ""
}mysql <<SQL || fail "could not create the load's account"
${accountSql(expected.account)}
SQL
printf '{"version":"%s","clusterUuid":"%s","size":%s}\\n' "$(sql 'SELECT VERSION()')" "$(sql 'SELECT @@group_replication_group_name')" "$(online)"`;
}
