if [ "$(cat /var/lib/meshbench/runs/0123456789ab/exit 2>/dev/null)" != 0 ] && ! systemctl is-active --quiet meshbench-run@0123456789ab.service; then
  systemctl reset-failed meshbench-run@0123456789ab.service 2>/dev/null || true
  systemctl start meshbench-run@0123456789ab.service
fi
