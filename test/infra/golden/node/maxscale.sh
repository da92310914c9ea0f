read -r monitor_password
read -r service_password
fail() { echo "$(hostname): $*" >&2; exit 1; }
changed=0
# A proxy of another kind that served before would hold the port.
systemctl disable --quiet --now haproxy.service 2>/dev/null || true
conf=$(cat <<'END_OF_FILE'
[maxscale]
threads=auto
skip_name_resolve=true
admin_host=127.0.0.1
admin_port=8989
admin_auth=false
admin_gui=false
load_persisted_configs=false
persist_runtime_changes=false

[east-1]
type=server
address=10.99.0.1
port=3306

[east-2]
type=server
address=10.99.0.2
port=3306

[west-1]
type=server
address=10.99.0.33
port=3306

[monitor]
type=monitor
module=galeramon
servers=east-1,east-2,west-1
user=maxscale_monitor
password=@monitor-password@
monitor_interval=2000ms
disable_master_failback=true

[splitter]
type=service
router=readwritesplit
cluster=monitor
user=maxscale_service
password=@service-password@

[listener]
type=listener
service=splitter
protocol=MariaDBProtocol
address=10.99.0.14
port=4006
END_OF_FILE
)
conf=${conf//@monitor-password@/"$monitor_password"}
conf=${conf//@service-password@/"$service_password"}
umask_was=$(umask); umask 077; printf '%s\n' "$conf" > /etc/meshbench-maxscale.cnf.new; umask "$umask_was"
chown root:maxscale /etc/meshbench-maxscale.cnf.new; chmod 0640 /etc/meshbench-maxscale.cnf.new
install -d -m 0755 -o maxscale -g maxscale /run/maxscale
/usr/local/lib/meshbench/maxscale --config-check --log=stdout --user=maxscale --config=/etc/meshbench-maxscale.cnf.new >/tmp/meshbench-maxscale-check.log 2>&1 || {
  grep -iE 'error|alert' /tmp/meshbench-maxscale-check.log | head -n 5 >&2
  fail "MaxScale refuses its configuration"
}
rm -f /tmp/meshbench-maxscale-check.log
if cmp -s /etc/meshbench-maxscale.cnf.new /etc/meshbench-maxscale.cnf; then rm -f /etc/meshbench-maxscale.cnf.new; else mv -f /etc/meshbench-maxscale.cnf.new /etc/meshbench-maxscale.cnf; changed=1; fi
install -d -m 0755 "$(dirname '/etc/systemd/system/meshbench-maxscale.service')"
umask_was=$(umask); umask 077; cat > '/etc/systemd/system/meshbench-maxscale.service'.new <<'END_OF_FILE'
[Unit]
Description=MaxScale in front of the database of this mesh
After=network.target wg-quick@wg0.service
Wants=wg-quick@wg0.service

[Service]
Type=exec
User=maxscale
Group=maxscale
RuntimeDirectory=maxscale
ExecStart=/usr/local/lib/meshbench/maxscale --nodaemon --log=stdout --config=/etc/meshbench-maxscale.cnf
Restart=on-failure
LimitNOFILE=65535
TimeoutStopSec=10

[Install]
WantedBy=multi-user.target
END_OF_FILE
umask "$umask_was"; chmod 0644 '/etc/systemd/system/meshbench-maxscale.service'.new
if cmp -s '/etc/systemd/system/meshbench-maxscale.service'.new '/etc/systemd/system/meshbench-maxscale.service'; then rm -f '/etc/systemd/system/meshbench-maxscale.service'.new; else mv -f '/etc/systemd/system/meshbench-maxscale.service'.new '/etc/systemd/system/meshbench-maxscale.service'; changed=1; fi
serving=$changed; changed=0
install -d -m 0755 "$(dirname '/usr/local/lib/meshbench/proxy-counters')"
umask_was=$(umask); umask 077; cat > '/usr/local/lib/meshbench/proxy-counters'.new <<'END_OF_FILE'
#!/bin/bash
if [ "${1:-}" != --plain ]; then
  # To the empty line after the headers: closing on unread bytes would reset the connection under the answer.
  while read -r -t 2 line && [ -n "${line%$''}" ]; do :; done
fi
code="200 OK"
body=$(curl -fsS --max-time 3 http://127.0.0.1:8989/v1/services/splitter 2>/dev/null | sed -nE '
  s/^ *("(queries|route_master|route_slave|route_all|rw_transactions|ro_transactions|replayed_transactions)": [0-9]+),?$/\1/p
  /"server_query_statistics": \[$/,/^ *\]/ {
    /^ *"id": /{ s/^ *"id": "(.*)",?$/\1/; h }
    /^ *"(total|read|write)": [0-9]+,?$/{ G; s/^ *"(.*)": ([0-9]+),?\n(.*)$/"\3.\1": \2/p }
  }' | paste -sd,)
if [ -n "$body" ]; then body="{$body}"; else code="503 Service Unavailable"; fi
if [ "${1:-}" = --plain ]; then [ -n "$body" ] && printf '%s\n' "$body"; exit; fi
printf 'HTTP/1.0 %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s' "$code" "${#body}" "$body"
END_OF_FILE
umask "$umask_was"; chmod 0755 '/usr/local/lib/meshbench/proxy-counters'.new
if cmp -s '/usr/local/lib/meshbench/proxy-counters'.new '/usr/local/lib/meshbench/proxy-counters'; then rm -f '/usr/local/lib/meshbench/proxy-counters'.new; else mv -f '/usr/local/lib/meshbench/proxy-counters'.new '/usr/local/lib/meshbench/proxy-counters'; changed=1; fi
install -d -m 0755 "$(dirname '/etc/systemd/system/meshbench-counters.socket')"
umask_was=$(umask); umask 077; cat > '/etc/systemd/system/meshbench-counters.socket'.new <<'END_OF_FILE'
[Unit]
Description=The proxy's routing counters, for the load engine

[Socket]
ListenStream=10.99.0.14:4009
FreeBind=yes
Accept=yes
MaxConnections=8

[Install]
WantedBy=sockets.target
END_OF_FILE
umask "$umask_was"; chmod 0644 '/etc/systemd/system/meshbench-counters.socket'.new
if cmp -s '/etc/systemd/system/meshbench-counters.socket'.new '/etc/systemd/system/meshbench-counters.socket'; then rm -f '/etc/systemd/system/meshbench-counters.socket'.new; else mv -f '/etc/systemd/system/meshbench-counters.socket'.new '/etc/systemd/system/meshbench-counters.socket'; changed=1; fi
install -d -m 0755 "$(dirname '/etc/systemd/system/meshbench-counters@.service')"
umask_was=$(umask); umask 077; cat > '/etc/systemd/system/meshbench-counters@.service'.new <<'END_OF_FILE'
[Unit]
Description=One reading of the proxy's routing counters
CollectMode=inactive-or-failed

[Service]
ExecStart=-/usr/local/lib/meshbench/proxy-counters
StandardInput=socket
StandardError=null
RuntimeMaxSec=10
LogLevelMax=warning
END_OF_FILE
umask "$umask_was"; chmod 0644 '/etc/systemd/system/meshbench-counters@.service'.new
if cmp -s '/etc/systemd/system/meshbench-counters@.service'.new '/etc/systemd/system/meshbench-counters@.service'; then rm -f '/etc/systemd/system/meshbench-counters@.service'.new; else mv -f '/etc/systemd/system/meshbench-counters@.service'.new '/etc/systemd/system/meshbench-counters@.service'; changed=1; fi
systemctl daemon-reload
systemctl enable --quiet meshbench-maxscale.service meshbench-counters.socket
[ "$changed" = 0 ] || systemctl stop --quiet meshbench-counters.socket 2>/dev/null || true
systemctl start meshbench-counters.socket
# What is running may be another build than the one that the launcher now starts.
build=$(sha256sum < /usr/local/lib/meshbench/maxscale | cut -c1-64)
[ "$(cat /var/lib/maxscale/meshbench-build 2>/dev/null)" = "$build" ] || serving=1
if [ "$serving" = 1 ] || ! systemctl is-active --quiet meshbench-maxscale.service; then systemctl restart meshbench-maxscale.service; echo "$build" > /var/lib/maxscale/meshbench-build; fi
states() { curl -fsS --max-time 3 http://127.0.0.1:8989/v1/servers 2>/dev/null | sed -nE 's/^ *"state": "(.*)",?$/\1/p' || true; }
count() { grep -cE "$1" <<<"$seen" || true; }
port() { timeout 2 bash -c "</dev/tcp/10.99.0.14/4006" 2>/dev/null; }
deadline=$((SECONDS + 60))
until seen=$(states); [ "$(count '^Master, Synced, Running$')" = 1 ] && [ "$(count '^Slave, Synced, Running$')" = 2 ] && port; do
  if systemctl is-failed --quiet meshbench-maxscale.service || [ $SECONDS -ge $deadline ]; then
    journalctl -u meshbench-maxscale.service -n 10 --no-pager -o cat >&2 || true
    fail "MaxScale does not serve all of 3 servers on 10.99.0.14:4006, it sees: $(tr '\n' ';' <<<"$seen")"
  fi
  sleep 0.2
done
document() { curl -fsS --max-time 5 "http://127.0.0.1:8989/v1/$1" | tr -d '\n'; }
printf '{"maxscale":%s,"servers":%s,"monitor":%s,"service":%s}\n' \
  "$(document maxscale)" "$(document servers)" "$(document monitors/monitor)" "$(document services/splitter)"
