systemctl stop meshbench-run@0123456789ab.service 2>/dev/null || true
systemctl reset-failed meshbench-run@0123456789ab.service 2>/dev/null || true
rm -f /var/lib/meshbench/runs/0123456789ab/exit /var/lib/meshbench/runs/0123456789ab/result.json /var/lib/meshbench/runs/0123456789ab/log
systemctl start meshbench-run@0123456789ab.service
