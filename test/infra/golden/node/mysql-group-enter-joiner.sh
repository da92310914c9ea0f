# settings of the group fedcba9876543210
read -r password
sql() { mysql --connect-timeout=2 -N -B -e "$1" 2>/dev/null || true; }
last_words() {
  local id; id=$(systemctl show --property=InvocationID --value "$1" 2>/dev/null || true)
  if [ -n "$id" ]; then journalctl "_SYSTEMD_INVOCATION_ID=$id" + "INVOCATION_ID=$id" -n "$2" --no-pager -o cat 2>/dev/null || true
  else journalctl -u "$1" -n "$2" --no-pager -o cat 2>/dev/null || true; fi
}
answers() { mysql --connect-timeout=2 -N -B -e "SELECT 1" >/dev/null 2>&1; }
fail() {
  why=$(grep -h '\[ERROR\]' /var/log/mysql/error.log /var/lib/mysql/error.log 2>/dev/null | tail -n 1 | sed 's/^.*\[Server\] //;s/^.*\[Repl\] //' || true)
  echo "$(hostname): $*${why:+: $why}" >&2
  last_words mysql 15 >&2
  exit 1
}
member() { sql "SELECT MEMBER_STATE FROM performance_schema.replication_group_members WHERE MEMBER_ID = @@server_uuid"; }
role() { sql "SELECT MEMBER_ROLE FROM performance_schema.replication_group_members WHERE MEMBER_ID = @@server_uuid AND MEMBER_STATE = 'ONLINE'"; }
online() { sql "SELECT COUNT(*) FROM performance_schema.replication_group_members WHERE MEMBER_STATE = 'ONLINE'"; }
# Begins a group with this member alone. The switch must not stay on: the next start would begin another group.
found() {
  local code=0
  mysql -e "SET GLOBAL group_replication_bootstrap_group = ON; START GROUP_REPLICATION" || code=$?
  mysql -e "SET GLOBAL group_replication_bootstrap_group = OFF"
  return $code
}
now=$(sha256sum /etc/mysql/mysql.conf.d/zz-meshbench.cnf | cut -c1-64)
if [ "$(member)" != ONLINE ]; then
  # A server that the package started by itself, or with another file, stands alone and is no member yet.
  if [ "$(cat /var/lib/mysql/meshbench-conf 2>/dev/null)" != "$now" ] || ! systemctl is-active --quiet mysql; then
    systemctl reset-failed mysql 2>/dev/null || true
    timeout 120 systemctl restart mysql 2>/dev/null || fail "mysql did not start"
  fi
  deadline=$((SECONDS + 120))
  until answers; do
    if systemctl is-failed --quiet mysql; then fail "mysql does not start"; fi
    [ $SECONDS -lt $deadline ] || fail "mysql does not answer within 120 s"
    sleep 0.2
  done
  echo "$now" > /var/lib/mysql/meshbench-conf
  was_member() { [ "$(sql "SELECT @@GLOBAL.gtid_executed LIKE '%0d433c54-c444-8cb8-9a84-eb50b4a9aacd:%'")" = 1 ]; }
  if ! was_member; then
    # Known here and not written down in the binary log: a transaction of its own would keep the server out of the group.
    mysql <<SQL || fail "could not create the group's account"
SET GLOBAL super_read_only = OFF; SET GLOBAL read_only = OFF;
SET SESSION sql_log_bin = 0;
CREATE USER IF NOT EXISTS 'meshbench_group'@'10.99.0.%' IDENTIFIED BY '$password';
ALTER USER 'meshbench_group'@'10.99.0.%' IDENTIFIED BY '$password';
GRANT REPLICATION SLAVE, CONNECTION_ADMIN, BACKUP_ADMIN, GROUP_REPLICATION_STREAM ON *.* TO 'meshbench_group'@'10.99.0.%';
GRANT SELECT ON performance_schema.replication_group_members TO 'meshbench_group'@'10.99.0.%';
SET SESSION sql_log_bin = 1;
SQL
    mysql <<SQL || fail "could not set the group's account"
CHANGE REPLICATION SOURCE TO SOURCE_USER = 'meshbench_group', SOURCE_PASSWORD = '$password' FOR CHANNEL 'group_replication_recovery';
SQL
  fi
  # From here on a restarted server goes back by itself, also after a whole state has been copied to it.
  mysql -e "SET PERSIST group_replication_start_on_boot = ON" || fail "could not keep group_replication_start_on_boot"
  login() {
(umask 077; printf '[client]\nuser=meshbench_group\npassword=%s\n' "$password")
  }
  ask() {
    mysql --defaults-extra-file=<(login) --get-server-public-key --connect-timeout=3 -h "$1" -P 3306 -N -B \
      -e "SELECT COUNT(*) FROM performance_schema.replication_group_members WHERE MEMBER_STATE = 'ONLINE'" 2>/dev/null || echo 0
  }
  peer_in_group() {
    for peer in 10.99.0.2 10.99.0.33; do
      if [ -n "$peer" ] && [ "$(ask "$peer")" != 0 ]; then return 0; fi
    done
    return 1
  }
  if false; then
    echo "$(hostname): founding the group" >&2
    found || fail "the first member did not found the group"
    rm -f /var/lib/mysql/meshbench-found-again
  elif [ "$(member)" != RECOVERING ]; then
    mysql -e "START GROUP_REPLICATION" 2>/dev/null || true
  fi
fi
deadline=$((SECONDS + 1800)); tried=$SECONDS
until [ "$(member)" = ONLINE ]; do
  if systemctl is-failed --quiet mysql; then fail "mysql stopped while it was joining the group"; fi
  [ $SECONDS -lt $deadline ] || fail "not ONLINE in the group within 1800 s, but '$(member)'"
  case "$(member)" in RECOVERING) ;; *)
    if answers && [ $((SECONDS - tried)) -ge 5 ]; then tried=$SECONDS; mysql -e "START GROUP_REPLICATION" 2>/dev/null || true; fi ;;
  esac
  sleep 0.3
done
