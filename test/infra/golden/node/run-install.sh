read -r password
install -d -m 0700 /etc/meshbench
(umask 077; printf '%s\n' "$password" > /etc/meshbench/database-password.new; mv -f /etc/meshbench/database-password.new /etc/meshbench/database-password)
install -d -m 0755 /var/lib/meshbench/runs/0123456789ab
cat > /var/lib/meshbench/runs/0123456789ab/spec.new
if [ -e /var/lib/meshbench/runs/0123456789ab/spec.json ]; then rm /var/lib/meshbench/runs/0123456789ab/spec.new
else sed -i "s/@run-id@/$(date -u +%Y%m%dT%H%M%SZ)-012345/" /var/lib/meshbench/runs/0123456789ab/spec.new; mv /var/lib/meshbench/runs/0123456789ab/spec.new /var/lib/meshbench/runs/0123456789ab/spec.json; fi
install -d -m 0755 "$(dirname '/var/lib/meshbench/runs/0123456789ab/command')"
umask_was=$(umask); umask 077; cat > '/var/lib/meshbench/runs/0123456789ab/command'.new <<'END_OF_FILE'
cd /var/lib/meshbench/runs/0123456789ab
rm -f exit
/opt/meshbench/node-1 /opt/meshbench/load-1.mjs bench --spec spec.json --out result.json --status status.json
code=$?
echo $code > exit
exit $code
END_OF_FILE
umask "$umask_was"; chmod 0644 '/var/lib/meshbench/runs/0123456789ab/command'.new
if cmp -s '/var/lib/meshbench/runs/0123456789ab/command'.new '/var/lib/meshbench/runs/0123456789ab/command'; then rm -f '/var/lib/meshbench/runs/0123456789ab/command'.new; else mv -f '/var/lib/meshbench/runs/0123456789ab/command'.new '/var/lib/meshbench/runs/0123456789ab/command'; changed=1; fi
install -d -m 0755 "$(dirname '/etc/systemd/system/meshbench-run@.service')"
umask_was=$(umask); umask 077; cat > '/etc/systemd/system/meshbench-run@.service'.new <<'END_OF_FILE'
[Unit]
Description=meshbench run %i

[Service]
Type=exec
ExecStart=/bin/bash /var/lib/meshbench/runs/%i/command
StandardOutput=null
StandardError=append:/var/lib/meshbench/runs/%i/log
LimitNOFILE=65536
TimeoutStopSec=60
END_OF_FILE
umask "$umask_was"; chmod 0644 '/etc/systemd/system/meshbench-run@.service'.new
if cmp -s '/etc/systemd/system/meshbench-run@.service'.new '/etc/systemd/system/meshbench-run@.service'; then rm -f '/etc/systemd/system/meshbench-run@.service'.new; else mv -f '/etc/systemd/system/meshbench-run@.service'.new '/etc/systemd/system/meshbench-run@.service'; changed=1; fi
systemctl daemon-reload
