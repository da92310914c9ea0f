limit=5; if mariadb-admin --connect-timeout=2 ping >/dev/null 2>&1; then limit=120; fi
timeout $limit systemctl stop mariadb 2>/dev/null || systemctl kill --signal=KILL mariadb 2>/dev/null || true
for _ in $(seq 50); do systemctl is-active --quiet mariadb || break; sleep 0.1; done
systemctl reset-failed mariadb 2>/dev/null || true
