changed=0
install -d -m 0755 "$(dirname '/usr/local/lib/meshbench/in-service')"
umask_was=$(umask); umask 077; cat > '/usr/local/lib/meshbench/in-service'.new <<'END_OF_FILE'
#!/bin/bash
# One request on stdin, one answer on stdout; started by systemd for each connection.
# The request is read to its end: what is left unread when the connection closes would reset it, and the answer with it.
IFS= read -r -t 2 request
while IFS= read -r -t 2 line && [ -n "${line%$'\r'}" ]; do :; done
set -- $request
role=
case $(mysql --connect-timeout=2 -N -B -e "SELECT @@global.read_only" 2>/dev/null) in
  0) role=primary ;;
  1)
    status=$(mysql --connect-timeout=2 -E -e "SHOW REPLICA STATUS" 2>/dev/null)
    if grep -q "Replica_SQL_Running: Yes" <<<"$status" && ! grep -q "Replica_IO_Running: No" <<<"$status"; then role=replica; fi
    ;;
esac
case ${2:-/} in
  /primary|/replica) wanted=${2#/} ;;
  *) wanted=${role:-either} ;;
esac
if [ "$role" = "$wanted" ]; then code="200 OK"; else code="503 Service Unavailable"; fi
body="${role:-not in service}"
printf 'HTTP/1.0 %s\r\nContent-Type: text/plain\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s' "$code" "${#body}" "$body"
END_OF_FILE
umask "$umask_was"; chmod 0755 '/usr/local/lib/meshbench/in-service'.new
if cmp -s '/usr/local/lib/meshbench/in-service'.new '/usr/local/lib/meshbench/in-service'; then rm -f '/usr/local/lib/meshbench/in-service'.new; else mv -f '/usr/local/lib/meshbench/in-service'.new '/usr/local/lib/meshbench/in-service'; changed=1; fi
install -d -m 0755 "$(dirname '/etc/systemd/system/meshbench-check.socket')"
umask_was=$(umask); umask 077; cat > '/etc/systemd/system/meshbench-check.socket'.new <<'END_OF_FILE'
[Unit]
Description=Whether this node's database is in service, for health checks

[Socket]
ListenStream=10.99.0.1:9200
FreeBind=yes
Accept=yes
MaxConnections=16

[Install]
WantedBy=sockets.target
END_OF_FILE
umask "$umask_was"; chmod 0644 '/etc/systemd/system/meshbench-check.socket'.new
if cmp -s '/etc/systemd/system/meshbench-check.socket'.new '/etc/systemd/system/meshbench-check.socket'; then rm -f '/etc/systemd/system/meshbench-check.socket'.new; else mv -f '/etc/systemd/system/meshbench-check.socket'.new '/etc/systemd/system/meshbench-check.socket'; changed=1; fi
install -d -m 0755 "$(dirname '/etc/systemd/system/meshbench-check@.service')"
umask_was=$(umask); umask 077; cat > '/etc/systemd/system/meshbench-check@.service'.new <<'END_OF_FILE'
[Unit]
Description=One answer to a health check
CollectMode=inactive-or-failed

[Service]
ExecStart=-/usr/local/lib/meshbench/in-service
StandardInput=socket
StandardError=null
TimeoutStartSec=5
RuntimeMaxSec=5
LogLevelMax=warning
END_OF_FILE
umask "$umask_was"; chmod 0644 '/etc/systemd/system/meshbench-check@.service'.new
if cmp -s '/etc/systemd/system/meshbench-check@.service'.new '/etc/systemd/system/meshbench-check@.service'; then rm -f '/etc/systemd/system/meshbench-check@.service'.new; else mv -f '/etc/systemd/system/meshbench-check@.service'.new '/etc/systemd/system/meshbench-check@.service'; changed=1; fi
if [ "$changed" = 1 ]; then systemctl daemon-reload; systemctl restart meshbench-check.socket; fi
systemctl enable --quiet --now meshbench-check.socket
