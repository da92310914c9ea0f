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
file=/var/lib/mysql/meshbench-settings
if [ -s "$file" ] && [ "$(cat "$file")" != abcdef0123456789 ]; then
  echo "$(hostname): restarting with changed settings" >&2
  start
fi
echo abcdef0123456789 > "$file"
sha256sum /etc/mysql/mysql.conf.d/zz-meshbench.cnf | cut -c1-64 > /var/lib/mysql/meshbench-conf
if [ "$role" = replica ]; then
  deadline=$((SECONDS + 1800))
  until [ "$(replica Replica_IO_Running)" = Yes ] && [ "$(replica Replica_SQL_Running)" = Yes ] && [ "$(replica Seconds_Behind_Source)" = 0 ]; do
    cannot_follow
    [ $SECONDS -lt $deadline ] || fail "not caught up with the primary within 1800 s (receiving: $(replica Replica_IO_Running), applying: $(replica Replica_SQL_Running), $(replica Seconds_Behind_Source) s behind; $(replica Last_IO_Error))"
    sleep 0.2
  done
fi
