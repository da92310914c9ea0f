conf=/etc/wireguard/wg0.conf
value() { sed -n "s/^$1 *= *//p" "$conf" | head -n 1; }
look() {
  grep -q "^AllowedIPs = $2/32" "$conf" || return 0
  state=silent
  for wait in 1 3; do
    if ping -n -q -M do -c 1 -W $wait -s $(($mtu - 28)) "$2" >/dev/null 2>&1; then state=answers; break; fi
    if ping -n -q -c 1 -W $wait "$2" >/dev/null 2>&1; then state=small; fi
  done
  echo "peer $1 $state"
}
if [ ! -s "$conf" ]; then echo "mesh absent 0 0"
elif ! systemctl is-active --quiet wg-quick@wg0 || ! ip link show up dev wg0 2>/dev/null | grep -q .; then echo "mesh down $(value ListenPort) $(value MTU)"
else
  mtu=$(ip link show dev wg0 | sed -n 's/.* mtu \([0-9]*\) .*/\1/p')
  echo "mesh up $(value ListenPort) $mtu"
  look east-2 10.99.0.2 &
  look west-1 10.99.0.33 &
fi
for unit in haproxy.service meshbench-maxscale.service meshbench-counters.socket meshbench-check.socket mysql; do
  if systemctl is-enabled --quiet "$unit" 2>/dev/null && ! systemctl is-active --quiet "$unit"; then echo "stopped $unit"; fi
done
if [ -s /etc/mysql/mysql.conf.d/zz-meshbench.cnf ]; then
  echo "mysql $(systemctl is-active mysql || true)"
  [ ! -s /var/lib/mysql/meshbench-settings ] || echo mysql-settled
  mysql --connect-timeout=3 -N -B -e "SELECT 'member', COALESCE(MAX(CASE WHEN MEMBER_ID = @@server_uuid THEN NULLIF(MEMBER_STATE, '') END), 'OFFLINE'), IF(SUM(MEMBER_STATE IN ('ONLINE', 'RECOVERING')) * 2 > COUNT(*), 'majority', 'minority') FROM performance_schema.replication_group_members" 2>/dev/null || true
  mysql --connect-timeout=3 -N -B -r -e "SELECT 'gtids', REPLACE(CONCAT_WS(',', NULLIF(@@GLOBAL.gtid_executed, ''), NULLIF((SELECT RECEIVED_TRANSACTION_SET FROM performance_schema.replication_connection_status WHERE CHANNEL_NAME = 'group_replication_applier'), '')), CHAR(10), '')" 2>/dev/null || true
fi
wait
