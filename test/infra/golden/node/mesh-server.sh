systemctl stop meshbench-iperf.service 2>/dev/null || true
systemctl reset-failed meshbench-iperf.service 2>/dev/null || true
systemd-run --quiet --collect --unit=meshbench-iperf --property=RuntimeMaxSec=120 iperf3 -s -B 10.99.0.1
for _ in $(seq 50); do ss -Hltn "src 10.99.0.1:5201" | grep -q . && break; sleep 0.1; done
