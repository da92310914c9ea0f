systemctl reset-failed mariadb 2>/dev/null || true
systemctl start --no-block mariadb
