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
replica() { mysql --connect-timeout=2 -E -e "SHOW REPLICA STATUS" 2>/dev/null | sed -n "s/^ *$1: //p" | head -n 1 || true; }
cannot_follow() {
  local io sql
  io=$(replica Last_IO_Errno); sql=$(replica Last_SQL_Errno)
  if [ "${io:-0}" = 1236 ] || [ "${io:-0}" = 13114 ]; then
    echo "$(hostname): can't follow $(replica Source_Host): its transactions have diverged from the primary's, or the primary has no binary log back to its position ($(replica Last_IO_Error)); replace the node, or take its data by hand" >&2
    exit 1
  fi
  if [ "${sql:-0}" != 0 ]; then echo "$(hostname): replication has stopped: $(replica Last_SQL_Error)" >&2; exit 1; fi
}
semi_sync() { mysql --connect-timeout=2 -N -B -e "SELECT VARIABLE_VALUE FROM performance_schema.global_variables WHERE VARIABLE_NAME = 'rpl_semi_sync_source_enabled'" 2>/dev/null; }
writable() {
  if [ -n "$(semi_sync)" ]; then mysql -e "SET GLOBAL rpl_semi_sync_source_enabled = ON"; fi
  mysql -e "SET GLOBAL super_read_only = OFF; SET GLOBAL read_only = OFF"
}
role=$(cat /var/lib/mysql/meshbench-role 2>/dev/null || true)
start() {
  systemctl reset-failed mysql 2>/dev/null || true
  timeout 120 systemctl restart mysql 2>/dev/null || fail "mysql did not start"
  deadline=$((SECONDS + 120))
  until answers; do
    if systemctl is-failed --quiet mysql; then fail "mysql does not start"; fi
    [ $SECONDS -lt $deadline ] || fail "mysql does not answer within 120 s"
    sleep 0.2
  done
  if [ "$role" = primary ]; then writable || fail "the primary could not be made to take writes"; fi
}
login() {
(umask 077; printf '[client]\nuser=meshbench_replica\npassword=%s\n' "$password")
}
ask() { mysql --defaults-extra-file=<(login) --get-server-public-key --connect-timeout=3 -h "$1" -P 3306 -N -B -r -e "$2" 2>/dev/null || true; }
if [ -z "$role" ] || ! answers; then start; fi
if [ "$role" = primary ]; then exit 0; fi
if [ -z "$role" ]; then
  mysql -e "STOP REPLICA; RESET REPLICA ALL" || fail "could not begin to follow 10.99.0.1"
  mysql -e "RESET BINARY LOGS AND GTIDS" 2>/dev/null || mysql -e "RESET MASTER" || fail "could not begin a binary log of its own"
  mysql <<SQL || fail "could not begin to follow 10.99.0.1"
CHANGE REPLICATION SOURCE TO SOURCE_HOST='10.99.0.1', SOURCE_PORT=3306, SOURCE_USER='meshbench_replica', SOURCE_PASSWORD='$password', SOURCE_AUTO_POSITION=1, GET_SOURCE_PUBLIC_KEY=1, SOURCE_CONNECT_RETRY=1, SOURCE_RETRY_COUNT=0;
START REPLICA;
SQL
  echo replica > /var/lib/mysql/meshbench-role
fi
# What has not been received yet counts as no lag: all that the primary has by now has to be here.
target=$(ask 10.99.0.1 "SELECT REPLACE(@@GLOBAL.gtid_executed, CHAR(10), '')")
deadline=$((SECONDS + 1800))
until [ -z "$target" ] || [ "$(sql "SELECT GTID_SUBSET('$target', @@GLOBAL.gtid_executed)")" = 1 ]; do
  cannot_follow
  [ $SECONDS -lt $deadline ] || fail "has $(sql "SELECT @@GLOBAL.gtid_executed") of the primary's $target after 1800 s; $(replica Last_IO_Error)"
  sleep 0.2
done
deadline=$((SECONDS + 1800))
until [ "$(replica Replica_IO_Running)" = Yes ] && [ "$(replica Replica_SQL_Running)" = Yes ] && [ "$(replica Seconds_Behind_Source)" = 0 ]; do
  cannot_follow
  [ $SECONDS -lt $deadline ] || fail "not caught up with the primary within 1800 s (receiving: $(replica Replica_IO_Running), applying: $(replica Replica_SQL_Running), $(replica Seconds_Behind_Source) s behind; $(replica Last_IO_Error))"
  sleep 0.2
done
