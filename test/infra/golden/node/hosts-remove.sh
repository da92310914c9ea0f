systemctl stop meshbench-hosts-0123456789ab.service 2>/dev/null || true
rm -rf /run/meshbench-hosts
