state=$(systemctl is-active meshbench-run@0123456789ab.service || true)
echo "$state $(cat /var/lib/meshbench/runs/0123456789ab/exit 2>/dev/null || echo -)"
tail -c +4097 '/var/lib/meshbench/runs/0123456789ab/log' 2>/dev/null | head -c 65536 || true
