[ -s /var/lib/mysql/meshbench-role ] || exit 0
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
answers() { mariadb --connect-timeout=2 -N -B -e "SELECT 1" >/dev/null 2>&1; }
for _ in $(seq 150); do if answers; then break; fi; sleep 0.2; done
answers || { echo "$(hostname): mariadb does not answer" >&2; exit 1; }
if [ "$(cat /var/lib/mysql/meshbench-role)" = primary ]; then
  if [ "$(mariadb -N -B -e 'SELECT @@global.read_only')" = 1 ]; then
    if [ -n "$(slave Master_Host)" ]; then echo "$(hostname): was the primary and follows $(slave Master_Host) now; expected either, see /var/lib/mysql/meshbench-role" >&2; exit 1; fi
    mariadb -e "SET GLOBAL read_only = OFF"
    echo "$(hostname): was the primary before it was restarted, it takes writes again"
  fi
  exit 0
fi
if [ "$(slave Slave_IO_Running)" != No ] && [ "$(slave Slave_SQL_Running)" = Yes ]; then exit 0; fi
cannot_follow
echo "$(hostname): replication was stopped, starting it"
mariadb -e "START SLAVE"
for _ in $(seq 100); do
  if [ "$(slave Slave_IO_Running)" = Yes ] && [ "$(slave Slave_SQL_Running)" = Yes ]; then exit 0; fi
  cannot_follow
  sleep 0.2
done
echo "$(hostname): replication does not start: $(slave Last_IO_Error)$(slave Last_SQL_Error)" >&2
exit 1
