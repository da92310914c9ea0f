missing=$(for package in haproxy socat; do dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed || echo "$package"; done | paste -sd ' ')
if [ -n "$missing" ]; then
  echo "installing $missing" >&2
  packages() {
    (
      log=$(mktemp /tmp/meshbench-apt.XXXXXX); trap 'rm -f "$log"' EXIT
      export DEBIAN_FRONTEND=noninteractive LC_ALL=C
      flock -w 900 9 || { echo "$(hostname): another step has been working with packages for over 900 s" >&2; exit 1; }
      deadline=$((SECONDS + 900)); told=0; mended=0
      until "$@" >"$log" 2>&1 9>&-; do
        if [ $SECONDS -lt $deadline ] && grep -qE 'Could not get lock|Unable to (lock|acquire)|is another process using it|(is|was) locked by another process' "$log"; then
          [ $told = 1 ] || echo "$(hostname): waiting for $(sed -nE 's/.*held by process ([0-9]+ \([^)]*\)).*/process \1/p' "$log" | head -n 1 | grep . || echo "somebody else's package work")" >&2
          told=1; sleep 2
        elif [ $mended = 0 ] && grep -qE 'dpkg was interrupted|dpkg --configure -a' "$log"; then
          mended=1; dpkg --configure -a >/dev/null 2>&1 9>&- || true
        else tail -n 5 "$log" >&2; exit 1; fi
      done
    ) 9>/run/lock/meshbench-packages
  }
  packages apt-get -q -o DPkg::Lock::Timeout=60 -o Acquire::Retries=3 update && packages apt-get -q -o DPkg::Lock::Timeout=60 -o Acquire::Retries=3 install -y --no-install-recommends $missing || { echo "$(hostname): apt-get could not install $missing" >&2; exit 1; }
fi
# A proxy of another kind that served before would hold the port.
systemctl disable --quiet --now meshbench-maxscale.service meshbench-counters.socket 2>/dev/null || true
changed=0
install -d -m 0755 "$(dirname '/etc/haproxy/meshbench.cfg')"
umask_was=$(umask); umask 077; cat > '/etc/haproxy/meshbench.cfg'.new <<'END_OF_FILE'
global
  log /dev/log local0 notice
  user haproxy
  group haproxy
  maxconn 142
  stats socket /run/haproxy/admin.sock mode 660 level admin

defaults
  mode tcp
  log global
  timeout connect 5s
  timeout client 1h
  timeout server 1h
  timeout check 3s
  option clitcpka
  option srvtcpka
  option redispatch
  retries 3

listen writer
  bind 10.99.0.14:4006
  option httpchk GET /primary
  default-server on-marked-down shutdown-sessions
  server east-1 10.99.0.1:3306 check port 9200 inter 2s fastinter 500ms downinter 1s fall 2 rise 1
  server east-2 10.99.0.2:3306 check port 9200 inter 2s fastinter 500ms downinter 1s fall 2 rise 1
  server west-1 10.99.0.33:3306 check port 9200 inter 2s fastinter 500ms downinter 1s fall 2 rise 1

listen readers
  bind 10.99.0.14:4008
  balance leastconn
  option httpchk GET /replica
  default-server on-marked-down shutdown-sessions
  server east-1 10.99.0.1:3306 check port 9200 inter 2s fastinter 500ms downinter 1s fall 2 rise 1
  server east-2 10.99.0.2:3306 check port 9200 inter 2s fastinter 500ms downinter 1s fall 2 rise 1
  server west-1 10.99.0.33:3306 check port 9200 inter 2s fastinter 500ms downinter 1s fall 2 rise 1
  server east-1-fallback 10.99.0.1:3306 backup track writer/east-1
  server east-2-fallback 10.99.0.2:3306 backup track writer/east-2
  server west-1-fallback 10.99.0.33:3306 backup track writer/west-1
END_OF_FILE
umask "$umask_was"; chmod 0644 '/etc/haproxy/meshbench.cfg'.new
if cmp -s '/etc/haproxy/meshbench.cfg'.new '/etc/haproxy/meshbench.cfg'; then rm -f '/etc/haproxy/meshbench.cfg'.new; else mv -f '/etc/haproxy/meshbench.cfg'.new '/etc/haproxy/meshbench.cfg'; changed=1; fi
haproxy -c -q -f /etc/haproxy/meshbench.cfg || { echo "$(hostname): haproxy refuses its configuration" >&2; exit 1; }
install -d -m 0755 "$(dirname '/etc/systemd/system/haproxy.service.d/10-meshbench.conf')"
umask_was=$(umask); umask 077; cat > '/etc/systemd/system/haproxy.service.d/10-meshbench.conf'.new <<'END_OF_FILE'
[Unit]
After=wg-quick@wg0.service
Wants=wg-quick@wg0.service

[Service]
Environment=CONFIG=/etc/haproxy/meshbench.cfg
END_OF_FILE
umask "$umask_was"; chmod 0644 '/etc/systemd/system/haproxy.service.d/10-meshbench.conf'.new
if cmp -s '/etc/systemd/system/haproxy.service.d/10-meshbench.conf'.new '/etc/systemd/system/haproxy.service.d/10-meshbench.conf'; then rm -f '/etc/systemd/system/haproxy.service.d/10-meshbench.conf'.new; else mv -f '/etc/systemd/system/haproxy.service.d/10-meshbench.conf'.new '/etc/systemd/system/haproxy.service.d/10-meshbench.conf'; changed=1; fi
systemctl daemon-reload
systemctl enable --quiet haproxy
if [ "$changed" = 1 ] || ! systemctl is-active --quiet haproxy; then systemctl restart haproxy; fi
# A running process may still be on Debian's own file, from before the drop-in.
stat() { echo "show stat" | socat -t 2 stdio /run/haproxy/admin.sock 2>/dev/null | awk -F, '($1 == "writer" || $1 == "readers") && $2 !~ /^(FRONTEND|BACKEND|.*-fallback)$/ && $18 ~ /^UP/ { print $2, $18, $1 }'; }
deadline=$((SECONDS + 60))
until [ "$(stat | grep -c ' UP')" = 3 ]; do
  [ $SECONDS -lt $deadline ] || { echo "$(hostname): haproxy sees not all of 3 servers in service: $(stat | tr '\n' ';')" >&2; exit 1; }
  sleep 0.2
done
printf '{"version":"%s","servers":[%s]}\n' "$(haproxy -v | sed -n '1s/.*version \([^ ]*\).*/\1/p')" \
  "$(stat | sed 's/\([^ ]*\) \(.*\)/{"name":"\1","state":"\2"}/' | paste -sd,)"
