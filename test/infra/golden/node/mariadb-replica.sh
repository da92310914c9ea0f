read -r password
status() { mariadb --connect-timeout=2 -N -B -e "SHOW GLOBAL STATUS LIKE '$1'" 2>/dev/null | cut -f2 || true; }
last_words() {
  local id; id=$(systemctl show --property=InvocationID --value "$1" 2>/dev/null || true)
  if [ -n "$id" ]; then journalctl "_SYSTEMD_INVOCATION_ID=$id" + "INVOCATION_ID=$id" -n "$2" --no-pager -o cat 2>/dev/null || true
  else journalctl -u "$1" -n "$2" --no-pager -o cat 2>/dev/null || true; fi
}
answers() { mariadb --connect-timeout=2 -N -B -e "SELECT 1" >/dev/null 2>&1; }
# The sentence first, with the server's own reason: it is what a summary shows.
fail() {
  why=$(last_words mariadb 60 | sed -n 's/^.*\[ERROR\] //p' | grep -v Aborting | tail -n 1 || true)
  echo "$(hostname): $*${why:+: $why}" >&2
  last_words mariadb 15 >&2
  exit 1
}
role=$(cat /var/lib/mysql/meshbench-role 2>/dev/null || true)
writable() { mariadb -e "SET GLOBAL read_only = OFF"; }
start() {
  systemctl reset-failed mariadb 2>/dev/null || true
  timeout 120 systemctl restart mariadb 2>/dev/null || fail "mariadb did not start"
  deadline=$((SECONDS + 120))
  until answers; do [ $SECONDS -lt $deadline ] || fail "mariadb does not answer within 120 s"; sleep 0.2; done
  if [ "$role" = primary ]; then writable; fi
}
slave() { mariadb --connect-timeout=2 -e "SHOW SLAVE STATUS\G" 2>/dev/null | sed -n "s/^ *$1: //p" | head -n 1; }
cannot_follow() {
  local io sql
  io=$(slave Last_IO_Errno); sql=$(slave Last_SQL_Errno)
  if [ "${io:-0}" = 1236 ] || [ "${sql:-0}" = 1950 ]; then
    echo "$(hostname): can't follow $(slave Master_Host): its transactions have diverged from the primary's, or the primary has no binary log back to its position ($(slave Last_IO_Error)$(slave Last_SQL_Error)); replace the node, or take its data by hand" >&2
    exit 1
  fi
  if [ "${sql:-0}" != 0 ]; then echo "$(hostname): replication has stopped: $(slave Last_SQL_Error)" >&2; exit 1; fi
}
if [ -z "$role" ] || ! answers; then start; fi
if [ "$role" = primary ]; then exit 0; fi
if [ -z "$role" ]; then
  # What the package wrote for itself is no part of what the nodes share.
  mariadb <<SQL || fail "could not begin to follow 10.99.0.1"
STOP SLAVE;
RESET MASTER;
SET GLOBAL gtid_slave_pos = '';
CHANGE MASTER TO MASTER_HOST='10.99.0.1', MASTER_PORT=3306, MASTER_USER='replication', MASTER_PASSWORD='$password', MASTER_USE_GTID=slave_pos, MASTER_CONNECT_RETRY=1;
START SLAVE;
SQL
  echo replica > /var/lib/mysql/meshbench-role
fi
deadline=$((SECONDS + 120))
until [ "$(slave Slave_IO_Running)" = Yes ] && [ "$(slave Slave_SQL_Running)" = Yes ] && [ "$(slave Seconds_Behind_Master)" = 0 ]; do
  cannot_follow
  [ $SECONDS -lt $deadline ] || fail "not caught up with the primary within 120 s (receiving: $(slave Slave_IO_Running), applying: $(slave Slave_SQL_Running), $(slave Seconds_Behind_Master) s behind; $(slave Last_IO_Error))"
  sleep 0.2
done
