[ -s /var/lib/mysql/meshbench-role ] || exit 0
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
answers() { mysql --connect-timeout=2 -N -B -e "SELECT 1" >/dev/null 2>&1; }
for _ in $(seq 150); do if answers; then break; fi; sleep 0.2; done
answers || { echo "$(hostname): mysql does not answer" >&2; exit 1; }
if [ "$(cat /var/lib/mysql/meshbench-role)" = primary ]; then
  if [ "$(mysql -N -B -e 'SELECT @@global.read_only')" = 1 ]; then
    if [ -n "$(replica Source_Host)" ]; then echo "$(hostname): was the primary and follows $(replica Source_Host) now; expected either, see /var/lib/mysql/meshbench-role" >&2; exit 1; fi
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
exit 1
