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
for unit in haproxy.service meshbench-maxscale.service meshbench-counters.socket meshbench-check.socket; do
  if systemctl is-enabled --quiet "$unit" 2>/dev/null && ! systemctl is-active --quiet "$unit"; then echo "stopped $unit"; fi
done
if [ -s /etc/mysql/mariadb.conf.d/99-meshbench.cnf ]; then
  data=/var/lib/mysql
  echo "server $(systemctl is-active mariadb || true)"
  [ ! -s $data/meshbench-settings ] || echo settled
  mariadb --connect-timeout=3 -N -B -e "SHOW GLOBAL STATUS WHERE Variable_name IN ('wsrep_cluster_status', 'wsrep_local_state_comment', 'wsrep_ready', 'wsrep_cluster_size', 'wsrep_cluster_state_uuid', 'wsrep_incoming_addresses')" 2>/dev/null | sed 's/^/status /' || true
  sed -n 's/^\(uuid\|seqno\|safe_to_bootstrap\): */grastate \1 /p' $data/grastate.dat 2>/dev/null || true
  sed -n 's/^\(my_uuid\|member\): *\([^ ]*\).*/gvwstate \1 \2/p' $data/gvwstate.dat 2>/dev/null || true
fi
wait
